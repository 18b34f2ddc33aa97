//! The guest's root file system: a shell, the kernel's modules, cephmark and the libraries that it loads.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::archive::Archive;
use super::modules;
use super::packages::Packages;

/// The guest's address, and the port on which it takes scripts.
pub(crate) const ADDRESS: &str = "10.77.0.2";
pub(crate) const PORT: u16 = 2000;

/// The first process: loads modules, sets up the network, and serves scripts for as long as the machine runs.
const INIT: &str = "\
#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin:/usr/bin
mount -t devtmpfs dev /dev
mkdir -p /proc /sys /tmp /run /root /etc/ceph
mount -t proc proc /proc
mount -t sysfs sys /sys
for module in $(cat /modules/order); do insmod /modules/$module || echo \"no $module\"; done
ip link set lo up
ip addr add ADDRESS/24 dev eth0
ip link set eth0 up
echo serving
while true; do nc -ll -p PORT -e /serve; done
";

/// One script: all that comes in until the other side has said all; its output, then its code.
const SERVE: &str = "\
#!/bin/sh
script=/tmp/script.$$
cat > $script
cd /root
HOME=/root sh $script < /dev/null 2>&1
echo \"exit $?\"
rm -f $script
";

/// Packs it.
pub(crate) fn pack(packages: &Packages, to: &Path) -> io::Result<()> {
    let mut root = Archive::create(to)?;
    for directory in ["/bin", "/dev", "/proc", "/sys", "/tmp", "/root", "/mnt"] {
        root.directory(directory)?;
    }
    root.copy(&packages.busybox(), "/bin/busybox")?;
    let init = INIT.replace("ADDRESS", ADDRESS).replace("PORT", &PORT.to_string());
    root.file("/init", 0o755, init.as_bytes())?;
    root.file("/serve", 0o755, SERVE.as_bytes())?;
    root.file("/etc/passwd", 0o644, b"root:x:0:0:root:/root:/bin/sh\n")?;
    root.file("/etc/group", 0o644, b"root:x:0:\n")?;
    let mut order = String::new();
    for module in modules::in_order(&packages.modules()) {
        let name = module.file_name().expect("a file").to_string_lossy().into_owned();
        root.copy(&module, &format!("/modules/{name}"))?;
        order += &format!("{name}\n");
    }
    root.file("/modules/order", 0o644, order.as_bytes())?;
    programs(packages, &mut root)?;
    root.finish()
}

/// cephmark, without what only a debugger reads, rbd-nbd, and the libraries of both.
fn programs(packages: &Packages, root: &mut Archive) -> io::Result<()> {
    let stripped = tempfile::NamedTempFile::new()?;
    let strip =
        Command::new("strip").arg("-o").arg(stripped.path()).arg(env!("CARGO_BIN_EXE_cephmark")).status()?;
    assert!(strip.success(), "cephmark can't be stripped");
    root.file("/bin/cephmark", 0o755, &std::fs::read(stripped.path())?)?;
    root.copy(&packages.rbd_nbd(), "/usr/bin/rbd-nbd")?;
    let loaded = ["librados.so.2", "librbd.so.1", "libcephfs.so.2"]
        .map(|name| PathBuf::from("/usr/lib/x86_64-linux-gnu").join(name));
    let mut libraries = loaded.to_vec();
    for program in loaded.iter().chain([&env!("CARGO_BIN_EXE_cephmark").into(), &packages.rbd_nbd()]) {
        libraries.extend(needed(packages, program)?);
    }
    libraries.sort();
    libraries.dedup();
    for library in libraries {
        let name = library.file_name().expect("a file").to_string_lossy();
        // The loader's own path is in every program; all others are found in this directory by their names.
        let to =
            if name.starts_with("ld-linux") { format!("/lib64/{name}") } else { format!("/usr/lib/{name}") };
        root.copy(&library, &to)?;
    }
    Ok(())
}

/// The libraries that the loader takes for a program or library.
fn needed(packages: &Packages, program: &Path) -> io::Result<Vec<PathBuf>> {
    let [ours, further] = packages.libraries().map(|path| path.display().to_string());
    let output =
        Command::new("ldd").arg(program).env("LD_LIBRARY_PATH", format!("{ours}:{further}")).output()?;
    assert!(output.status.success(), "{}: {}", program.display(), String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!text.contains("not found"), "{}: {text}", program.display());
    let path = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.into_iter().find(|word| word.starts_with('/')).map(PathBuf::from)
    };
    Ok(text.lines().filter_map(path).collect())
}
