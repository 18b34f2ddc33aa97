//! The safe layer against a real cluster.

use std::time::{Duration, Instant};

use cephmark::ceph::{Config, Error, Layout, Role, Source, View, within};
use cephmark::exit::Exit;
use cephmark::units::Bytes;
use nix::errno::Errno;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::ceph::{self, POOL, Scratch, tool};
use crate::support::cluster::shared;

const MIB: u64 = 1 << 20;

#[test]
fn a_connection_tells_what_the_cluster_is() {
    let cluster = ceph::connect(shared(), Role::Admin);
    assert_eq!(cluster.fsid().expect("an id"), tool(shared(), "ceph", &["fsid"]).trim());
    let version = cluster.version().expect("a version");
    assert!(tool(shared(), "ceph", &["version"]).contains(&format!("{} (", version.number)), "{version:?}");
    let osds = cluster.osds().expect("a count");
    assert!(osds.up >= 1 && osds.up <= osds.total, "{osds:?}");
    assert!(cluster.addresses().expect("addresses").contains("127.0.0.1"));
    assert!(cluster.instance_id() > 0);
    cluster.close().expect("nothing holds it up");
}

#[test]
fn options_are_set_before_and_read_after_connecting() {
    let mut config = ceph::config(shared(), Role::Load);
    config.set("rbd_cache_size", "64M").expect("a known option");
    assert_eq!(config.get("rbd_cache_size").expect("a known option"), "67108864");
    let cluster = config.connect().expect("a lab cluster that runs");
    assert_eq!(cluster.option("rbd_cache_size").expect("a known option"), "67108864");
    assert_eq!(
        cluster.option("rados_osd_op_timeout").expect("a known option"),
        "0",
        "a real client waits for ever"
    );
    let diff = cluster.admin_socket().expect("a load connection has one").config_diff().expect("a reply");
    assert_eq!(diff["diff"]["rbd_cache_size"]["override"], json!("67108864"));
}

#[test]
fn a_mistaken_option_is_refused_before_anything_happens() {
    let mut config = ceph::config(shared(), Role::Load);
    let error = config.set("rbd_cach_size", "1").expect_err("a typo");
    assert_eq!(error.to_string(), "there is no Ceph option `rbd_cach_size`; did you mean `rbd_cache_size`?");
    assert_eq!(error.exit(), Exit::Usage);
    let error = config.set("rbd_cache", "banana").expect_err("no boolean");
    assert!(error.to_string().starts_with("Ceph refuses `banana` as a value of rbd_cache;"), "{error}");
}

#[test]
fn a_missing_conf_file_says_which_and_what_to_do() {
    let conf = std::path::Path::new("/nowhere/ceph.conf");
    let error = Config::new(Some(conf), "client.admin", Duration::from_secs(1), Role::Admin)
        .expect_err("no such file");
    assert_eq!(
        error.to_string(),
        "can't read /nowhere/ceph.conf: no such file or directory (ENOENT); set `cluster.conf` in the profile, or \
         CEPH_CONF, to the cluster's ceph.conf"
    );
}

#[test]
fn a_user_without_a_key_or_unknown_to_the_cluster_is_told_apart() {
    let connect = |user: &str, keyring: &str| {
        let mut config = Config::new(Some(&shared().conf()), user, Duration::from_secs(10), Role::Admin)?;
        config.set("keyring", keyring)?;
        config.connect()
    };
    let error = connect("client.nobody", "/nowhere/keyring").expect_err("no key").to_string();
    assert!(error.contains("no key of client.nobody found; it is looked for in /nowhere/keyring"), "{error}");
    let directory = tempfile::tempdir().expect("a directory");
    let keyring = directory.path().join("keyring");
    let key = "AQCi5bxnkqPTBhAAQ2OZpHTqMEmqxeEBG9q5pA==";
    std::fs::write(&keyring, format!("[client.nobody]\n\tkey = {key}\n")).expect("a keyring");
    let error =
        connect("client.nobody", keyring.to_str().expect("text")).expect_err("an unknown user").to_string();
    assert!(error.contains("the cluster has no client.nobody with this key"), "{error}");
    assert!(!error.contains(key), "keys stay secret");
}

#[test]
fn monitors_out_of_reach_are_given_up_within_the_timeout() {
    let mut config = Config::new(Some(&shared().conf()), "client.admin", Duration::from_secs(2), Role::Admin)
        .expect("a conf");
    // A port that nobody listens on.
    config.set("mon_host", "127.0.0.1:1").expect("a known option");
    let begin = Instant::now();
    let error = config.connect().expect_err("nobody is there");
    assert_eq!(error.errno(), Some(Errno::ETIMEDOUT));
    assert!(error.to_string().contains("no answer from the monitors 127.0.0.1:1"), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(7), "{:?}", begin.elapsed());
}

#[test]
fn connecting_can_be_interrupted() {
    let mut config =
        Config::new(Some(&shared().conf()), "client.admin", Duration::from_secs(30), Role::Admin)
            .expect("a conf");
    config.set("mon_host", "127.0.0.1:1").expect("a known option");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let cancel = CancellationToken::new();
    cancel.cancel();
    let result =
        runtime.block_on(within("connecting", Duration::from_secs(60), &cancel, move || config.connect()));
    assert_eq!(result.expect_err("interrupted").exit(), Exit::Interrupted);
}

#[test]
fn a_monitor_says_why_it_refuses_a_command() {
    let cluster = ceph::connect(shared(), Role::Admin);
    let error = cluster.mon_command(&json!({"prefix": "osd pool get", "pool": "nowhere", "var": "size"}));
    let error = error.expect_err("there is no such pool");
    assert_eq!(error.errno(), Some(Errno::ENOENT));
    assert_eq!(error.to_string(), "the monitor refused `osd pool get`: unrecognized pool 'nowhere' (ENOENT)");
}

#[test]
fn a_user_whose_capabilities_are_too_small_is_told_so() {
    let scratch = Scratch::of_size(&ceph::pool(shared(), Role::Admin), MIB);
    let directory = tempfile::tempdir().expect("a directory");
    let keyring = directory.path().join("keyring");
    let key = tool(shared(), "ceph", &["auth", "get-or-create", "client.weak", "mon", "allow r"]);
    std::fs::write(&keyring, key).expect("a keyring");
    let mut config =
        Config::new(Some(&shared().conf()), "weak", Duration::from_secs(10), Role::Admin).expect("a conf");
    config.set("keyring", keyring.to_str().expect("text")).expect("a known option");
    let pool = config.connect().expect("a known user").pool(POOL, None).expect("the monitors may be asked");
    let error = pool.image(&scratch.name, View::Read).expect_err("the OSDs may not");
    assert_eq!(error.errno(), Some(Errno::EPERM));
    assert!(error.to_string().contains("the user's capabilities do not allow it"), "{error}");
}

#[test]
fn a_pool_that_is_missing_is_named() {
    let error =
        ceph::connect(shared(), Role::Admin).pool("nowhere", None).expect_err("there is no such pool");
    assert_eq!(
        error.to_string(),
        "can't open the pool nowhere: no such file or directory (ENOENT); there is no such pool; see `ceph osd pool ls`"
    );
}

#[test]
fn usage_knows_quotas_and_copies() {
    let pool = ceph::pool(shared(), Role::Admin);
    tool(shared(), "ceph", &["osd", "pool", "set-quota", POOL, "max_bytes", "1099511627776"]);
    let usage = pool.usage().expect("usage");
    tool(shared(), "ceph", &["osd", "pool", "set-quota", POOL, "max_bytes", "0"]);
    assert_eq!(usage.quota, Some(Bytes(1 << 40)));
    assert!(usage.available.get() > 0 && usage.amplification >= 1.0, "{usage:?}");
    assert_eq!(pool.usage().expect("usage").quota, None);
    let cluster = pool.cluster().usage().expect("usage");
    assert!(cluster.used < cluster.total && cluster.nearfull_ratio < cluster.full_ratio, "{cluster:?}");
}

#[test]
fn an_image_is_created_as_asked() {
    let pool = ceph::pool(shared(), Role::Admin);
    let layout = Layout {
        size: Bytes(64 * MIB),
        object_size: Some(Bytes(MIB)),
        features: Some("layering,striping,exclusive-lock".parse().expect("known features")),
        stripe_unit: Some(Bytes(65536)),
        stripe_count: Some(4),
        data_pool: None,
    };
    let image = Scratch::new(&pool, &layout);
    assert!(pool.images().expect("a list").contains(&image.name));
    let info = image.open(View::Read).info().expect("info");
    assert_eq!((info.size, info.object_size, info.objects), (Bytes(64 * MIB), Bytes(MIB), 64));
    assert_eq!((info.stripe_unit, info.stripe_count), (Bytes(65536), 4));
    assert_eq!(info.features, "layering,striping,exclusive-lock".parse().expect("known features"));
    assert_eq!(info.data_pool, pool.id());
    let listed = tool(shared(), "rbd", &["info", &format!("{POOL}/{}", image.name)]);
    assert!(listed.contains("stripe unit: 64 KiB") && listed.contains(&info.id), "{listed}");
}

#[test]
fn a_layout_that_makes_no_sense_is_refused() {
    let pool = ceph::pool(shared(), Role::Admin);
    let layout = Layout { size: Bytes(MIB), object_size: Some(Bytes(3 * MIB)), ..Layout::default() };
    let error = pool.create_image("never", &layout).expect_err("no power of two");
    assert_eq!(error.errno(), Some(Errno::EINVAL));
    let scratch = Scratch::of_size(&pool, MIB);
    let again = pool.create_image(&scratch.name, &Layout { size: Bytes(MIB), ..Layout::default() });
    assert_eq!(again.expect_err("the name is taken").errno(), Some(Errno::EEXIST));
}

#[test]
fn a_missing_image_and_a_missing_namespace_are_told_apart() {
    let cluster = ceph::connect(shared(), Role::Admin);
    let pool = cluster.pool(POOL, None).expect("the pool");
    let error = pool.image("nothing", View::Read).expect_err("no image").to_string();
    assert!(
        error.starts_with("can't open the image rbd/nothing: ") && error.contains("no such image"),
        "{error}"
    );
    let pool = cluster.pool(POOL, Some("nowhere")).expect("a namespace is a name only");
    let error = pool.image("nothing", View::Read).expect_err("no namespace").to_string();
    assert!(error.contains("image rbd/nowhere/nothing") && error.contains("no such namespace"), "{error}");
}

#[test]
fn metadata_is_kept_and_options_in_it_show_as_the_images_own() {
    let pool = ceph::pool(shared(), Role::Admin);
    let scratch = Scratch::of_size(&pool, MIB);
    let image = scratch.open(View::Write);
    assert_eq!(image.metadata("cephmark.run").expect("an answer"), None);
    image.set_metadata("cephmark.run", "abc").expect("a writable image");
    image.set_metadata("conf_rbd_cache_size", "1048576").expect("an option of images");
    assert_eq!(image.metadata("cephmark.run").expect("an answer").as_deref(), Some("abc"));
    let long = "x".repeat(10_000);
    image.set_metadata("long", &long).expect("a long value");
    assert_eq!(image.metadata("long").expect("an answer"), Some(long.clone()));
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let expected = [pair("cephmark.run", "abc"), pair("conf_rbd_cache_size", "1048576"), pair("long", &long)];
    assert_eq!(image.all_metadata().expect("a list"), expected);
    let options = image.options().expect("a list");
    let option = |name: &str| options.iter().find(|option| option.name == name).expect("an option of images");
    assert_eq!(
        (option("rbd_cache_size").value.as_str(), option("rbd_cache_size").source),
        ("1048576", Source::Image)
    );
    assert_eq!(option("rbd_cache_max_dirty").source, Source::Client);
    image.remove_metadata("long").expect("a writable image");
    image.remove_metadata("long").expect("twice is no error");
    assert_eq!(image.metadata("long").expect("an answer"), None);
    let refused = image.set_metadata("conf_rbd_cache_size", "banana").expect_err("no size");
    assert_eq!(refused.errno(), Some(Errno::EINVAL));
}

#[test]
fn a_writer_is_seen_by_others_and_a_reader_is_not() {
    let pool = ceph::pool(shared(), Role::Admin);
    let scratch = Scratch::of_size(&pool, MIB);
    let reader = scratch.open(View::Read);
    assert_eq!(reader.watchers().expect("a list"), []);
    assert_eq!(reader.lock_owners().expect("a list"), []);
    let other = ceph::pool(shared(), Role::Admin);
    let writer = other.image(&scratch.name, View::Write).expect("the image");
    let watchers = reader.watchers().expect("a list");
    assert_eq!(
        watchers.iter().map(|watcher| watcher.client).collect::<Vec<_>>(),
        [other.cluster().instance_id()]
    );
    writer.close().expect("nothing holds it up");
    assert_eq!(reader.watchers().expect("a list"), []);
}

#[test]
fn snapshots_are_listed_and_opened_to_read() {
    let pool = ceph::pool(shared(), Role::Admin);
    let scratch = Scratch::of_size(&pool, 8 * MIB);
    assert_eq!(scratch.open(View::Read).snapshots().expect("a list"), []);
    let spec = format!("{POOL}/{}@one", scratch.name);
    tool(shared(), "rbd", &["snap", "create", "--no-progress", &spec]);
    let snapshots = scratch.open(View::Read).snapshots().expect("a list");
    assert_eq!(
        snapshots.iter().map(|snap| (snap.name.as_str(), snap.size)).collect::<Vec<_>>(),
        [("one", Bytes(8 * MIB))]
    );
    assert_eq!(scratch.open(View::Snapshot("one")).name(), spec);
    let error = pool.remove_image(&scratch.name).expect_err("it has a snapshot").to_string();
    assert!(error.contains("it has snapshots"), "{error}");
    tool(shared(), "rbd", &["snap", "rm", "--no-progress", &spec]);
    let missing = pool.image(&scratch.name, View::Snapshot("one")).expect_err("it is gone");
    assert_eq!(missing.errno(), Some(Errno::ENOENT));
}

#[test]
fn data_written_by_rbd_bench_shows_as_allocated() {
    let pool = ceph::pool(shared(), Role::Admin);
    let scratch = Scratch::of_size(&pool, 32 * MIB);
    let fast_diff = "fast-diff".parse().expect("a known name");
    assert!(scratch.open(View::Read).info().expect("info").features.contains(fast_diff));
    assert_eq!(scratch.open(View::Read).allocated(true).expect("an answer"), Bytes(0));
    let spec = format!("{POOL}/{}", scratch.name);
    let bench = [
        "bench",
        "--io-type",
        "write",
        "--io-size",
        "1M",
        "--io-threads",
        "1",
        "--io-total",
        "6M",
        "--io-pattern",
        "seq",
        &spec,
    ];
    tool(shared(), "rbd", &bench);
    let image = scratch.open(View::Read);
    let ranges = |whole_objects| image.allocated_ranges(whole_objects).expect("an answer");
    assert_eq!(ranges(false), std::slice::from_ref(&(0..6 * MIB)));
    assert_eq!(ranges(true), std::slice::from_ref(&(0..8 * MIB)), "two whole objects");
}

#[test]
fn the_admin_socket_has_the_counters_of_an_open_image() {
    let pool = ceph::pool(shared(), Role::Load);
    let scratch = Scratch::of_size(&pool, MIB);
    let image = scratch.open(View::Write);
    image.flush().expect("an idle image");
    image.invalidate_cache().expect("an idle image");
    let id = image.info().expect("info").id;
    let socket = pool.cluster().admin_socket().expect("a load connection has one");
    let counters = socket.perf_dump().expect("a reply");
    let logger = format!("librbd-{id}-{POOL}-{}", scratch.name);
    assert!(counters[&logger]["flush"].as_u64() >= Some(1), "{logger}: {}", counters[&logger]);
    assert!(socket.requests_in_flight().expect("a reply")["ops"].is_array());
    assert!(socket.config_show().expect("a reply")["rbd_cache"].is_string());
    let unknown = socket.command(&json!({"prefix": "no such command"}));
    assert!(matches!(unknown, Err(Error::Reply { .. })), "{unknown:?}");
    assert!(ceph::connect(shared(), Role::Admin).admin_socket().is_none());
}

#[test]
fn two_connections_of_one_process_have_a_socket_each() {
    let (one, two) = (ceph::connect(shared(), Role::Load), ceph::connect(shared(), Role::Load));
    let number = |cluster: &cephmark::ceph::Cluster| {
        let socket = cluster.admin_socket().expect("a load connection has one");
        socket.config_show().expect("a reply")["admin_socket"].clone()
    };
    assert_ne!(number(&one), number(&two));
}
