//! Ports for a lab: a free range, kept from other labs that start at the same moment.
//!
//! Ranges are made of whole units, and a lab that starts listens on the first port of each of its units until its
//! daemons are up. So two labs never take the same unit, whatever directory, user or container they start from, and
//! when a starting lab is killed the kernel gives its claim back.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, TcpListener};

use super::{Error, LabSpec};

/// Ports of a unit.
const UNIT: u16 = 16;
/// Where free ranges are sought: below the ephemeral ports of clients, and off Ceph's own 6800-7568.
const FIRST: u16 = 17300;
const LAST: u16 = FIRST + 128 * UNIT - 1;

/// A range of ports that is ours; claimed against other labs as long as this lives.
#[derive(Debug)]
pub(super) struct Ports {
    first: u16,
    count: u16,
    _claims: Vec<TcpListener>,
}

impl Ports {
    /// Claims the range that was asked for, or the first free one.
    pub(super) fn claim(spec: &LabSpec) -> Result<Self, Error> {
        let (address, count) = (spec.address, count_for(spec.osds));
        if let Some(first) = spec.first_port {
            let last = first.checked_add(count - 1).filter(|_| first >= 1024);
            last.ok_or_else(|| {
                Error::Spec(format!("ports {first} and {} more: take a first port from 1024 on", count - 1))
            })?;
            return Self::try_claim(address, first, count)?.map_err(|port| Error::Port {
                port,
                address,
                count,
            });
        }
        for first in (FIRST..=LAST - count + 1).step_by(UNIT.into()) {
            if let Ok(ports) = Self::try_claim(address, first, count)? {
                return Ok(ports);
            }
        }
        Err(Error::NoPorts { address, count, first: FIRST, last: LAST })
    }

    /// The ports from `first` on, or the one that is taken.
    fn try_claim(address: IpAddr, first: u16, count: u16) -> Result<Result<Self, u16>, Error> {
        let probe = |port| match TcpListener::bind(SocketAddr::new(address, port)) {
            Ok(listener) => Ok(Ok(listener)),
            Err(error) if is_taken(&error) => Ok(Err(port)),
            Err(source) => Err(Error::Address { address, source }),
        };
        let mut claims = Vec::new();
        for port in (first..first + count).step_by(UNIT.into()) {
            match probe(port)? {
                Ok(listener) => claims.push(listener),
                Err(taken) => return Ok(Err(taken)),
            }
        }
        for port in (first..first + count).filter(|port| !(port - first).is_multiple_of(UNIT)) {
            if let Err(taken) = probe(port)? {
                return Ok(Err(taken));
            }
        }
        Ok(Ok(Self { first, count, _claims: claims }))
    }

    /// The monitor's port for the v2 protocol; the next one is for v1.
    pub(super) fn monitor(&self) -> u16 {
        self.first + 1
    }

    /// First and last port for all other daemons, which try one after the other until a port is free.
    pub(super) fn others(&self) -> (u16, u16) {
        (self.first + 3, self.first + self.count - 1)
    }
}

/// The monitor has two ports, the mgr and the MDS two each, an OSD four for each protocol; a restarted daemon may find
/// its old ones still busy, and the claims take one a unit while the lab starts.
fn count_for(osds: u32) -> u16 {
    let daemons = 6 + 8 * osds;
    let spare = 8 + daemons / 8;
    let units = (daemons + spare).div_ceil(u32::from(UNIT));
    u16::try_from(units).unwrap_or(u16::MAX / UNIT) * UNIT
}

fn is_taken(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::AddrInUse | ErrorKind::PermissionDenied)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_claims_never_share_a_port() {
        let spec = LabSpec::new("/tmp/x");
        let (one, two) = (Ports::claim(&spec).unwrap(), Ports::claim(&spec).unwrap());
        assert!(one.first + one.count <= two.first || two.first + two.count <= one.first, "{one:?} {two:?}");
        assert_ne!(one.monitor(), two.monitor());
    }

    #[test]
    fn a_port_in_use_within_the_range_is_named() {
        // An address that no other lab has, nor a client of one: their ports come and go.
        let spec = LabSpec { address: "127.77.0.1".parse().unwrap(), ..LabSpec::new("/tmp/x") };
        let free = Ports::claim(&spec).unwrap();
        let inside = SocketAddr::new(spec.address, free.first + 5);
        let first = free.first;
        drop(free);
        let _listener = TcpListener::bind(inside).unwrap();
        let error = Ports::claim(&LabSpec { first_port: Some(first), ..spec }).unwrap_err();
        assert!(
            error.to_string().contains(&format!("port {} of 127.77.0.1 is in use", first + 5)),
            "{error}"
        );
    }

    #[test]
    fn an_address_of_another_host_is_refused() {
        let spec = LabSpec { address: "192.0.2.1".parse().unwrap(), ..LabSpec::new("/tmp/x") };
        assert!(matches!(Ports::claim(&spec), Err(Error::Address { .. })));
    }

    #[test]
    fn the_range_has_room_for_all_daemons() {
        assert_eq!(count_for(1), 32);
        for osds in 1..=64 {
            let count = u32::from(count_for(osds));
            assert!(count >= 6 + 8 * osds + count / u32::from(UNIT), "{osds} OSDs");
            assert!(count < u32::from(LAST - FIRST), "{osds} OSDs");
        }
    }
}
