//! Exit code 5: the cluster does not answer any more. The run ends within its deadlines all the same, and says what it
//! had to leave behind.

use std::time::{Duration, Instant};

use cephmark::result::Status;

use crate::support::faults::{StoppedMonitor, StoppedOsd, hurt};
use crate::support::site::{PROFILE, Site};

const STALL: Duration = Duration::from_secs(3);
const TIMEOUT: Duration = Duration::from_secs(3);
const LIMITS: [&str; 2] = ["run.stall=3s", "cluster.timeout=3s"];

#[test]
fn io_that_never_ends_is_given_up_and_what_is_left_is_named_and_found_again() {
    let lab = hurt();
    let site = Site::on(&lab);
    let mut running = site.start(PROFILE, &[&LIMITS[..], &["run.runtime=60s"]].concat());
    running.wait_for("measuring");
    let stopped = StoppedOsd::of(&lab);
    let begin = Instant::now();
    let end = running.end();
    let took = begin.elapsed();
    end.fails(5, &["no I/O completed for 3.", "4 in flight", "the cluster is stuck", "the first on osd.0"]);
    assert!(took > STALL && took < STALL + 6 * TIMEOUT, "{took:?}: {end:#?}");
    let [trial] = &site.result().trials[..] else { panic!("one trial was begun") };
    assert_eq!((trial.status, trial.problems[0].code.as_str()), (Status::Failed, "broken"));

    drop(stopped);
    let [image] = &site.images()[..] else { panic!("one image is left behind") };
    let named = format!("{} is left behind", site.image(image));
    assert!(end.stderr.iter().any(|line| line.contains(&named)), "{named}: {end:#?}");
    // The cluster may take the client that died for alive until its watch ends.
    site.forget_clients();
    let removed = site.cephmark(&["clean", "--pool", "rbd", "--yes"]);
    assert!(removed.success().contains(&format!("removed {}", site.image(image))), "{removed:#?}");
    site.assert_clean();
}

#[test]
fn a_cluster_that_is_stuck_while_it_is_looked_at_is_given_up_too() {
    let lab = hurt();
    let site = Site::on(&lab);
    let stopped = StoppedOsd::of(&lab);
    let end = site.run(PROFILE, &LIMITS);
    assert!(end.took < 6 * TIMEOUT, "{end:#?}");
    end.fails(
        end.status.code().filter(|code| [3, 5].contains(code)).expect("3 or 5"),
        &["timed out (ETIMEDOUT); the cluster did not answer in time"],
    );
    drop(stopped);
    site.assert_untouched();
}

#[test]
fn monitors_that_fall_silent_end_the_run_before_the_next_trial() {
    let lab = hurt();
    let site = Site::on(&lab);
    let mut running =
        site.start(PROFILE, &[&LIMITS[..], &["run.repeats=2", "run.retries=0", "run.runtime=4s"]].concat());
    running.wait_for("measuring");
    let stopped = StoppedMonitor::of(&lab);
    let end = running.end();
    drop(stopped);
    end.fails(5, &["the monitors have not answered for", "see that they run and are a quorum"]);
    assert!(end.took < 20 * TIMEOUT, "{end:#?}");
    let trials = site.result().trials;
    let found: Vec<_> = trials.iter().map(|trial| (trial.status, trial.problems[0].code.as_str())).collect();
    assert_eq!(found, [(Status::Invalid, "watch_lost"), (Status::Failed, "broken")]);
}
