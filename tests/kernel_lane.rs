//! The lanes of io_uring and Linux AIO on real files and block devices.
#![expect(unsafe_code, reason = "installs a seccomp filter")]

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use cephmark::lane::{Aio, Buffer, Done, EngineError, Io, KernelFile, KernelLane, Lane, Op, Queue, Uring};
use nix::errno::Errno;

use crate::lane_contract::Contract;
use crate::support::kernel_site::KernelSite;
use crate::support::loop_device::{LoopDevice, Mounted, tool};
use crate::support::site::Running;

const MIB: u64 = 1 << 20;
const BLOCK: u32 = 4096;
const LONG: Duration = Duration::from_secs(60);

/// Opens what exists; `flags` beside reading and writing.
fn open(path: &Path, flags: i32) -> KernelFile {
    let file = File::options().read(true).write(true).custom_flags(flags).open(path).expect("it exists");
    let name = path.display().to_string();
    KernelFile { file, is_device: name.starts_with("/dev/loop"), name }
}

/// A file of 4 MiB, gone when dropped, on a file system that takes direct I/O.
fn file() -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a file");
    file.as_file().set_len(4 * MIB).expect("room");
    file
}

fn lane<Q: Queue>(files: impl IntoIterator<Item = KernelFile>, depth: u32) -> KernelLane<Q> {
    KernelLane::new(files.into_iter().collect::<Arc<[_]>>(), depth).expect("the kernel allows it")
}

fn io(op: Op, offset: u64, len: u32, fill: u8) -> Io {
    let mut buffer = Buffer::zeroed(len as usize);
    buffer.fill(fill);
    Io { slot: 0, image: 0, op, offset, len, buffer }
}

fn once<Q: Queue>(lane: &mut KernelLane<Q>, io: Io) -> Done {
    let (mut back, until) = (None, Instant::now() + LONG);
    lane.push(Box::new(io));
    while back.is_none() {
        assert!(Instant::now() < until, "it did not come back");
        lane.reap(until, |done| back = Some(done)).expect("reap");
    }
    back.expect("just checked")
}

/// The whole contract, on direct and on buffered files, and on a device.
fn check_contract<Q: Queue>() {
    let (first, second, device) = (file(), file(), LoopDevice::in_memory(4 * MIB));
    let stuck = StuckDevice::new();
    for flags in [0, libc::O_DIRECT] {
        let files = || [open(first.path(), flags), open(second.path(), flags)];
        Contract {
            make: &|depth| lane::<Q>(files(), depth),
            images: 2,
            spoil: Some((|io| io.image = 2, Errno::ENODEV)),
            stuck: None,
        }
        .check();
        Contract {
            make: &|depth| lane::<Q>([open(device.path(), flags)], depth),
            images: 1,
            spoil: Some((|io| io.offset = u64::MAX / 2 - 4095, Errno::EINVAL)),
            stuck: Some(&|| lane::<Q>([open(stuck.device.path(), libc::O_DIRECT)], 16)),
        }
        .check();
    }
}

#[test]
fn io_uring_keeps_the_contract() {
    check_contract::<Uring>();
}

#[test]
fn linux_aio_keeps_the_contract() {
    check_contract::<Aio>();
}

/// A device whose I/O hangs until it is dropped: it lies on a file system that is frozen.
struct StuckDevice {
    device: LoopDevice,
    below: Mounted,
}

impl StuckDevice {
    fn new() -> Self {
        let below = Mounted::ext4(64 * MIB);
        let device = LoopDevice::in_directory(below.path(), 4 * MIB);
        tool("fsfreeze", &["--freeze", &below.path().display().to_string()]);
        Self { device, below }
    }
}

impl Drop for StuckDevice {
    fn drop(&mut self) {
        tool("fsfreeze", &["--unfreeze", &self.below.path().display().to_string()]);
        // What lanes left behind ends now, into memory that must still be there.
        thread::sleep(Duration::from_millis(100));
    }
}

/// Data of every kind of I/O, read back past the lane.
fn check_data<Q: Queue>(path: &Path) {
    let mut lane = lane::<Q>([open(path, libc::O_DIRECT)], 1);
    for (op, offset) in
        [(Op::Write, 0), (Op::Write, 4096), (Op::Write, MIB), (Op::DataSync, 0), (Op::Sync, 0)]
    {
        assert_eq!(once(&mut lane, io(op, offset, BLOCK, 0xa5)).result, Ok(BLOCK), "{op:?}");
    }
    let found = |offset| {
        let mut bytes = [0xff; 4096];
        open(path, 0).file.read_exact_at(&mut bytes, offset).expect("it can be read");
        assert!(bytes.iter().all(|byte| *byte == bytes[0]));
        bytes[0]
    };
    assert_eq!((found(0), found(4096), found(8192), found(MIB)), (0xa5, 0xa5, 0, 0xa5));
    let done = once(&mut lane, io(Op::Read, MIB, BLOCK, 0));
    assert!(done.result == Ok(BLOCK) && done.io.buffer.iter().all(|byte| *byte == 0xa5));
    assert_eq!(once(&mut lane, io(Op::WriteZeroes, 4096, BLOCK, 1)).result, Ok(BLOCK));
    assert_eq!(once(&mut lane, io(Op::Trim, MIB, BLOCK, 1)).result, Ok(BLOCK));
    assert_eq!((found(0), found(4096), found(MIB)), (0xa5, 0, 0));
}

#[test]
fn what_is_written_trimmed_and_zeroed_is_so_on_files_and_on_devices() {
    let device = LoopDevice::in_memory(4 * MIB);
    check_data::<Uring>(file().path());
    check_data::<Aio>(file().path());
    check_data::<Uring>(device.path());
    tool("blkdiscard", &["--zeroout", &device.path().display().to_string()]);
    check_data::<Aio>(device.path());
}

fn check_short<Q: Queue>() {
    let file = file();
    file.as_file().set_len(MIB + 5000).expect("room");
    for flags in [0, libc::O_DIRECT] {
        let mut lane = lane::<Q>([open(file.path(), flags)], 1);
        let mut read = |offset, len| once(&mut lane, io(Op::Read, offset, len, 0)).result;
        assert_eq!(read(MIB - 4096, 8192), Ok(8192));
        assert_eq!(read(MIB, 8192), Ok(5000), "up to the end of the file");
        assert_eq!(read(2 * MIB, 8192), Ok(0), "nothing past its end");
    }
}

#[test]
fn a_read_over_the_end_of_a_file_is_short() {
    check_short::<Uring>();
    check_short::<Aio>();
}

#[test]
fn the_rest_of_a_read_that_came_in_part_is_asked_for_again() {
    // A pipe gives what is in it, however much is asked for.
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    let feeder = thread::spawn(move || {
        for fill in [1, 2, 3] {
            writer.write_all(&[fill; 1500]).expect("it is read");
            thread::sleep(Duration::from_millis(20));
        }
    });
    let file = File::from(OwnedFd::from(reader));
    let mut lane = lane::<Uring>([KernelFile { file, name: "a pipe".into(), is_device: false }], 1);
    let done = once(&mut lane, io(Op::Read, 0, 4500, 0));
    assert_eq!(done.result, Ok(4500));
    assert_eq!([0, 1500, 3000, 4499].map(|at| done.io.buffer[at]), [1, 2, 3, 3]);
    feeder.join().expect("it fed all");
}

fn check_errors<Q: Queue>() {
    let (file, device) = (file(), LoopDevice::in_memory(MIB));
    let read_only = File::open(file.path()).expect("it exists");
    let read_only = KernelFile { file: read_only, name: "read-only".into(), is_device: false };
    let mut lane = lane::<Q>([read_only, open(device.path(), libc::O_DIRECT)], 1);
    assert_eq!(once(&mut lane, io(Op::Write, 0, BLOCK, 1)).result, Err(Errno::EBADF));
    assert_eq!(once(&mut lane, io(Op::Trim, 0, BLOCK, 1)).result, Err(Errno::EBADF));
    let unaligned = Io { image: 1, ..io(Op::Read, 1, BLOCK, 1) };
    assert_eq!(once(&mut lane, unaligned).result, Err(Errno::EINVAL));
    let mut too_long = io(Op::Read, 0, BLOCK, 1);
    too_long.len += 1;
    assert_eq!(once(&mut lane, too_long).result, Err(Errno::EINVAL), "more than the buffer holds");
    assert_eq!(once(&mut lane, io(Op::Read, 0, BLOCK, 1)).result, Ok(BLOCK), "the lane goes on");
}

#[test]
fn what_the_kernel_refuses_comes_back_with_its_errno() {
    check_errors::<Uring>();
    check_errors::<Aio>();
}

#[test]
fn each_io_uses_its_own_buffer_also_where_another_lay_before() {
    let device = LoopDevice::in_memory(4 * MIB);
    let mut lane = lane::<Uring>([open(device.path(), libc::O_DIRECT)], 1);
    // So large that a new one has new memory, at the address of the one before.
    let len = MIB as u32;
    for fill in 1..=20 {
        assert_eq!(once(&mut lane, io(Op::Write, 0, len, fill)).result, Ok(len));
        let done = once(&mut lane, io(Op::Read, 0, len, 0));
        assert!(done.io.buffer.iter().all(|byte| *byte == fill), "{fill} is not what was read");
    }
}

fn check_release<Q: Queue>() {
    let device = LoopDevice::in_memory(4 * MIB);
    for _ in 0..20 {
        let mut lane = lane::<Q>([open(device.path(), libc::O_DIRECT | libc::O_EXCL)], 1);
        assert_eq!(once(&mut lane, io(Op::Write, 0, BLOCK, 1)).result, Ok(BLOCK));
    }
}

#[test]
fn a_device_is_free_again_once_its_lane_is_dropped() {
    check_release::<Uring>();
    check_release::<Aio>();
}

/// Lets io_uring_setup fail on this thread from now on, as a container's filter does.
fn forbid_io_uring(errno: u32) {
    let step = |code: u32, jf: u8, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf, k };
    let mut steps = [
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, libc::SYS_io_uring_setup as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ERRNO | errno),
        step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: 4, filter: steps.as_mut_ptr() };
    nix::sys::prctl::set_no_new_privs().expect("always allowed");
    // SAFETY: the program's four steps live for the call, which copies them.
    let set = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) };
    assert_eq!(set, 0, "{}", Errno::last());
}

#[test]
fn where_io_uring_is_refused_the_error_says_by_what() {
    /// A thread of its own, for a filter stays.
    fn behind_a_filter(errno: u32) -> EngineError {
        thread::spawn(move || {
            forbid_io_uring(errno);
            assert_eq!(Aio::check(), Ok(()), "Linux AIO is not forbidden");
            Uring::check().expect_err("a filter forbids it")
        })
        .join()
        .expect("no panic")
    }
    let error = behind_a_filter(libc::EPERM as u32).to_string();
    assert!(error.starts_with("io_uring is refused here (EPERM: "), "{error}");
    assert!(error.contains("seccomp") && error.ends_with("or set `engine: linux_aio`"), "{error}");
    let error = behind_a_filter(libc::ENOSYS as u32).to_string();
    assert!(error.contains("Linux 5.11") && error.contains("seccomp"), "{error}");
}

#[test]
fn a_run_where_io_uring_is_refused_says_so_and_takes_linux_aio_if_told_to() {
    // What is started on a thread with a filter has it too.
    let behind_a_filter = || {
        forbid_io_uring(libc::EPERM as u32);
        let site = KernelSite::new();
        let (target, reads) = ("{file: {path: io, size: 1MiB}", "{r: {rw: randread}}");
        let words = ["io_uring is refused here (EPERM: ", "seccomp profile; or set `engine: linux_aio`"];
        site.run(&format!("{target}}}"), reads, &[]).refused(3, &words);
        Running::start(site.command("check", &format!("{target}}}"), reads, &[])).end().fails(3, &words);
        site.run(&format!("{target}, engine: linux_aio}}"), reads, &[]).success();
        assert_eq!(site.result().trials[0].conditions["engine"], "linux_aio");
    };
    thread::spawn(behind_a_filter).join().expect("no panic");
}

#[test]
fn where_little_memory_may_be_locked_the_kernel_looks_buffers_up() {
    let site = KernelSite::new();
    let run = site.command(
        "run",
        "{file: {path: io, size: 8MiB}}",
        "{w: {rw: randrw, bs: 256k, iodepth: 16, verify: crc32c}}",
        &[],
    );
    let mut limited = Command::new("setpriv");
    limited.args(["--bounding-set=-ipc_lock", "prlimit", "--memlock=1048576"]).arg(run.get_program());
    limited.args(run.get_args()).current_dir(site.path("")).stdin(Stdio::null());
    limited.stdout(Stdio::piped()).stderr(Stdio::piped());
    Running::start(limited).end().success();
    assert_eq!(site.result().trials[0].checks[""].verified.as_ref().map(|checks| checks.mismatches), Some(0));
}
