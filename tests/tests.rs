//! The integration tests of cephmark, a module for each behaviour.

mod ceph;
mod fixture;
mod librbd_lane;
mod lab;
mod support;
