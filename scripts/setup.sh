#!/usr/bin/env bash
# Installs what cephmark needs and this machine lacks, with the system's package manager: Ceph's daemons and clients for
# a lab, what its bindings are built from, and a cargo that is new enough. `setup.sh test` adds what only the tests need.
set -euo pipefail

what=${1:-demo}
# Debian's cargo-web and rustup's cargo may both be there; rustup's is off the PATH of a shell that is no login shell, and
# the tools of root are off that of others.
PATH=$PATH:$HOME/.cargo/bin:/usr/sbin:/sbin
rust_needed=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$(dirname "${BASH_SOURCE[0]}")/../Cargo.toml")

has() { command -v "$1" >/dev/null; }

# Whether version $1 is $2 or newer.
new_enough() { [ "$(printf '%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]; }

cargo_fits() { has cargo && new_enough "$(cargo --version 2>/dev/null | cut -d ' ' -f 2)" "$rust_needed"; }

# The library, and the headers that belong to the compiler.
has_libclang() {
    [ -n "${LIBCLANG_PATH:-}" ] ||
        { exists '/usr/lib*/libclang*.so*' '/usr/lib/*/libclang*.so*' '/usr/lib/llvm-*/lib/libclang*.so*' &&
            exists '/usr/lib*/clang/*/include/stddef.h' '/usr/lib/llvm-*/lib/clang/*/include/stddef.h'; }
}

exists() {
    local pattern
    for pattern; do compgen -G "$pattern" >/dev/null && return; done
    return 1
}

die() {
    printf 'setup: %s\n' "$*" >&2
    exit 1
}

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif has sudo; then
        sudo "$@"
    else
        die "not root, and no sudo: run as root: $*"
    fi
}

# What is missing, in words that stand for packages; each distribution has its own names for some.
missing=()
need() { "${@:2}" || missing+=("$1"); }
for daemon in ceph-mon ceph-mgr ceph-osd ceph-mds; do need $daemon has $daemon; done
need ceph-common has ceph
need ceph-common has rbd
need ceph-base has monmaptool
need rados-headers test -e /usr/include/rados/librados.h
need rbd-headers test -e /usr/include/rbd/librbd.h
need cephfs-headers test -e /usr/include/cephfs/libcephfs.h
need libclang has_libclang
need cc has cc
need cargo cargo_fits
if [ "$what" = test ]; then
    need fio has fio
    need losetup has losetup
    need mkfs.ext4 has mkfs.ext4
    need ip has ip
    need glusterfs-server has glusterd
    need rustfmt has rustfmt
    need clippy has cargo-clippy
    # The guest that the kernel's clients are tested in; what is in it is downloaded by its tests, and not installed.
    need qemu has qemu-system-x86_64
    need ip has ip
fi
[ ${#missing[@]} -gt 0 ] || exit 0
echo "setup: missing: ${missing[*]}" >&2

if has rustup && [[ " ${missing[*]} " =~ \ (cargo|rustfmt|clippy)\  ]]; then
    die "rustup's toolchain is older than $rust_needed or lacks a component: run \`rustup update stable && rustup component add rustfmt clippy\`"
fi

# Debian's stable release has a second, newer Rust beside its own.
apt_rust() {
    local suffix
    for suffix in '' -web; do
        if new_enough "$(apt-cache policy "cargo$suffix" | sed -n 's/.*Candidate: //p')" "$rust_needed"; then
            echo "$suffix"
            return
        fi
    done
    die "no cargo of $rust_needed or newer in apt's sources: install one from https://rustup.rs"
}

apt_name() {
    case $1 in
    rados-headers) echo librados-dev ;;
    rbd-headers) echo librbd-dev ;;
    cephfs-headers) echo libcephfs-dev ;;
    libclang) echo libclang-dev ;;
    qemu) echo qemu-system-x86 ;;
    ip) echo iproute2 ;;
    cc) echo gcc libc6-dev ;;
    losetup) echo mount ;;
    mkfs.ext4) echo e2fsprogs ;;
    ip) echo iproute2 ;;
    cargo) echo "cargo$rust" ;;
    rustfmt) echo "rustfmt$rust" ;;
    clippy) echo "rust${rust}-clippy" ;;
    *) echo "$1" ;;
    esac
}

rpm_name() {
    case $1 in
    rados-headers) echo librados-devel ;;
    rbd-headers) echo librbd-devel ;;
    cephfs-headers) echo libcephfs-devel ;;
    libclang) echo clang-devel ;;
    qemu) echo qemu-system-x86-core ;;
    ip) echo iproute ;;
    cc) echo gcc ;;
    losetup) echo util-linux ;;
    mkfs.ext4) echo e2fsprogs ;;
    ip) echo iproute ;;
    *) echo "$1" ;;
    esac
}

packages=()
if has apt-get; then
    export DEBIAN_FRONTEND=noninteractive
    as_root apt-get update -qq
    rust=$(apt_rust)
    for name in "${missing[@]}"; do read -ra names <<<"$(apt_name "$name")" && packages+=("${names[@]}"); done
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${packages[@]}"
else
    for name in "${missing[@]}"; do packages+=("$(rpm_name "$name")"); done
    if has dnf; then
        as_root dnf install -y "${packages[@]}"
    elif has zypper; then
        as_root zypper --non-interactive install "${packages[@]}"
    else
        die "no apt-get, dnf or zypper here: install what your system calls these: ${packages[*]}"
    fi
fi
hash -r
cargo_fits || die "cargo is older than $rust_needed: install a newer one from https://rustup.rs"
