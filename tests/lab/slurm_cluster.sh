# shellcheck shell=sh
# shellcheck disable=SC2034 # cluster_problem is for the test
# A Slurm cluster of three nodes on this machine, for tests: munged, slurmctld and three slurmd with a configuration, keys, sockets and ports of their own, on the loopback interface only. Sourced;
# needs $scratch. Works without systemd, cgroups and accounting. Every wait has an end.
# shellcheck disable=SC2154 # the test's
cluster=$scratch/cluster
nodes='n1 n2 n3'
PATH=$PATH:/usr/sbin:/sbin # where the daemons are
cluster_problem='' # why it could not be started

# Six ports in a row that nobody listens on, below those that connections get; printed is the first.
free_ports() {
    port=$((20000 + $$ % 1200 * 10))
    for attempt in 1 2 3 4 5 6 7 8 9 10; do
        taken=0
        for p in 0 1 2 3 4 5; do
            hex=$(printf ':%04X' $((port + p)))
            if cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | awk '{ print $2 }' | grep -q "$hex\$"; then taken=1; fi
        done
        [ $taken = 1 ] || break
        port=$((port + 10 * attempt))
    done
    echo $port
}

write_configuration() {
    port=$(free_ports)
    host=$(uname -n)
    host=${host%%.*}
    user=$(id -un)
    cat <<EOF
ClusterName=heddle
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$cluster/munge/socket,cred_expire=6
CredType=cred/munge
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MailProg=/bin/true
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1,sched_min_interval=100000
ReturnToService=2
JobRequeue=1
# A dead node is noticed in seconds, not in minutes, and its tasks may start again as soon (cred_expire).
SlurmdTimeout=6
SlurmctldTimeout=10
MessageTimeout=4
TCPTimeout=1
KillWait=2
MinJobAge=300
MaxArraySize=21
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool/%n
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/%n.pid
SlurmctldLogFile=$cluster/slurmctld.log
SlurmdLogFile=$cluster/%n.log
PartitionName=short Nodes=ALL Default=YES MaxTime=30:00 State=UP
EOF
    for node in $nodes; do
        port=$((port + 1))
        echo "NodeName=$node NodeHostname=$host NodeAddr=127.0.0.1 Port=$port CPUs=2 State=UNKNOWN"
    done
}

start_munged() {
    head -c 1024 /dev/urandom >"$cluster/munge/key"
    chmod 400 "$cluster/munge/key"
    # --force: the folder is below one for temporary files, which others may write to.
    timeout 20 munged --force --key-file="$cluster/munge/key" --socket="$cluster/munge/socket" --pid-file="$cluster/munge/pid" --log-file="$cluster/munge/log" --seed-file="$cluster/munge/seed" \
        --num-threads=2 >"$cluster/munged.out" 2>&1 || return 1
    await 10 sh -c "munge -S '$cluster/munge/socket' -n </dev/null >/dev/null 2>&1"
}

controller_answers() { timeout 10 scontrol ping 2>/dev/null | grep -q 'is UP'; }
nodes_are_idle() { [ "$(timeout 20 sinfo -h -r -N -t idle -o %N 2>/dev/null | wc -l)" = 3 ]; }
node_is_down() { timeout 20 sinfo -h -N -n "$1" -o %t 2>/dev/null | grep -q down; }

last_words() { tail -n 3 "$@" 2>/dev/null | tr '\n' ' '; }

start_node() { timeout 20 slurmd -N "$1" >>"$cluster/$1.out" 2>&1; }

# False: it cannot be had here, and cluster_problem says why.
cluster_start() {
    for program in munged munge slurmctld slurmd sbatch squeue sinfo; do
        command -v $program >/dev/null 2>&1 || {
            cluster_problem="$program is not installed (Debian: slurmctld, slurmd, slurm-client, munge)"
            return 1
        }
    done
    mkdir -p "$cluster/munge" "$cluster/state" "$cluster/spool/n1" "$cluster/spool/n2" "$cluster/spool/n3"
    chmod 755 "$scratch" "$cluster" "$cluster/munge"
    write_configuration >"$cluster/slurm.conf"
    export SLURM_CONF="$cluster/slurm.conf"
    start_munged || {
        cluster_problem="munged does not start: $(last_words "$cluster/munged.out" "$cluster/munge/log")"
        return 1
    }
    if ! timeout 20 slurmctld >"$cluster/slurmctld.out" 2>&1 || ! await 15 controller_answers; then
        cluster_problem="slurmctld does not start: $(last_words "$cluster/slurmctld.out" "$cluster/slurmctld.log")"
        return 1
    fi
    for node in $nodes; do
        start_node "$node" || {
            cluster_problem="slurmd of $node does not start: $(last_words "$cluster/$node.out" "$cluster/$node.log")"
            return 1
        }
    done
    await 20 nodes_are_idle || {
        cluster_problem="the nodes do not come up: $(timeout 10 sinfo -h -N -o '%N %t' 2>&1 | tr '\n' ' ') $(last_words "$cluster/n1.log")"
        return 1
    }
}

command_line() { { tr '\0' ' ' <"/proc/${1:-0}/cmdline"; } 2>/dev/null; }

# The processes of jobs on nodes whose name matches: they have it, and this cluster's configuration, in their environment.
job_processes() {
    for folder in /proc/[0-9]*; do
        { tr '\0' '\n' <"$folder/environ"; } 2>/dev/null | awk -v node="SLURMD_NODENAME=$1" -v conf="SLURM_CONF=$cluster/slurm.conf" \
            '$0 ~ ("^" node "$") { a = 1 } $0 == conf { b = 1 } END { exit !(a && b) }' && echo "${folder#/proc/}"
    done
}

# The step daemons above job processes.
step_daemons() {
    for pid in "$@"; do
        parent=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$pid/status" 2>/dev/null)
        if command_line "$parent" | grep -q '^slurmstepd:'; then echo "$parent"; fi
    done | sort -u
}

# As when the power goes: the node's daemon, the daemons of its steps, and all that they run.
kill_node() {
    jobs=$(job_processes "$1")
    # shellcheck disable=SC2086 # lists of numbers
    steps=$(step_daemons $jobs)
    # shellcheck disable=SC2086
    kill -9 "$(cat "$cluster/$1.pid")" $steps $jobs 2>/dev/null
}

gone() {
    for pid in "$@"; do
        [ ! -d "/proc/$pid" ] || return 1
    done
}

# Nothing is left running.
cluster_stop() {
    [ -d "$cluster" ] || return 0
    jobs=$(job_processes 'n[1-3]')
    # shellcheck disable=SC2086
    steps=$(step_daemons $jobs)
    daemons=
    for file in "$cluster/slurmctld.pid" "$cluster/n1.pid" "$cluster/n2.pid" "$cluster/n3.pid" "$cluster/munge/pid"; do
        pid=$(cat "$file" 2>/dev/null)
        # A number that is another process' by now is left alone.
        if command_line "$pid" | grep -Eq '^(slurmctld|slurmd|munged)'; then daemons="$daemons $pid"; fi
    done
    # shellcheck disable=SC2086
    {
        [ -z "$steps$jobs" ] || kill -9 $steps $jobs 2>/dev/null
        [ -z "$daemons" ] || kill $daemons 2>/dev/null
        await 10 gone $daemons $steps $jobs || kill -9 $daemons 2>/dev/null
    }
}
