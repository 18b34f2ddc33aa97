//! Ceph options: what is in effect is read back with its source, and what the profile asks for in vain is told.

use cephmark::result::OptionSource;

use crate::support::ceph::{TestPool, tool};
use crate::support::cluster::shared;
use crate::support::site::{PROFILE, Site};

#[test]
fn what_is_in_effect_is_recorded_with_who_set_it() {
    let site = Site::on(shared());
    let pool = TestPool::new(site.lab);
    tool(site.lab, "rbd", &["config", "pool", "set", &pool.name, "rbd_cache_max_dirty", "1048576"]);
    let target = format!(
        "targets.t={{rbd: {{pool: {}, size: 16MiB}}, options: {{rbd_cache_size: 64MiB, rbd_cache_max_dirty: 8MiB}}}}",
        pool.name
    );
    let end = site.run(PROFILE, &[&target]);
    end.success();
    let trial = &site.result().trials[0];
    let option = |name: &str| {
        let option = &trial.effective_options[name];
        (option.value.as_str(), option.source)
    };
    assert_eq!(option("rbd_cache_size"), ("67108864", OptionSource::Client));
    assert_eq!(option("rbd_cache_max_dirty"), ("1048576", OptionSource::Pool));
    assert_eq!(option("rbd_cache_policy"), ("writearound", OptionSource::Default));
    assert_eq!(option("objecter_inflight_ops"), ("1024", OptionSource::Default));
    let problem =
        trial.problems.iter().find(|problem| problem.code == "option_overridden").expect("it is told");
    let remedy = format!("`rbd config pool remove {} rbd_cache_max_dirty` removes it", pool.name);
    assert!(problem.text.contains(&remedy), "{}", problem.text);
}

#[test]
fn a_sweep_over_an_option_that_the_pool_overrides_is_refused_with_the_remedy() {
    let site = Site::on(shared());
    let pool = TestPool::new(site.lab);
    tool(site.lab, "rbd", &["config", "pool", "set", &pool.name, "rbd_cache_size", "1048576"]);
    let sets = [
        &format!(
            "targets.t={{rbd: {{pool: {}, size: 16MiB}}, options: {{rbd_cache_policy: writeback}}}}",
            pool.name
        ),
        "sweep.targets.t.options.rbd_cache_size=[32MiB, 64MiB]",
    ];
    let end = site.run(PROFILE, &sets);
    let remedy = format!("`rbd config pool remove {} rbd_cache_size` removes it", pool.name);
    end.fails(3, &["rbd_cache_size is 1048576", &remedy]);
    assert_eq!(tool(site.lab, "rbd", &["ls", &pool.name]), "");
}

#[test]
fn an_option_of_an_existing_image_is_told_with_its_remedy() {
    let site = Site::on(shared());
    let image = site.create("theirs", 8);
    site.rbd(&["config", "image", "set", &image, "rbd_cache", "false"]);
    let target =
        "targets.t={rbd: {image: rbd/NAMESPACE/theirs}, destroys_data: true, options: {rbd_cache: true}}";
    site.run(PROFILE, &[target]).success();
    let trial = &site.result().trials[0];
    assert_eq!(trial.effective_options["rbd_cache"].source, OptionSource::Image);
    let text =
        &trial.problems.iter().find(|problem| problem.code == "option_overridden").expect("it is told").text;
    assert!(text.contains(&format!("`rbd config image remove {image} rbd_cache` removes it")), "{text}");
    site.rbd(&["config", "image", "remove", &image, "rbd_cache"]);
    site.rbd(&["rm", "--no-progress", &image]);
}

#[test]
fn every_image_is_read_back_and_one_that_differs_is_named() {
    let site = Site::on(shared());
    let sets = [
        "targets.t={rbd: {namespace: NAMESPACE, size: 8MiB, images: 2}, options: {rbd_cache_size: 64MiB}}",
        "run.repeats=2",
        "run.runtime=3s",
    ];
    let mut running = site.start(PROFILE, &sets);
    running.wait_for("measuring");
    let second = site.image(&site.images()[1]);
    site.rbd(&["config", "image", "set", &second, "rbd_cache_size", "1048576"]);
    running.end().success();
    let trials = site.result().trials;
    let texts = |trial: usize, code: &str| -> Vec<String> {
        let found = trials[trial].problems.iter().filter(|problem| problem.code == code);
        found.map(|problem| problem.text.clone()).collect()
    };
    assert_eq!(texts(0, "options_differ"), Vec::<String>::new());
    let differs = format!("{second} has rbd_cache_size=1048576, unlike the arm's first image");
    assert_eq!(texts(1, "options_differ"), [differs]);
    let [overridden] = &texts(1, "option_overridden")[..] else { panic!("{:?}", trials[1].problems) };
    assert!(
        overridden.contains(&format!("`rbd config image remove {second} rbd_cache_size`")),
        "{overridden}"
    );
    assert_eq!(trials[1].effective_options["rbd_cache_size"].value, "67108864", "of the first");
    site.assert_clean();
}
