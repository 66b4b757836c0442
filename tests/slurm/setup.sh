#!/bin/bash
# A Slurm of one node, this machine, for tests: no database, no cgroups, no systemd, and nothing
# outside one folder.
#   tests/slurm/setup.sh start    installs what is missing, starts what does not run, waits until
#                                 the node is idle; prints SLURM_CONF=..., by which commands find it
#   tests/slurm/setup.sh stop     cancels its jobs, ends its daemons, removes the folder
# For root only, as who slurmd has to run.
#
#   SLURM_TEST_DIR   the folder, by default /run/tagflow_slurm (in /tmp it could be anybody's)
#   SLURM_TEST_PORT  the first port to try, by default 26817: Slurm's own are left to a real one
set -euo pipefail

dir=${SLURM_TEST_DIR:-/run/tagflow_slurm}
export SLURM_CONF=$dir/slurm.conf

say() {
    echo "slurm: $*" >&2
}

fail() {
    say "$*"
    local log
    for log in "$dir"/log/*.log; do
        [ -f "$log" ] || continue
        say "the end of $log:"
        tail -n 15 "$log" >&2
    done
    exit 1
}

# alive PID NAME: does the process live, and not as a zombie, and is it that program?
alive() {
    [ -n "$1" ] && [ "$(cat "/proc/$1/comm" 2>/dev/null)" = "$2" ] &&
        grep -q '^State:[[:space:]]*[^ZX]' "/proc/$1/status" 2>/dev/null
}

# running NAME: does the daemon that NAME.pid speaks of run?
running() {
    alive "$(cat "$dir/$1.pid" 2>/dev/null)" "$1"
}

install_missing() {
    local package status missing=()
    # srun --mpi=pmix: Debian's plugin opens libpmix.so without a version, a name that only
    # libpmix-dev has.
    for package in munge slurmctld slurmd slurm-client slurm-wlm-basic-plugins libpmix-dev; do
        status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
        [ "$status" = installed ] || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    say "installing ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    # The packages would start daemons of their own: 101 forbids it. A policy that is there stays.
    local policy=/usr/sbin/policy-rc.d made=
    if [ ! -e "$policy" ]; then
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod 755 "$policy"
        made=$policy
    fi
    local good=yes
    # Without package lists, or with old ones, the first attempt fails.
    local install=(apt-get install -q -y --no-install-recommends "${missing[@]}")
    "${install[@]}" </dev/null >&2 ||
        { apt-get update -q </dev/null >&2 && "${install[@]}" </dev/null >&2; } || good=no
    [ -z "$made" ] || rm -f "$made"
    [ $good = yes ] || fail "cannot install ${missing[*]}"
}

# The first port from $1 on that nobody listens at.
free_port() {
    local port=$1
    while (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
        port=$((port + 1))
    done
    echo "$port"
}

configure() {
    local node port daemon_port cpus memory
    node=$(hostname)
    node=${node%%.*}
    port=$(free_port "${SLURM_TEST_PORT:-26817}")
    daemon_port=$(free_port $((port + 1)))
    cpus=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc) # nproc alone would say OMP_NUM_THREADS
    memory=$(awk '/^MemTotal:/ { print int($2 / 1024) }' /proc/meminfo) # MiB
    cat >"$SLURM_CONF.new" <<CONF
ClusterName=tagflow
SlurmUser=root
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$daemon_port
# A munged of its own, so that one of the machine's may run or not.
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/slurmd.log
# Nothing that needs cgroups or hardware: processes are found as descendants in /proc.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
SwitchType=switch/none
MailProg=/bin/true
ReturnToService=2
# What is written here holds, not what a container lets slurmd see.
SlurmdParameters=config_overrides
# Jobs start without much delay; other times are Slurm's defaults.
SchedulerParameters=batch_sched_delay=1,sched_interval=5
KillWait=30
NodeName=$node NodeAddr=127.0.0.1 CPUs=$cpus RealMemory=$memory State=UNKNOWN
# A job in partition urgent takes the place of one in test, which is queued again.
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=test Nodes=$node Default=YES MaxTime=INFINITE PriorityTier=1 State=UP
PartitionName=urgent Nodes=$node MaxTime=INFINITE PriorityTier=2 State=UP
CONF
    mv "$SLURM_CONF.new" "$SLURM_CONF"
    # None of these plugins uses it, but slurmd wants one, and looking for the right one fails
    # where /sys/fs/cgroup is not mounted.
    echo CgroupPlugin=cgroup/v1 >"$dir/cgroup.conf"
}

# node FORMAT: what sinfo says of it.
node() {
    sinfo --noheader --partition=test --format="$1"
}

# Can it take jobs? A node that works on one will do, when it has been started before.
up() {
    case $(node %T 2>/dev/null) in
    idle | mixed | allocated | completing) return 0 ;;
    *) return 1 ;;
    esac
}

start() {
    install_missing
    mkdir -p "$dir"
    # Whoever could write here could become root.
    if [ ! -O "$dir" ] || [ -L "$dir" ]; then
        fail "$dir is not root's own folder"
    fi
    chmod 755 "$dir"
    if running munged && running slurmctld && running slurmd && up; then
        say "runs already"
        echo "SLURM_CONF=$SLURM_CONF"
        return
    fi
    mkdir -p "$dir/state" "$dir/spool" "$dir/log"
    if ! running munged; then
        if [ ! -s "$dir/munge.key" ]; then
            (umask 077 && head -c 128 /dev/urandom >"$dir/munge.key")
        fi
        rm -f "$dir/munge.socket" "$dir/munge.socket.lock" "$dir/munged.pid"
        munged --key-file="$dir/munge.key" --socket="$dir/munge.socket" \
            --pid-file="$dir/munged.pid" --log-file="$dir/log/munged.log" \
            --seed-file="$dir/munge.seed" ||
            fail "munged does not start"
    fi
    # Ports are chosen when nothing of this Slurm holds them.
    if ! running slurmctld && ! running slurmd; then
        configure
    fi
    running slurmctld || slurmctld || fail "slurmctld does not start"
    running slurmd || slurmd || fail "slurmd does not start"
    local tries=0
    until [ "$(node %T 2>/dev/null)" = idle ]; do
        tries=$((tries + 1))
        [ $tries -le 60 ] || fail "the node is not idle after a minute: $(node '%T %E' 2>&1)"
        sleep 1
    done
    say "one node, $(node '%c CPUs, %m MiB'), $(sinfo --version)"
    echo "SLURM_CONF=$SLURM_CONF"
}

# end NAME: SIGTERM, and SIGKILL for one that does not go. NAME.pid goes before the process does.
end() {
    local pid tries=0
    pid=$(cat "$dir/$1.pid" 2>/dev/null) || return 0
    alive "$pid" "$1" || return 0
    kill "$pid"
    while alive "$pid" "$1" && [ $tries -lt 200 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    if alive "$pid" "$1"; then
        say "$1 does not end; killed"
        kill -9 "$pid"
    fi
}

stop() {
    if [ ! -e "$dir" ]; then
        say "does not run"
        return
    fi
    if [ ! -O "$dir" ] || [ -L "$dir" ] || [ ! -f "$SLURM_CONF" ]; then
        fail "$dir is not the folder of such a Slurm"
    fi
    if running slurmctld && running slurmd; then
        # Daemons may go and jobs stay; so the jobs first.
        local tries=0
        scancel --user=root || say "scancel failed"
        while [ -n "$(squeue --noheader 2>/dev/null)" ] && [ $tries -lt 60 ]; do
            tries=$((tries + 1))
            sleep 1
        done
        [ -z "$(squeue --noheader 2>/dev/null)" ] || say "some jobs did not end"
    fi
    end slurmd
    end slurmctld
    end munged
    rm -rf "$dir"
}

case ${1:-} in
start | stop) ;;
*)
    echo "usage: $0 start|stop" >&2
    exit 2
    ;;
esac
[ "$(id -u)" = 0 ] || { say "only root can start one" && exit 1; }
command -v dpkg-query >/dev/null || fail "not a Debian system"
"$1"
