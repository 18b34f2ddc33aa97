//! What the kernel shows as files: attributes, loop devices, swap.

use std::fs;
use std::path::Path;

/// What an attribute holds; `None` if there is none, or not for this process.
pub(super) fn attribute(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim_end().to_owned())
}

/// The loop devices in use, each by its name and the path of what it is built on.
pub(super) fn loop_devices() -> impl Iterator<Item = (String, String)> {
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    devices.filter_map(|entry| {
        let backing = attribute(&entry.path().join("loop/backing_file"))?;
        Some((entry.file_name().display().to_string(), backing))
    })
}

/// The devices and files that are used as swap.
pub(super) fn swaps() -> Vec<String> {
    swaps_of(&fs::read_to_string("/proc/swaps").unwrap_or_default())
}

fn swaps_of(table: &str) -> Vec<String> {
    let paths = table.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    paths.map(unescape).collect()
}

/// The kernel writes what would end a field or a line as a backslash with three octal digits.
pub(super) fn unescape(field: &str) -> String {
    let escaped = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    escaped.iter().fold(field.to_owned(), |text, (code, character)| text.replace(code, character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swap_is_found_by_the_path_of_its_device_or_file() {
        let table = "\
Filename\tType\tSize\tUsed\tPriority
/dev/vda2 partition\t8388604\t0\t-2
/srv/my\\040swap file\t1048572\t0\t-3
";
        assert_eq!(swaps_of(table), ["/dev/vda2", "/srv/my swap"]);
        assert_eq!(swaps_of(""), Vec::<String>::new());
    }
}
