#!/bin/sh
# Rooms (folders of src/) stand on floors. An include or a call may go to a lower floor only; so there is no circle
# between rooms either. Run as `sh tests/rooms.sh [BUILD]` from the repository's root; with a build, its objects are
# asked what they call.
# shellcheck disable=SC2016 # awk's own $
set -u
build=${1:-}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# From the top down; docs/architecture.md says what each room knows. Rooms of one line do not know each other. `heddle` is
# include/heddle: the interface of policies, and of programs that embed the simulator; the table of metrics.
cat >"$work/floors" <<'END'
cli
sweep
figure robust
compare correlate
experiment lines
store program
replay schedule
cudart
cuda embed
results
gpu
model
sm
policy
mem
exec
ptx
base
heddle
END

# One line for each arrow: the file, its room, the room that the arrow goes to, what it goes to.
find src -name '*.[ch]' -o -name '*.def' | sort | xargs awk '
    FNR == 1 { split(FILENAME, here, "/") }
    /^[ \t]*#[ \t]*include[ \t]*"/ {
        split($0, quoted, "\"")
        split(quoted[2], there, "/")
        print FILENAME ":" FNR, here[2], there[1], quoted[2]
    }' >"$work/arrows"
# One file per policy, and each sees the interface alone.
awk '$1 ~ "^src/policy/.*/" && $3 != "heddle" { print $1 ": a policy includes " $4 }
    $4 == "heddle/policy.h" && $2 ~ /^(mem|exec|ptx|base)$/ { print $1 ": " $2 " is below policies" }
    # The model stands beside sm: it knows what sm.h says, and nobody knows the model.
    $2 == "model" && $3 == "sm" && $4 ~ /\.h$/ && $4 !~ "^sm/(sm|regroup)\\.h$" { print $1 ": the model includes " $4 }
    $2 != "model" && $3 == "model" { print $1 ": " $2 " includes " $4 }
    ' "$work/arrows" >"$work/wrong"

# Objects whose source is gone are left over from an older tree. "FILE: T name" defines, "FILE: U name" asks.
if [ -n "$build" ]; then
    find src -name '*.c' | sed "s|\(.*\)c\$|$build/obj/\1o|" | sort | xargs nm -A 2>/dev/null |
        sed "s|^$build/obj/||; s|\.o:|.c |" | awk '
        { split($1, here, "/"); kind = $(NF - 1) }
        kind ~ /^[TDBRVWC]$/ { home[$NF] = here[2] }
        kind == "U" { from[++n] = $1 " " here[2]; name[n] = $NF }
        END { for (i = 1; i <= n; i++) if (name[i] in home) print from[i], home[name[i]], name[i] }' >"$work/calls"
    [ -s "$work/calls" ] || echo "$build: no objects there" >>"$work/wrong"
    cat "$work/calls" >>"$work/arrows"
fi

awk 'NR == FNR { for (i = 1; i <= NF; i++) floor[$i] = NR; next }
    !($2 in floor) { print $1 ": room " $2 " is on no floor"; next }
    !($3 in floor) { print $1 ": " $4 " is in no room"; next }
    $2 != $3 && floor[$3] <= floor[$2] { print $1 ": " $2 " is not above " $3 ": " $4 }
    ' "$work/floors" "$work/arrows" >>"$work/wrong"
cat "$work/wrong"
arrows=$(awk '$2 != $3' "$work/arrows" | wc -l)
echo "$arrows arrows between rooms, $(wc -l <"$work/wrong") wrong"
[ "$arrows" -gt 0 ] && [ ! -s "$work/wrong" ]
