//! Words that users of fio and of YAML 1.1 expect in a job, and what to write instead.

/// What to do about a key that no job of a profile has.
pub(super) fn advice(key: &str) -> Option<&'static str> {
    let advice = match key {
        "blocksize" => "write `bs`",
        "readwrite" => "write `rw`",
        "ioengine" => "the target says which client does the I/O",
        "pool" | "rbdname" | "clientname" | "filename" | "directory" => {
            "the target says what the I/O goes to"
        }
        "direct" => "`direct` is a key of the target",
        "time_based" => "a trial always lasts for `runtime`, unless `io_size` or `number_ios` ends it",
        "norandommap" => "this is what random orders do; `random_distribution: once` keeps fio's map",
        "group_reporting" => "the threads of a job are always reported together",
        "percentile_list" | "lat_percentiles" => "the result holds the whole histogram",
        "loops" => "write `run.repeats`",
        "stonewall" | "wait_for" => {
            "workloads run one after another, the jobs of one workload at the same time"
        }
        "thread" | "invalidate" | "refill_buffers" | "randrepeat" => "leave it out",
        "rate" => "write `rate_iops`",
        "sync" => "write `fsync: 1` or `fdatasync: 1`",
        "percentage_random" => "write two jobs, one sequential and one random",
        "<<" => "YAML 1.2 merges no maps; repeat the keys",
        _ => return None,
    };
    Some(advice)
}
