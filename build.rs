//! Provenance: the git commit and the date of the build, for the result file and `--version`.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=.git/HEAD");
    println!("cargo:rerun-if-changed=.git/refs");
    println!("cargo:rerun-if-changed=src");
    let commit = output_of("git", &["describe", "--always", "--dirty", "--abbrev=12"]);
    println!("cargo:rustc-env=CEPHMARK_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
    let date = output_of("date", &["-u", "+%Y-%m-%d"]);
    println!("cargo:rustc-env=CEPHMARK_BUILD_DATE={}", date.as_deref().unwrap_or("unknown"));
}

fn output_of(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
