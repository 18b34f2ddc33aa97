//! The integration tests of cephmark, a module for each behaviour.
