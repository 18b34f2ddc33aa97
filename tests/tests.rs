//! The integration tests of cephmark, a module for each behaviour.

mod ceph;
mod command_line;
mod configs;
mod delay_thread;
mod drive;
mod fixture;
mod lab;
mod lane_contract;
mod librbd_lane;
mod memory_lane;
mod plan_needs;
mod plan_rules;
mod plan_sweeps;
mod planning;
mod profile_contract;
mod profile_docs;
mod profile_errors;
mod profile_fuzz;
mod profile_sets;
mod results_doc;
mod stage;
mod support;
mod tidy;
mod truth;
mod verification;
mod virtual_time;
