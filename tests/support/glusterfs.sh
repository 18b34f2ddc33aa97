# A GlusterFS volume of one brick in the directory $1, mounted on its `mount` until standard input ends. It is meant for a
# network namespace of its own, in which it makes the address that the volume needs: GlusterFS takes no loopback address.
set -eu
cd "$1"
address=10.78.0.1
gluster() { command gluster --mode=script --glusterd-sock="$PWD/glusterd.sock" --log-file="$PWD/log/gluster" "$@"; }

mkdir brick mount log run work
cat >glusterd.vol <<END
volume management
    type mgmt/glusterd
    option working-directory $PWD/work
    option run-directory $PWD/run
    option glusterd-sockfile $PWD/glusterd.sock
    option transport-type socket
    option transport.socket.bind-address $address
end-volume
END
ip link set lo up
ip address add $address/32 dev lo
glusterd --no-daemon --volfile="$PWD/glusterd.vol" --log-file="$PWD/log/glusterd" --pid-file="$PWD/glusterd.pid" &
trap 'kill $!' EXIT
until [ -S glusterd.sock ]; do sleep 0.05; done
gluster volume create io "$address:$PWD/brick" force >&2
gluster volume start io >&2
# The brick's own socket lies outside, and stays.
socket=$(tr '\0' '\n' <"/proc/$(cat run/vols/io/*.pid)/cmdline" | grep '\.socket$')
trap 'umount --lazy mount || true; gluster volume stop io >&2 || true; rm -f "$socket"; kill $!' EXIT
glusterfs --volfile-server=$address --volfile-id=io --log-file="$PWD/log/mount" mount
# It may have failed, and says so in its log only.
for _ in $(seq 100); do ! mountpoint -q mount || break; sleep 0.1; done
mountpoint -q mount || { grep ' E ' log/mount >&2; exit 1; }
echo ready
cat >&2
