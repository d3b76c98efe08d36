# shellcheck shell=sh disable=SC2016 # sh -c expands for itself
# Files that cannot be written: a limit on their size (ulimit -f, SIGXFSZ), a device that is always full, a small file system
# where we may mount one. Each is a message and an error, and no half of a file is left.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
run() { timeout 100 "$heddle" run --size test "$@"; }
limited() { # BLOCKS COMMAND...: no file may grow beyond so many blocks of 512 bytes
    (
        ulimit -f "$1"
        shift
        "$@"
    )
}

# ------------------------------------------------------------------ a limit on the size
expect 'timeline: the size limit' 1 'the timeline could not be written to .*: File too large' limited 8 run --timeline "$scratch/timeline" bfs
is 'timeline: not half of it' test ! -s "$scratch/timeline"
expect 'trace: the size limit' 1 'the trace could not be written to .*: File too large' limited 8 run --trace "$scratch/trace" bfs
expect 'warps: the size limit' 1 'the warps could not be written to .*: File too large' limited 8 run --warps "$scratch/warps.csv" bfs
is 'warps: not half of them' test ! -s "$scratch/warps.csv"
# The results come to heddle in a temporary file, which is as limited as the one that is asked for.
expect 'stats: the size limit' 1 'the results could not be written to .*: File too large' limited 8 run --stats "$scratch/stats" bfs
is 'stats: whole, if it is there' sh -c '[ ! -e "$1" ] || "$2" "$1" total' sh "$scratch/stats" "$json_check"
expect 'no stats asked for: the size limit' 1 'results of the program could not be read' limited 8 run vectoradd
is 'no part is left' test -z "$(find "$scratch" -name '*.part')"
# The program's own files are its own: it is ended by the signal if it writes them before it uses CUDA.
printf '#!/bin/sh\nexec head -c 100000 /dev/zero >"%s/own"\n' "$scratch" >"$scratch/writes"
chmod +x "$scratch/writes"
expect "a program's own files" 1 'ended by signal 25' limited 8 timeout 100 "$heddle" run "$scratch/writes"

# ------------------------------------------------------------------ a device that is full
# Root could lose the real one to a program that puts another file in its place: it has its own.
full=/dev/full
if [ "$(id -u)" = 0 ]; then
    full=$scratch/full
    mknod "$full" c 1 7 2>/dev/null
fi
if [ -c "$full" ] && sh -c ': >"$1"' sh "$full" 2>/dev/null; then
    expect 'timeline: full' 1 "the timeline could not be written to $full: No space left" run --timeline "$full" vectoradd
    expect 'trace: full' 1 "the trace could not be written to $full: No space left" run --trace "$full" vectoradd
    expect 'warps: full' 1 "the warps could not be written to $full: No space left" run --warps "$full" vectoradd
    expect 'stats: full' 2 "the results could not be written to $full: No space left" run --stats "$full" vectoradd
    expect 'probe: full' 1 'No space left' run -m ccws --probe "daws-profile:file=$full" vectoradd
    is 'the device is still one' test -c "$full"
    expect 'stats on standard output: full' 2 'could not be written' sh -c 'full=$1; shift; "$@" >"$full"' sh "$full" "$heddle" run --size test --stats - vectoradd
else
    echo 'note there is no device that is always full'
fi
# A pipe is written in place.
mkfifo "$scratch/pipe"
cat "$scratch/pipe" >"$scratch/through" &
expect 'stats through a pipe' 0 '' run --stats "$scratch/pipe" vectoradd
wait
is 'stats through a pipe: whole' "$json_check" "$scratch/through"
is 'a pipe stays one' test -p "$scratch/pipe"
# A link stays one.
ln -s target "$scratch/link"
expect 'stats through a link' 0 '' run --stats "$scratch/link" vectoradd
is 'a link stays one' test -h "$scratch/link"
is 'and leads to the results' "$json_check" "$scratch/target"

# ------------------------------------------------------------------ a file system that is full
small=$scratch/small
mkdir "$small"
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=16k tmpfs "$small" 2>/dev/null; then
    trap 'umount "$small"; rm -rf "$scratch"' EXIT
    for option in timeline trace warps; do
        rm -f "$small"/*
        expect "$option: no room" 1 "the $option could not be written to .*: No space left" run "--$option" "$small/file.csv" bfs
    done
    rm -f "$small"/*
    head -c 16384 /dev/zero >"$small/filler" 2>/dev/null
    expect 'stats: no room' 2 'the results could not be written to .*: No space left' run --stats "$small/stats" bfs
    is 'stats: no room: nothing is left' test ! -e "$small/stats"
    expect 'no room for temporary files' 1 'could not be written to .*No space left' env TMPDIR="$small" timeout 100 "$heddle" run --size test --stats "$scratch/t" bfs
    saw 'no room for temporary files: why' 'is there room for temporary files'
else
    echo 'note no small file system can be mounted here'
fi
