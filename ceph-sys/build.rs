//! Generates the bindings from the installed headers, or from those below `CEPH_INCLUDE_DIR`.
//!
//! Only the functions named here are bound, and each is required when its library is loaded: a function that compiles
//! is a function that is there, and no call can find it missing later. All of them exist since Ceph 16; newer ones are
//! looked up by name at run time (`Library::newer` in the crate), so that one binary serves Ceph 16 to 20.

use std::env;
use std::path::PathBuf;

use bindgen::{Builder, EnumVariation};

const RADOS: &str = "rados_(version|create2|connect|shutdown|conf_(read_file|parse_env|set|get)|cluster_fsid|\
    get_instance_id|getaddrs|mon_command|buffer_free|pool_lookup|pool_reverse_lookup|pool_list|\
    ioctx_(create|destroy|get_id|set_namespace|pool_stat)|aio_(create_completion2|release|get_return_value|\
    read|write|write_full|remove|flush|cancel|append)|stat|read|write_full|remove|getxattr|setxattr|\
    nobjects_list_(open|next2|close))";

const RBD: &str = "rbd_(version|image_options_(create|destroy|set_string|set_uint64)|create4|remove|list2|\
    image_spec_list_cleanup|namespace_(create|remove|list|exists)|open|open_read_only|close|stat|get_size|get_id|\
    get_features|get_flags|get_stripe_unit|get_stripe_count|get_data_pool_id|get_parent|linked_image_spec_cleanup|\
    snap_spec_cleanup|resize2|metadata_(get|set|remove|list)|watchers_list|watchers_list_cleanup|list_lockers|\
    is_exclusive_lock_owner|diff_iterate2|config_image_list|config_image_list_cleanup|\
    snap_(list|list_end|create|remove)|flush|invalidate_cache|aio_(create_completion|release|get_return_value|\
    read|write|discard|write_zeroes|flush))";

const CEPHFS: &str = "ceph_(version|create|create_from_rados|release|conf_(read_file|parse_env|set|get)|init|\
    select_filesystem|mount|unmount|abort_conn|get_instance_id|getaddrs|buffer_free|get_fs_cid|mkdirs|rmdir|unlink|\
    opendir|closedir|readdir_r|statx|open|close|preadv|pwritev|read|write|fsync|ftruncate|fallocate|setxattr|getxattr|\
    open_layout|get_file_stripe_unit)";

/// libc's own types, which the headers drag in; the crate takes them from `libc` instead.
const LIBC_TYPES: &str = "stat|statvfs|timespec|timeval|iovec|dirent|utimbuf|flock|\
    __(dev|ino|ino64|mode|nlink|uid|gid|off|off64|blksize|blkcnt|blkcnt64|time|fsblkcnt|fsfilcnt|fsblkcnt64|\
    fsfilcnt64|syscall_slong|suseconds|pid|ssize)_t|(ino|dev|mode|uid|gid|off|time|pid|ssize|socklen)_t";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=CEPH_INCLUDE_DIR");
    generate("Rados", "rados/librados.h", RADOS, "LIBRADOS_(CREATE|OP_FLAG|OPERATION)_.*");
    generate(
        "Rbd",
        "rbd/librbd.h",
        RBD,
        "RBD_(FEATURE|IMAGE_OPTION|CONFIG_SOURCE|FLAG|WRITE_ZEROES|LOCK_MODE)_.*",
    );
    generate("Cephfs", "cephfs/libcephfs.h", CEPHFS, "CEPH_(STATX|AT)_.*");
}

fn generate(library: &str, header: &str, functions: &str, constants: &str) {
    let include = env::var("CEPH_INCLUDE_DIR").ok();
    let bindings = Builder::default()
        .header_contents("ceph.h", &format!("#include <{header}>\n"))
        .clang_args(include.map(|directory| format!("-I{directory}")))
        // libcephfs.h refuses to compile without it, and its off_t must be that of `libc`.
        .clang_arg("-D_FILE_OFFSET_BITS=64")
        .parse_callbacks(Box::new(bindgen::CargoCallbacks::new()))
        .allowlist_function(functions)
        .allowlist_var(constants)
        .blocklist_type(LIBC_TYPES)
        .default_enum_style(EnumVariation::Consts)
        .prepend_enum_name(false)
        .derive_default(true)
        .generate_comments(false)
        .wrap_unsafe_ops(true)
        .dynamic_library_name(library)
        .dynamic_link_require_all(true)
        .generate()
        .unwrap_or_else(|error| {
            panic!(
                "no bindings from <{header}>: {error}\nInstall the headers and libclang (Debian: librados-dev librbd-dev \
                 libcephfs-dev libclang-dev), or name the directory of the headers with CEPH_INCLUDE_DIR."
            )
        });
    let output = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let file = output.join(format!("{}.rs", library.to_lowercase()));
    bindings.write_to_file(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
}
