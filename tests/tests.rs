//! The integration tests of cephmark, a module for each behaviour.

mod ceph;
mod fixture;
mod lab;
mod librbd_lane;
mod results_doc;
mod support;
mod delay_thread;
mod stage;
mod truth;
mod virtual_time;
mod configs;
mod plan_needs;
mod plan_rules;
mod plan_sweeps;
mod planning;
mod profile_docs;
mod profile_errors;
mod profile_sets;
