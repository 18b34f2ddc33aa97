//! Tests of the kernel's clients, in a guest of their own: most hosts that build lack these modules, and none should have
//! its kernel's clients at the mercy of a test.
#![cfg(target_arch = "x86_64")]

mod archive;
mod guest;
mod modules;
mod packages;
mod root;
#[expect(dead_code, reason = "shared with the other tests, which need more of it")]
#[path = "../support/mod.rs"]
mod support;

mod krbd;
mod nbd;
mod places;
mod runs;
