//! Bindings to Ceph's C clients.
