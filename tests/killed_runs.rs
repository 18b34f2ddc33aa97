//! `cephmark clean`: what a killed run leaves is found and removed, and nothing else is ever touched.

use nix::sys::signal::Signal;

use crate::support::ceph::TestPool;
use crate::support::cluster::shared;
use crate::support::site::{End, PROFILE, Site};

/// `cephmark clean` of one pool.
#[track_caller]
fn clean(site: &Site<'_>, pool: &TestPool<'_>, arguments: &[&str]) -> End {
    let end = site.cephmark(&[&["clean", "--pool", &pool.name], arguments].concat());
    end.success();
    end
}

#[test]
fn what_a_killed_run_leaves_is_removed_and_what_others_made_stays() {
    let pool = TestPool::new(shared());
    let site = Site::in_pool(shared(), &pool.name);
    let rbd = format!("targets.t.rbd={{pool: {}, namespace: NAMESPACE, size: 8MiB, images: 2}}", pool.name);
    let mut running = site.start(PROFILE, &[&rbd, "run.runtime=60s"]);
    running.wait_for("measuring");
    running.signal(Signal::SIGKILL);
    assert_eq!(running.end().status.code(), None);
    let left = site.images();
    assert_eq!(left.len(), 2, "{left:?}");
    // Of others: a name that is much like ours, and our kind of name on an image that another run is said to have made.
    let theirs = ["cephmark-prod", "cephmark-0123456789abcdef-0-0"];
    for name in theirs {
        site.create(name, 1);
    }
    site.rbd(&["image-meta", "set", &site.image(theirs[1]), "cephmark_run", "somebody"]);

    // For 30 s the cluster takes the run for alive.
    let alive = clean(&site, &pool, &["--yes"]);
    for image in &left {
        assert!(alive.success().contains(&format!("{} (in use by client.", site.image(image))), "{alive:#?}");
    }
    site.forget_clients();
    let listed = clean(&site, &pool, &[]);
    let lines: Vec<&str> = listed.success().lines().filter(|line| line.contains(&site.namespace)).collect();
    assert_eq!(lines, left.iter().map(|image| site.image(image)).collect::<Vec<_>>());
    assert!(
        listed.stdout.ends_with("nothing was removed; add --yes to remove what is listed\n"),
        "{listed:#?}"
    );
    assert_eq!(site.images().len(), 4);
    let removed = clean(&site, &pool, &["--yes"]);
    for image in &left {
        assert!(removed.success().contains(&format!("removed {}\n", site.image(image))), "{removed:#?}");
    }
    let mut stays = site.images();
    stays.sort();
    assert_eq!(stays, ["cephmark-0123456789abcdef-0-0", "cephmark-prod"]);
    for name in theirs {
        site.rbd(&["rm", "--no-progress", &site.image(name)]);
    }
    site.assert_no_images();
}

#[test]
fn the_images_of_a_run_that_goes_on_are_left_alone_also_those_that_no_trial_uses_just_now() {
    let pool = TestPool::new(shared());
    let site = Site::in_pool(shared(), &pool.name);
    let rbd = format!("{{pool: {}, namespace: NAMESPACE, size: 8MiB, images: 2}}", pool.name);
    let [first, second] = ["t", "u"].map(|target| format!("targets.{target}={{rbd: {rbd}}}"));
    let mut running = site.start(PROFILE, &[&first, &second, "run.order=sequential", "run.runtime=60s"]);
    running.wait_for("t w: measuring");
    let images = site.images();
    assert_eq!(images.len(), 4, "{images:?}");
    let end = clean(&site, &pool, &["--yes"]);
    for image in &images {
        let line = format!("{} (in use by client.", site.image(image));
        assert!(end.stdout.contains(&line), "{line}: {end:#?}");
    }
    running.signal(Signal::SIGINT);
    running.end().fails(130, &["interrupted"]);
    site.assert_clean();
}

#[test]
fn a_cluster_without_leftovers_says_so() {
    let pool = TestPool::new(shared());
    let site = Site::in_pool(shared(), &pool.name);
    assert_eq!(clean(&site, &pool, &["--yes"]).stdout, "nothing was left behind\n");
    site.cephmark(&["clean", "--pool", "nowhere"])
        .refused(3, &["can't open the pool nowhere", "`ceph osd pool ls`"]);
}
