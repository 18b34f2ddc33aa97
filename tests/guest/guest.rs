//! The machine that tests run cephmark in: Debian's cloud kernel in an emulator, beside a lab, in a network of their own.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, setns};

use super::packages::Packages;
use super::root::{self, ADDRESS, PORT};
use super::support::cluster::KeptLab;

/// The host's address on the wire to the guest, which the lab uses.
const HOST: &str = "10.77.0.1";
/// The image behind the guest's disk `/dev/vda`.
pub(crate) const DISK: &str = "rbd/disk";
/// A boot takes 5 to 10 s on an idle machine.
const BOOT_PATIENCE: Duration = Duration::from_secs(120);
/// Longer than any script takes.
const PATIENCE: Duration = Duration::from_secs(180);

/// A lab and the guest beside it; both end with this process, however that ends.
pub(crate) struct Guest {
    pub(crate) lab: KeptLab,
    files: PathBuf,
}

/// What a script printed, and its code.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) text: String,
    pub(crate) code: i32,
}

/// Runs a test with the guest, on a thread within its network, one test after another: they share a kernel.
pub(crate) fn with_guest(test: impl FnOnce(&Guest) + Send) {
    static GUEST: OnceLock<Mutex<Guest>> = OnceLock::new();
    let guest = GUEST.get_or_init(|| Mutex::new(Guest::boot())).lock();
    let guest: &Guest = &guest.unwrap_or_else(PoisonError::into_inner);
    guest.inside(|| {
        let ended = panic::catch_unwind(AssertUnwindSafe(|| test(guest)));
        ended.unwrap_or_else(|words| {
            guest.reset();
            panic::resume_unwind(words)
        });
    });
}

impl Guest {
    fn boot() -> Self {
        let packages = Packages::get();
        let dir = std::env::temp_dir().join(format!("cephmark-guest-{}", std::process::id()));
        let files = tempfile::tempdir().expect("a directory").keep();
        let archive = files.join("root.cpio");
        root::pack(&packages, &archive).expect("the guest's files");
        // The guest ends with what the lab's command holds, and that with this process.
        let script = format!(
            "rbd create --size 32M {DISK} && {{ {} > {files}/console 2>&1 < /dev/null & echo ready; cat >&2; kill $!; \
             rm -r {files}; }}",
            emulator(&packages, &archive),
            files = files.display(),
        );
        // The shell becomes the lab's keeper, and so keeps the network, which is known by its number.
        let network = format!(
            "ip link set lo up && ip tuntap add dev guest mode tap && ip addr add {HOST}/24 dev guest && \
             ip link set guest up && echo $$ > {}/keeper && exec \"$@\"",
            files.display()
        );
        let mut command = Command::new("unshare");
        command
            .args([
                "--net",
                "sh",
                "-c",
                &network,
                "sh",
                env!("CARGO_BIN_EXE_cephmark"),
                "lab",
                "run",
                "--dir",
            ])
            .arg(&dir)
            .args(["--addr", HOST, "--mds", "--size", "1GiB", "--", "sh", "-c", &script])
            .env_remove("CEPH_CONF")
            .env_remove("CEPH_ARGS");
        let guest = Self { lab: KeptLab::keep(&dir, command), files };
        guest.inside(|| guest.introduce());
        guest
    }

    /// Runs something on a thread within the network of lab and guest; so are programs that it starts.
    fn inside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let entered = || {
            let keeper = fs::read_to_string(self.files.join("keeper")).expect("its number");
            let network = File::open(format!("/proc/{}/ns/net", keeper.trim())).expect("the lab's network");
            setns(network, CloneFlags::CLONE_NEWNET).expect("root may enter it");
            work()
        };
        let ended = thread::scope(|scope| scope.spawn(entered).join());
        ended.unwrap_or_else(|words| panic::resume_unwind(words))
    }

    /// Waits until the guest takes scripts, and tells it of the lab.
    fn introduce(&self) {
        let until = Instant::now() + BOOT_PATIENCE;
        while self.connect(Duration::from_secs(1)).is_err() {
            assert!(Instant::now() < until, "the guest does not boot:\n{}", self.console());
            thread::sleep(Duration::from_millis(100));
        }
        let conf = fs::read_to_string(self.lab.conf()).expect("the lab's ceph.conf");
        let conf = format!("{conf}\n[global]\nkeyring = /etc/ceph/keyring\nrun_dir = /run\n");
        self.write("/etc/ceph/ceph.conf", &conf);
        let keyring = fs::read_to_string(self.lab.dir().join("keyring")).expect("the lab's keyring");
        self.write("/etc/ceph/keyring", &keyring);
    }

    /// Starts a script; what it prints, then a line with its code, can be read from the connection.
    pub(crate) fn start(&self, script: &str) -> TcpStream {
        let mut wire = self.connect(Duration::from_secs(5)).expect("the guest answers");
        wire.write_all(script.as_bytes()).and_then(|()| wire.shutdown(Shutdown::Write)).expect("it listens");
        wire
    }

    /// Runs a script of the guest's shell to its end.
    #[track_caller]
    pub(crate) fn run(&self, script: &str) -> Output {
        let mut text = String::new();
        let read = self.start(script).read_to_string(&mut text);
        read.unwrap_or_else(|error| panic!("{script}: {error}: {text}\n{}", self.console()));
        Output::of(text)
    }

    /// Runs a script that must succeed; what it printed.
    #[track_caller]
    pub(crate) fn sh(&self, script: &str) -> String {
        let output = self.run(script);
        assert_eq!(output.code, 0, "{script}: {}", output.text);
        output.text
    }

    /// Writes a file in the guest.
    #[track_caller]
    pub(crate) fn write(&self, path: &str, text: &str) {
        self.sh(&format!("cat > {path} <<'END OF FILE'\n{text}\nEND OF FILE\n"));
    }

    fn connect(&self, limit: Duration) -> io::Result<TcpStream> {
        let address = SocketAddr::new(ADDRESS.parse().expect("an address"), PORT);
        let wire = TcpStream::connect_timeout(&address, limit)?;
        wire.set_read_timeout(Some(PATIENCE))?;
        Ok(wire)
    }

    /// The last that the kernel and its first process said.
    fn console(&self) -> String {
        let text = fs::read(self.files.join("console")).unwrap_or_default();
        String::from_utf8_lossy(&text[text.len().saturating_sub(4000)..]).into_owned()
    }
}

impl Output {
    pub(crate) fn of(text: String) -> Self {
        let (text, code) = text.trim_end().rsplit_once("exit ").unwrap_or_else(|| panic!("no code: {text}"));
        Self { text: text.to_owned(), code: code.parse().expect("a number") }
    }
}

/// The command line of the emulator: two processors in software, a wire, the disk through librbd.
fn emulator(packages: &Packages, archive: &Path) -> String {
    let kernel = packages.kernel();
    let modules = packages.libraries()[0].join("qemu");
    format!(
        "QEMU_MODULE_DIR={} timeout 1800 qemu-system-x86_64 -M pc,usb=off,vmport=off -accel tcg,thread=multi -cpu max -smp 2 \
         -m 1536 -nodefaults -no-user-config -display none -no-reboot -serial stdio -kernel {} -initrd {} \
         -append 'console=ttyS0 quiet panic=-1 mitigations=off nokaslr no_timer_check random.trust_cpu=on \
         cryptomgr.notests audit=0' \
         -netdev tap,id=net,ifname=guest,script=no,downscript=no -device virtio-net-pci,netdev=net,romfile= \
         -drive file=rbd:{DISK}:id=admin:conf=$CEPH_CONF,format=raw,if=none,id=disk,cache=none \
         -device virtio-blk-pci,drive=disk",
        modules.display(),
        kernel.display(),
        archive.display(),
    )
}
