#!/bin/sh
# Which targets of `make bench` are missed: sh bench/judge.sh PART MEASURED [KNOWN], from the repository's root. PART is
# functional or timed; MEASURED is a file with lines 'NAME SPEED TARGET' in kWI/s (a dash where there is no target); KNOWN is
# the list of known misses (bench/known-misses). The exit status is 1 for a miss that is not in the list, and for a line
# of the list that is not true: another target than that of the benchmark, or a name that was not measured. A known miss
# is named, and so is one whose target is met again.
set -u
part=$1 measured=$2 known=${3:-bench/known-misses}
awk -v part="$part" -v known="$known" '
    function say(text) { print "bench: " text }
    function what(name) { return (part == "timed" ? "with time, " : "functional mode, ") name }
    /^#/ || !NF { next }
    FILENAME == known {
        if ($1 != part) next
        target[$2] = $3; speed[$2] = $4; why[$2] = $0
        sub(/^[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ */, "", why[$2])
        next
    }
    { seen[$1] = 1 }
    $3 != "-" {
        says = sprintf("%s: %.0f kWI/s, target %s", what($1), $2, $3)
        missed = $2 + 0 < $3 + 0
        if ($1 in target && target[$1] != $3) { say(known " gives another target for " what($1) ": " target[$1] ", not " $3); bad = 1 }
        else if (missed && $1 in target) say("known miss: " says "; listed with " speed[$1] ": " why[$1])
        else if (missed) { say("NEW MISS: " says); bad = 1 }
        else if ($1 in target) say("met again: " says "; its line in " known " can go")
    }
    END {
        for (name in target) if (!(name in seen)) { say(known " names what was not measured: " what(name)); bad = 1 }
        exit bad
    }' "$known" "$measured"
