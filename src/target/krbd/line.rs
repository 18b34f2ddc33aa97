//! The line that tells the kernel what to map, and how.

use std::time::Duration;

use crate::plan::Mapping;

/// What is to be mapped.
#[derive(Clone, Debug)]
pub(super) struct Line<'a> {
    /// Addresses of the monitors, of the version that the messenger mode wants.
    pub(super) monitors: &'a [String],
    /// The user without its type, such as `admin`.
    pub(super) user: &'a str,
    /// The name of the user's key in the kernel; `None` where the cluster asks for none.
    pub(super) key: Option<&'a str>,
    /// How connections are protected.
    pub(super) ms_mode: &'a str,
    /// How long the monitors may take to answer.
    pub(super) timeout: Duration,
    /// What the profile asks for.
    pub(super) mapping: &'a Mapping,
    /// The pool.
    pub(super) pool: &'a str,
    /// The namespace within it.
    pub(super) namespace: Option<&'a str>,
    /// The image.
    pub(super) image: &'a str,
    /// Its snapshot.
    pub(super) snapshot: Option<&'a str>,
    /// It is going to be written.
    pub(super) writable: bool,
}

impl Line<'_> {
    /// As the kernel takes it.
    pub(super) fn text(&self) -> String {
        let mut options = vec![format!("name={}", self.user)];
        options.extend(self.key.map(|key| format!("key={key}")));
        let asked = |names: &[&str]| names.iter().any(|name| self.mapping.option(name).is_some());
        if !asked(&["share", "noshare"]) {
            // Else a second mapping would share connections, and so the threads that serve them, with the first.
            options.push("noshare".to_owned());
        }
        if !asked(&["ms_mode"]) {
            options.push(format!("ms_mode={}", self.ms_mode));
        }
        if !asked(&["mount_timeout"]) {
            options.push(format!("mount_timeout={}", self.timeout.as_secs().max(1)));
        }
        if !self.writable && !asked(&["ro", "read_only"]) {
            options.push("ro".to_owned());
        }
        options.extend(self.namespace.map(|namespace| format!("_pool_ns={namespace}")));
        options.extend(self.mapping.options.iter().cloned());
        format!(
            "{} {} {} {} {}",
            self.monitors.join(","),
            options.join(","),
            self.pool,
            self.image,
            self.snapshot.unwrap_or("-")
        )
    }
}

/// The mode of the kernel's connections that is like librbd's, by the option `ms_client_mode` of the latter.
pub(super) fn mode_like_librbd(ms_client_mode: &str) -> &'static str {
    let modes: Vec<&str> = ms_client_mode.split([' ', ',']).filter(|mode| !mode.is_empty()).collect();
    match modes.as_slice() {
        ["secure"] => "secure",
        ["secure", ..] => "prefer-secure",
        ["crc"] => "crc",
        _ => "prefer-crc",
    }
}

/// A mode of the kernel's connections in the words of librbd's option, so that both can be told alike.
pub(super) fn mode_in_words_of_librbd(ms_mode: &str) -> &str {
    match ms_mode {
        "prefer-crc" => "crc secure",
        "prefer-secure" => "secure crc",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Access, Engine, MapClient};

    fn text(options: &[&str], writable: bool) -> String {
        let mapping = Mapping {
            client: MapClient::Krbd,
            options: options.iter().map(|option| (*option).to_owned()).collect(),
            access: Access { engine: Engine::IoUring, direct: true, queue: Vec::new() },
        };
        let line = Line {
            monitors: &["10.0.0.1:3300".to_owned(), "10.0.0.2:3300".to_owned()],
            user: "admin",
            key: Some("cephmark-0123456789abcdef-77"),
            ms_mode: "prefer-crc",
            timeout: Duration::from_secs(15),
            mapping: &mapping,
            pool: "rbd",
            namespace: Some("ns"),
            image: "vol1",
            snapshot: None,
            writable,
        };
        line.text()
    }

    #[test]
    fn a_mapping_has_a_client_of_its_own_and_the_mode_of_librbd_unless_told_otherwise() {
        assert_eq!(
            text(&[], true),
            "10.0.0.1:3300,10.0.0.2:3300 name=admin,key=cephmark-0123456789abcdef-77,noshare,ms_mode=prefer-crc,\
             mount_timeout=15,_pool_ns=ns rbd vol1 -"
        );
        let told = text(&["share", "ms_mode=legacy", "mount_timeout=60", "queue_depth=32"], true);
        assert!(
            told.contains(",_pool_ns=ns,share,ms_mode=legacy,mount_timeout=60,queue_depth=32 "),
            "{told}"
        );
        assert!(!told.contains("noshare") && !told.contains("prefer-crc"), "{told}");
    }

    #[test]
    fn what_is_only_read_is_mapped_so() {
        assert!(text(&[], false).contains(",ro,"));
        assert!(!text(&["ro"], false).contains(",ro,_pool_ns"));
    }

    #[test]
    fn modes_are_told_in_the_same_words_for_both_clients() {
        for mode in ["crc secure", "secure crc", "crc", "secure"] {
            assert_eq!(mode_in_words_of_librbd(mode_like_librbd(mode)), mode);
        }
        assert_eq!(mode_in_words_of_librbd("legacy"), "legacy");
    }
}
