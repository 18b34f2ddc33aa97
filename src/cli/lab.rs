//! `cephmark lab`: a throwaway cluster by hand, in a script, or around one command.

use std::net::IpAddr;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::signals::Signals;
use super::{Failure, print};
use crate::console;
use crate::exit::Exit;
use crate::lab::{self, Cluster, Error, Lab, LabSpec, ObjectStore, Setting, Watcher};
use crate::units::Bytes;

const EXAMPLES: &str = "\
Examples:
  cephmark lab run -- rbd bench --io-type write --io-total 64M rbd/image
  cephmark lab up && eval \"$(cephmark lab env)\" && ceph status; cephmark lab down
  cephmark lab up --dir /tmp/two --osds 2 --replicas 2 --objectstore bluestore --size 8GiB --mds

Without --dir the lab is in $TMPDIR/cephmark-lab-UID, or /tmp/cephmark-lab-UID.";

/// Start a throwaway real Ceph cluster on this host from the installed daemons, and take it down.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct LabArgs {
    #[command(subcommand)]
    command: LabCommand,
}

#[derive(Debug, Subcommand)]
enum LabCommand {
    /// Start a lab that stays until `down`.
    Up(UpArgs),
    /// End the lab's daemons and remove all its files, whatever state it is in.
    Down(DirArgs),
    /// Show the daemons, and what the lab lacks to be ready; exits with 3 if it is not.
    Status(DirArgs),
    /// Print shell assignments that make Ceph's programs use the lab: eval "$(cephmark lab env)".
    Env(DirArgs),
    /// Run a command with CEPH_CONF set to the lab's, and exit with its code. A lab is started and taken down again,
    /// unless one is up in that directory already.
    Run(RunArgs),
}

#[derive(Debug, Args)]
struct DirArgs {
    /// Directory of the lab.
    #[arg(long, value_name = "DIR", default_value_os_t = lab::default_dir())]
    dir: PathBuf,
}

#[derive(Debug, Args)]
struct UpArgs {
    #[command(flatten)]
    place: DirArgs,
    /// Number of OSDs.
    #[arg(long, value_name = "N", default_value_t = 1)]
    osds: u32,
    /// Start an MDS too, and create the file system `cephfs`.
    #[arg(long)]
    mds: bool,
    /// Where OSDs keep their data: memstore (memory; fast, for short runs) or bluestore (a file in DIR).
    #[arg(long, value_name = "STORE", default_value_t = ObjectStore::MemStore)]
    objectstore: ObjectStore,
    /// Capacity of each OSD.
    #[arg(long, value_name = "SIZE", default_value = "2GiB")]
    size: Bytes,
    /// Copies of each object; with 2 on 2 OSDs one can be killed while I/O goes on.
    #[arg(long, value_name = "N", default_value_t = 1)]
    replicas: u32,
    /// Placement groups of each pool.
    #[arg(long, value_name = "N", default_value_t = 8)]
    pgs: u32,
    /// A pool to create for RBD; can be repeated.
    #[arg(long = "pool", value_name = "NAME", default_value = "rbd")]
    pools: Vec<String>,
    /// Address of all daemons; one of this host.
    #[arg(long = "addr", value_name = "ADDRESS", default_value = "127.0.0.1")]
    address: IpAddr,
    /// First of the ports to use; by default a free range is sought.
    #[arg(long = "port", value_name = "PORT")]
    first_port: Option<u16>,
    /// A line for ceph.conf, such as osd/osd_heartbeat_grace=5; can be repeated.
    #[arg(long = "conf", value_name = "SECTION/OPTION=VALUE")]
    settings: Vec<Setting>,
}

#[derive(Debug, Args)]
struct RunArgs {
    #[command(flatten)]
    up: UpArgs,
    /// The command and its arguments.
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<String>,
}

impl UpArgs {
    fn into_spec(self) -> LabSpec {
        LabSpec {
            address: self.address,
            first_port: self.first_port,
            osds: self.osds,
            objectstore: self.objectstore,
            size: self.size,
            replicas: self.replicas,
            pgs: self.pgs,
            pools: self.pools,
            mds: self.mds,
            settings: self.settings,
            ..LabSpec::new(self.place.dir)
        }
    }
}

/// Does what the arguments say.
///
/// # Errors
/// [`Failure`] with those of [`lab`], or if standard output can't be written.
pub fn run(args: LabArgs) -> Result<u8, Failure> {
    match args.command {
        LabCommand::Up(args) => up(args),
        LabCommand::Down(args) => down(args),
        LabCommand::Status(args) => status(args),
        LabCommand::Env(args) => {
            print(&format!("{}\n", assignments(&Cluster::open(&args.dir)?)))?;
            Ok(Exit::Success as u8)
        }
        LabCommand::Run(args) => run_command(args),
    }
}

fn up(args: UpArgs) -> Result<u8, Failure> {
    let signals = catch_signals()?;
    let cluster = Lab::up(&args.into_spec(), &Watcher::new(&say, &|| signals.wants_end()))?.keep();
    let dir = cluster.dir().display();
    let conf = cluster.conf();
    let conf = quoted(&conf.to_string_lossy());
    print(&format!(
        "a Ceph cluster is ready: CEPH_CONF={conf}\ntake it down with `cephmark lab down --dir {dir}`\n"
    ))?;
    Ok(Exit::Success as u8)
}

fn down(args: DirArgs) -> Result<u8, Failure> {
    match Cluster::find(&args.dir)? {
        Some(cluster) => cluster.down()?,
        None => say(&format!("nothing to take down in {}", args.dir.display())),
    }
    Ok(Exit::Success as u8)
}

fn status(args: DirArgs) -> Result<u8, Failure> {
    let cluster = Cluster::open(&args.dir)?;
    print(&format!(
        "lab in {} at {}, fsid {}\n",
        cluster.dir().display(),
        cluster.monitor(),
        cluster.fsid()
    ))?;
    for daemon in cluster.daemons() {
        print(&format!("  {}: {}\n", daemon.name(), daemon.state()))?;
    }
    let lack = cluster.lack();
    match &lack {
        None => print("ready\n")?,
        Some(lack) => print(&format!("not ready: {lack}\n"))?,
    }
    Ok(if lack.is_none() { Exit::Success } else { Exit::Setup } as u8)
}

fn run_command(args: RunArgs) -> Result<u8, Failure> {
    let signals = catch_signals()?;
    let lab = Lab::join_or_up(&args.up.into_spec(), &Watcher::new(&say, &|| signals.wants_end()))?;
    let mut command = Command::new(&args.command[0]);
    command.args(&args.command[1..]).env("CEPH_CONF", lab.conf());
    let ended = command.spawn().and_then(|child| wait(child, &signals));
    lab.end()?;
    let status =
        ended.map_err(|source| Error::Io { what: "run", path: (&args.command[0]).into(), source })?;
    Ok(code_of(status))
}

fn catch_signals() -> Result<Signals, Error> {
    Signals::catch().map_err(|source| Error::Io { what: "catch", path: "signals".into(), source })
}

/// Waits for the command, and hands on the signals that ask us to end.
fn wait(mut child: Child, signals: &Signals) -> std::io::Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        signals.hand_on(&child);
        thread::sleep(Duration::from_millis(10));
    }
}

/// As a shell tells it: the code, or 128 and the number of the signal.
fn code_of(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

/// In the way of ssh-agent: assigned and exported by any shell that evaluates it.
fn assignments(cluster: &Cluster) -> String {
    format!("CEPH_CONF={}; export CEPH_CONF", quoted(&cluster.conf().to_string_lossy()))
}

/// Quoted for a shell where it needs to be.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._+-@%:,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn say(line: &str) {
    console::say(format_args!("lab: {line}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_misread_is_quoted() {
        assert_eq!(quoted("/tmp/lab-1.x/ceph.conf"), "/tmp/lab-1.x/ceph.conf");
        assert_eq!(quoted("/tmp/two words"), "'/tmp/two words'");
        assert_eq!(quoted("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!(quoted(""), "''");
        let shell =
            Command::new("sh").args(["-c", &format!("printf %s {}", quoted("it's `$HOME\""))]).output();
        assert_eq!(shell.unwrap().stdout, b"it's `$HOME\"");
    }

    #[test]
    fn a_killed_command_has_the_code_that_a_shell_gives_it() {
        let status = |script| Command::new("sh").args(["-c", script]).status().unwrap();
        assert_eq!(code_of(status("exit 42")), 42);
        assert_eq!(code_of(status("kill -TERM $$")), 143);
    }
}
