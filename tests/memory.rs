//! Memory stays flat however long a run is.

use crate::support::cephmark;

/// Peak resident memory of a trial on the null target, in bytes.
fn peak(seconds: u32) -> u64 {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let profile = format!(
        "{{version: 1, name: null-load, targets: {{n: {{null: {{}}}}}}, workloads: {{w: {{rw: randrw, iodepth: 32}}}}, \
         run: {{ramp_time: 1s, runtime: {seconds}s, repeats: 1}}}}"
    );
    std::fs::write(directory.path().join("profile.yaml"), profile).expect("a profile");
    let output = cephmark(&["run", "profile.yaml", "--out", "out"]).current_dir(&directory).output();
    let output = output.expect("cephmark runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let result = cephmark::result::ResultFile::load(&directory.path().join("out")).expect("a result");
    result.trials[0].max_rss_bytes
}

#[test]
fn a_long_trial_takes_no_more_memory_than_a_short_one() {
    let (short, long) = std::thread::scope(|scope| {
        let short = scope.spawn(|| peak(5));
        (peak(20), short.join().expect("it ran"))
    });
    // A second adds some hundred bytes to the series; a page cache of the allocator is noise.
    let limit = short + (512 << 10);
    assert!(long <= limit, "{long} bytes in 20 s, {short} in 5 s");
}
