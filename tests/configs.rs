//! The profiles that are shipped can be run as they are.

use std::path::{Path, PathBuf};

use cephmark::plan::Plan;
use cephmark::profile::Profile;

fn configs() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
    let mut files: Vec<PathBuf> = directory.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn every_profile_is_planned_without_a_warning() {
    let files = configs();
    assert!(files.len() >= 5, "{files:?}");
    for file in files {
        let plan = Plan::new(&Profile::load(&file, &[]).unwrap()).unwrap();
        assert_eq!(plan.warnings, [], "{}", file.display());
        assert_eq!(Some(plan.name.as_str()), file.file_stem().and_then(|stem| stem.to_str()));
    }
}

#[test]
fn every_profile_says_what_it_answers() {
    for file in configs() {
        let text = std::fs::read_to_string(&file).unwrap();
        let comment = text.lines().take_while(|line| line.starts_with('#'));
        let first: String = comment.take_while(|line| *line != "#").collect();
        assert!(first.contains('?'), "{}: {first}", file.display());
    }
}

#[test]
fn every_profile_is_listed_in_the_readme() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    for file in configs() {
        let name = format!("`{}`", file.file_name().unwrap().display());
        assert!(readme.contains(&name), "{name}");
    }
}

#[test]
fn quickstart_and_smoke_take_less_than_a_minute() {
    for name in ["quickstart", "smoke"] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("configs/{name}.yaml"));
        let plan = Plan::new(&Profile::load(&file, &[]).unwrap()).unwrap();
        assert!(plan.needs.duration.as_secs() <= 50, "{name}: {:?}", plan.needs.duration);
        assert!(plan.needs.fill.get() <= 512 << 20, "{name}: {}", plan.needs.fill);
    }
}
