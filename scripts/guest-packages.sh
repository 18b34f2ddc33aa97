#!/usr/bin/env bash
# Downloads what the guest of tests/guest is made of with Debian's package manager, and unpacks it into a directory:
# a kernel with Ceph's clients, a shell, qemu's driver for RBD, and rbd-nbd. Nothing is installed.
set -euo pipefail

dir=$1
command -v apt-get >/dev/null || {
    echo "guest-packages: no apt-get here; unpack a kernel with rbd.ko and a static busybox into $dir yourself" >&2
    exit 1
}

[ "$(id -u)" -ne 0 ] || apt-get update -qq

# The package in the version of an installed one that it has to fit, where the archive has it.
fitting() {
    local version
    version=$(dpkg-query --showformat '${Version}' --show "$2" 2>/dev/null) || true
    if [ -n "$version" ] && apt-cache show "$1=$version" >/dev/null 2>&1; then
        echo "$1=$version"
    else
        echo "$1"
    fi
}

# The meta package names the current kernel, and holds none.
kernel=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p')
[ -n "$kernel" ] || {
    echo "guest-packages: no linux-image-cloud-amd64 in apt's sources, which Debian has" >&2
    exit 1
}
mkdir -p "$(dirname "$dir")"
new=$(mktemp -d "$dir.XXXXXX")
trap 'rm -rf "$new"' EXIT
chmod 755 "$new"
mkdir "$new/download"
(
    cd "$new/download"
    apt-get download -qq "$kernel" busybox-static "$(fitting qemu-block-extra qemu-system-x86)" \
        "$(fitting rbd-nbd librbd1)" "$(fitting libnl-genl-3-200 libnl-3-200)"
)
for package in "$new"/download/*.deb; do dpkg-deb --extract "$package" "$new"; done
rm -r "$new/download"
rm -rf "$dir"
mv "$new" "$dir"
