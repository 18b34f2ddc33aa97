//! Exit code 3: the cluster, or something in it, is not as the run needs it. Nothing is left behind.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::support::ceph::{TestPool, command, tool};
use crate::support::cluster::shared;
use crate::support::faults::{StoppedMonitor, hurt};
use crate::support::site::{PROFILE, Running, Site};

/// A run with these settings is refused for a reason that has these words.
#[track_caller]
fn refused(site: &Site<'_>, sets: &[&str], words: &[&str]) {
    site.run(PROFILE, sets).refused(3, words);
    site.assert_untouched();
}

/// The lab's ceph.conf with these lines for clients, at the site's `ceph.conf`.
fn other_conf(site: &Site<'_>, lines: &str) {
    let conf = fs::read_to_string(site.lab.conf()).expect("the lab's ceph.conf");
    fs::write(site.path("ceph.conf"), format!("{conf}\n[client]\n{lines}\n")).expect("a ceph.conf");
}

const OTHER_CONF: &str = "cluster.conf=ceph.conf";

#[test]
fn a_ceph_conf_that_is_missing() {
    let site = Site::on(shared());
    let words = ["can't read /nowhere/ceph.conf", "set `cluster.conf` in the profile, or CEPH_CONF"];
    refused(&site, &["cluster.conf=/nowhere/ceph.conf"], &words);
}

#[test]
fn a_user_without_a_keyring() {
    let site = Site::on(shared());
    other_conf(&site, "keyring = /nowhere/keyring");
    refused(&site, &[OTHER_CONF], &["no key", "client.admin", "/nowhere/keyring"]);
}

#[test]
fn a_user_that_the_cluster_does_not_know() {
    let site = Site::on(shared());
    let keyring = site.path("keyring");
    fs::write(&keyring, "[client.nobody]\n\tkey = AQCi5bxnkqPTBhAAQ2OZpHTqMEmqxeEBG9q5pA==\n")
        .expect("a keyring");
    other_conf(&site, &format!("keyring = {}", keyring.display()));
    refused(
        &site,
        &[OTHER_CONF, "cluster.user=client.nobody"],
        &["client.nobody", "`ceph auth get client.nobody`"],
    );
}

/// A user with these capabilities, whose keyring the site's `ceph.conf` names.
fn user(site: &Site<'_>, name: &str, capabilities: &[&str]) {
    let arguments = [&["auth", "get-or-create", name], capabilities].concat();
    let keyring = site.path("keyring");
    fs::write(&keyring, tool(site.lab, "ceph", &arguments)).expect("a keyring");
    other_conf(site, &format!("keyring = {}", keyring.display()));
}

#[test]
fn capabilities_that_are_too_small() {
    let site = Site::on(shared());
    user(&site, "client.looker", &["mon", "allow r"]);
    let words = ["operation not permitted (EPERM)", "the user's capabilities do not allow it"];
    refused(&site, &[OTHER_CONF, "cluster.user=client.looker"], &words);
    user(&site, "client.reader", &["mon", "profile rbd", "osd", "profile rbd-read-only"]);
    refused(&site, &[OTHER_CONF, "cluster.user=client.reader"], &words);
}

#[test]
fn pools_namespaces_and_images_that_do_not_exist() {
    let site = Site::on(shared());
    refused(&site, &["targets.t.rbd.pool=nowhere"], &["can't open the pool nowhere", "`ceph osd pool ls`"]);
    refused(
        &site,
        &["targets.t.rbd.data_pool=nowhere"],
        &["can't open the pool nowhere", "`ceph osd pool ls`"],
    );
    let words = ["pool rbd has no namespace nowhere", "`rbd namespace create rbd/nowhere`"];
    refused(&site, &["targets.t.rbd.namespace=nowhere"], &words);
    for (image, words) in [
        ("rbd/NAMESPACE/nothing", "there is no such image or snapshot"),
        ("rbd/nowhere/nothing", "there is no such namespace"),
        ("nowhere/nothing", "there is no such pool"),
    ] {
        let target = format!("targets.t={{rbd: {{image: {image}}}, destroys_data: true}}");
        refused(&site, &[&target], &["can't open the ", words]);
    }
}

#[test]
fn ceph_libraries_that_are_not_installed() {
    let site = Site::on(shared());
    let without = |directory: &str, words: &[&str]| {
        let mut command = site.run_command(PROFILE, &[]);
        command.env("CEPH_LIBRARY_DIR", directory);
        Running::start(command).end().refused(3, words);
        site.assert_untouched();
    };
    without("/nowhere", &["can't load librados.so.2", "install the package librados2"]);
    let directory = site.path("lib");
    fs::create_dir(&directory).expect("a directory");
    symlink(librados(), directory.join("librados.so.2")).expect("a link");
    without(&directory.to_string_lossy(), &["can't load librbd.so.1", "install the package librbd1"]);
}

/// Where the system has librados.
fn librados() -> String {
    let listed =
        std::process::Command::new("/sbin/ldconfig").arg("-p").output().expect("ldconfig runs").stdout;
    let listed = String::from_utf8(listed).expect("text");
    let line = listed.lines().find(|line| line.contains("librados.so.2")).expect("librados is installed");
    line.split_once("=> ").expect("where it is").1.to_owned()
}

#[test]
fn monitors_that_nobody_reaches_are_given_up_in_time() {
    let site = Site::on(shared());
    // A port that nobody listens on.
    other_conf(&site, "mon_host = 127.0.0.1:1");
    monitors_are_given_up(&site);
}

#[test]
fn monitors_that_do_not_answer_are_given_up_in_time() {
    let lab = hurt();
    let site = Site::on(&lab);
    other_conf(&site, "");
    let _stopped = StoppedMonitor::of(&lab);
    monitors_are_given_up(&site);
}

#[track_caller]
fn monitors_are_given_up(site: &Site<'_>) {
    let end = site.run(PROFILE, &[OTHER_CONF, "cluster.timeout=2s"]);
    end.refused(3, &["no answer from the monitors", "check that they run and can be reached"]);
    assert!(end.took < Duration::from_secs(2 + 5), "{:?}", end.took);
    let running = site.start(PROFILE, &[OTHER_CONF, "cluster.timeout=60s"]);
    std::thread::sleep(Duration::from_secs(1));
    running.signal(Signal::SIGINT);
    let end = running.end();
    end.refused(130, &["interrupted"]);
    assert!(end.took < Duration::from_secs(3), "{:?}", end.took);
}

#[test]
fn an_image_that_somebody_else_has_open() {
    let site = Site::on(shared());
    let image = site.create("theirs", 16);
    let mut watch = command(site.lab, "rbd");
    watch.args(["watch", &image]).stdin(std::process::Stdio::piped());
    watch.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let watching = Running::start(watch);
    while !site.rbd(&["status", &image]).contains("watcher=") {
        std::thread::sleep(Duration::from_millis(50));
    }
    let target = "targets.t={rbd: {image: rbd/NAMESPACE/theirs}, destroys_data: true}";
    refused(
        &site,
        &[target],
        &["rbd/", "/theirs is open elsewhere: client.", "stop that client, or name another image"],
    );
    // To read it is no harm.
    site.run(PROFILE, &[target, "workloads.w.rw=randread"]).success();
    drop(watching);
    site.forget_clients();
    tool(site.lab, "rbd", &["rm", "--no-progress", &image]);
}

#[test]
fn an_image_that_somebody_else_has_locked() {
    let site = Site::on(shared());
    let image = site.create("theirs", 16);
    site.rbd(&["lock", "add", &image, "mine"]);
    let target = "targets.t={rbd: {image: rbd/NAMESPACE/theirs}, destroys_data: true}";
    refused(&site, &[target], &["/theirs is locked by client.", "`rbd lock ls`"]);
    let owner = site.rbd(&["lock", "ls", &image]);
    let owner =
        owner.lines().find_map(|line| line.split_whitespace().find(|word| word.starts_with("client.")));
    site.rbd(&["lock", "rm", &image, "mine", owner.expect("the owner of the lock")]);
    site.rbd(&["rm", "--no-progress", &image]);
}

#[test]
fn a_plan_beyond_the_quota_of_its_pool() {
    let site = Site::on(shared());
    let pool = TestPool::new(site.lab);
    tool(site.lab, "ceph", &["osd", "pool", "set-quota", &pool.name, "max_bytes", "8388608"]);
    let words = ["the images need 16MiB, but its quota of 8MiB leaves ", "set-quota"];
    refused(&site, &[&format!("targets.t.rbd={{pool: {}, size: 16MiB}}", pool.name)], &words);
    // As the data pool of an image it counts all the same.
    refused(&site, &[&format!("targets.t.rbd.data_pool={}", pool.name)], &words);
}

#[test]
fn a_plan_beyond_the_clusters_nearfull_line() {
    let site = Site::on(shared());
    let words = ["until the cluster is nearfull (85 % of ", "lower `size` or `images`, or add OSDs"];
    refused(&site, &["targets.t.rbd.size=1TiB"], &words);
    refused(&site, &["targets.t.rbd.size=32MiB", "targets.t.rbd.images=200"], &words);
}
