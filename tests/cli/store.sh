#!/bin/sh
# Results stores on disks that are full, folders that are read-only and files that are damaged; a store as `sqlite3` and CSV readers see it.
# Uses sqlite3: stores as another program sees them.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
store=$build/tests/test_store
files=$scratch/store
mkdir "$files"

# A file system of its own: mount needs rights that a person rarely has.
mounted=
unmount() {
    if [ -n "$mounted" ]; then umount "$mounted"; fi
    mounted=
}
trap 'unmount; rm -rf "$scratch"' EXIT
mount_small() { # size
    mkdir -p "$scratch/small"
    mount -t tmpfs -o "size=$1" tmpfs "$scratch/small" 2>/dev/null && mounted=$scratch/small
}

# The rows of two stores, whatever their ids.
contents() {
    sqlite3 "$1" 'SELECT key, program, scheduler, failure FROM run ORDER BY key; SELECT key, kernel, name, value FROM metrics ORDER BY key, kernel, name'
}

is 'makes a store' "$store" make "$files/a.db" 50
expect 'reads a store' 0 '^50 runs$' "$store" check "$files/a.db"
is 'leaves nothing but the store' [ "$(ls "$files")" = a.db ]

# As people look at it.
if command -v sqlite3 >/dev/null; then
    expect 'sqlite3: a metric of a run' 0 '^program0\|lrr\|100000$' \
        sqlite3 "$files/a.db" "SELECT program, scheduler, value FROM totals WHERE name = 'cycles' ORDER BY value LIMIT 1"
    expect 'sqlite3: a metric has its unit' 0 '^cycles$' sqlite3 "$files/a.db" "SELECT DISTINCT unit FROM metrics WHERE name = 'cycles'"
    # Every example of the docs is one that works.
    # shellcheck disable=SC2016 # the quotes are those of the document
    sed -n '/^```sql$/,/^```$/p' docs/results.md | grep -v '^```' >"$scratch/examples.sql"
    is 'docs/results.md: has examples' grep -q SELECT "$scratch/examples.sql"
    expect 'docs/results.md: the examples work' 0 '' sqlite3 -bail "$files/a.db" ".read $scratch/examples.sql"
else
    echo 'note sqlite3 is not installed: stores are not looked at from outside'
fi

is 'writes CSV' "$store" csv "$files/a.db" "$scratch/csv/deep"
expect 'CSV: one line a run' 0 '^51$' sh -c "wc -l <'$scratch/csv/deep/runs.csv'"
expect 'CSV: a metric' 0 ',,cycles,cycles,100007$' grep "$(printf '%024x' 7),,cycles," "$scratch/csv/deep/metrics.csv"

# A disk that fills up: what was stored stays, and the sweep goes on when there is room.
if mount_small 512k; then
    small=$scratch/small/r.db
    is 'small disk: a few runs' "$store" make "$small" 10
    expect 'full disk: says so' 1 'no space left on its disk' "$store" make "$small" 500 10
    saw 'full disk: says what is with the rest' 'what was in it is still there'
    kept=$("$store" check "$small" | sed 's/ runs//')
    if [ "${kept:-0}" -ge 10 ] && [ "$kept" -lt 500 ]; then echo "ok full disk: $kept runs are kept"; else echo "FAILED full disk: kept '$kept' runs"; fi
    expect 'full disk: CSV says so' 1 'cannot write .*No space left' "$store" csv "$small" "$scratch/small/csv"
    is 'full disk: no half a table' [ ! -e "$scratch/small/csv/metrics.csv" ]
    rm -rf "$scratch/small/csv"
    mount -o remount,size=4m "$scratch/small"
    is 'more room: goes on' "$store" make "$small" 20
    # Without its WAL, as after a copy: then moved to where nothing can be written.
    mount -o remount,ro "$scratch/small"
    expect 'read-only disk: reads' 0 '^[0-9]+ runs$' "$store" check "$small"
    expect 'read-only disk: writing is refused' 1 'cannot write in the folder of .*Read-only file system; use another file \(-o\)' "$store" make "$small" 1
    expect 'read-only disk: a new store is refused' 1 'Read-only file system' "$store" make "$scratch/small/new.db" 1
    if [ -x "$heddle" ] && "$heddle" report --help >/dev/null 2>&1; then
        expect 'read-only disk: report reads it' 0 '' "$heddle" report "$small" -o "$scratch/page.html"
    fi
    unmount
else
    echo 'note no tmpfs can be mounted here: full and read-only disks are not tried'
fi

# Damaged in the middle; saved, what is whole; completed by what is missing.
cp "$files/a.db" "$files/hurt.db"
pages=$(($(wc -c <"$files/hurt.db") / 4096))
head -c 8192 /dev/zero | tr '\0' '\245' | dd of="$files/hurt.db" bs=4096 seek=$((pages / 2)) conv=notrunc 2>/dev/null
expect 'damaged: says so' 1 'is damaged: ' "$store" check "$files/hurt.db"
saw 'damaged: says what to do' "heddle report '.*hurt\.db' --rescue "
expect 'damaged: whole runs are saved' 0 '^[1-9][0-9]* runs saved, [1-9][0-9]* lost' "$store" rescue "$files/hurt.db" "$files/saved.db"
is 'rescued: the rest is made again' "$store" make "$files/saved.db" 50
if command -v sqlite3 >/dev/null; then
    contents "$files/a.db" >"$scratch/whole"
    contents "$files/saved.db" >"$scratch/rescued"
    is 'rescued: as before the damage' cmp "$scratch/whole" "$scratch/rescued"
fi
if [ -x "$heddle" ] && "$heddle" report --help 2>&1 | grep -q rescue; then
    expect 'heddle report --rescue' 0 '' "$heddle" report "$files/hurt.db" --rescue "$files/saved2.db"
fi

# Two writers: the second one is refused while the first is at work, which is awaited by its lock.
"$store" make "$files/busy.db" 20000 &
writer=$!
while [ ! -s "$files/busy.db.lock" ] && kill -0 "$writer" 2>/dev/null; do :; done
expect 'second writer: refused' 1 "busy\.db is being written by process $writer on [^ ]+; wait for it, or use another file \(-o\)" "$store" make "$files/busy.db" 1
kill -9 "$writer"
wait "$writer" 2>/dev/null
is 'after kill -9: the lock is free' "$store" make "$files/busy.db" 1
expect 'after kill -9: the store is whole' 0 '^[0-9]+ runs$' "$store" check "$files/busy.db"
