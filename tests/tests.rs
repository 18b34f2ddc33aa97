//! The integration tests of cephmark, a module for each behaviour.

mod ceph;
mod fixture;
mod lab;
mod librbd_lane;
mod support;
mod results_doc;
