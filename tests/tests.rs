//! The integration tests of cephmark, a module for each behaviour.

mod ceph;
mod fixture;
mod lab;
mod librbd_lane;
mod results_doc;
mod support;
