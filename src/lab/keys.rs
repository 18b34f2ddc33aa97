//! Secrets of the daemons and of client.admin. They are seen by `ceph-authtool`'s output and by files that only their
//! owner can read: never by a command line.

use super::daemon::Kind;
use super::home::{self, Home};
use super::program::{GoOn, Program};
use super::{DaemonName, Error};

/// Writes each daemon's keyring and that of client.admin, and answers the text of all, for the monitor's store.
pub(super) fn write(home: &Home, daemons: &[DaemonName], go_on: GoOn<'_>) -> Result<String, Error> {
    let new = |entity: &str, caps: &[(&str, &str)]| {
        let secret = Program::Authtool.run(&["--gen-print-key"], go_on)?;
        Ok(entry(entity, secret.trim(), caps))
    };
    let admin = new("client.admin", &[("mon", "*"), ("mgr", "*"), ("osd", "*"), ("mds", "*")])?;
    home::write_private(&home.keyring(), &admin)?;
    let mut all = admin;
    for daemon in daemons {
        // All monitors share one key, which is not named after one of them.
        let entity = if daemon.kind == Kind::Mon { "mon.".to_owned() } else { daemon.to_string() };
        let text = new(&entity, caps(daemon.kind))?;
        home::make_private(&home.data(daemon))?;
        if daemon.kind != Kind::Mon {
            home::write_private(&home.data(daemon).join("keyring"), &text)?;
        }
        all += &text;
    }
    Ok(all)
}

const fn caps(kind: Kind) -> &'static [(&'static str, &'static str)] {
    match kind {
        Kind::Mon => &[("mon", "*")],
        Kind::Mgr => &[("mon", "profile mgr"), ("osd", "*"), ("mds", "*")],
        Kind::Osd => &[("mon", "profile osd"), ("mgr", "profile osd"), ("osd", "*")],
        Kind::Mds => &[("mon", "profile mds"), ("mgr", "profile mds"), ("osd", "rwx"), ("mds", "*")],
    }
}

fn entry(entity: &str, secret: &str, caps: &[(&str, &str)]) -> String {
    let mut text = format!("[{entity}]\n\tkey = {secret}\n");
    for (service, allowed) in caps {
        text += &format!("\tcaps {service} = \"allow {allowed}\"\n");
    }
    text
}
