#!/bin/sh
# Events measure simulated time, to the cycle; cuProfilerStart and cuProfilerStop choose the launches that stand in the results.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
regions=$build/tests/cli/regions

run() { # STEPS OPTION...: times go to $scratch/times, results to $scratch/stats.json
    steps=$1
    shift
    "$heddle" run --quiet --stats "$scratch/stats.json" "$@" "$regions" "$ptx/fine.ptx" "$steps" >"$scratch/times"
}
value() { "$json_check" "$scratch/stats.json" "$1"; }
launches() { value kernels | grep -o '"partial"' | wc -l | tr -d ' '; }
equal() { # NAME A B
    if [ -n "$2" ] && [ "$2" = "$3" ]; then echo "ok $1"; else echo "FAILED $1: '$2' and '$3'"; fi
}
cycles() { # FIRST LAST: of the launches of that range
    sum=0
    for i in $(seq "$1" "$2"); do sum=$((sum + $(value "kernels.$i.cycles"))); done
    echo "$sum"
}

for machine in gtx480 ccws; do
    is "$machine: times are whole cycles" run lelelleclee -m "$machine"
    equal "$machine: one launch" "$(sed -n 1p "$scratch/times")" "$(cycles 1 1)"
    equal "$machine: two launches" "$(sed -n 2p "$scratch/times")" "$(cycles 2 3)"
    equal "$machine: a copy takes no simulated time" "$(sed -n 3p "$scratch/times")" "$(cycles 4 4)"
    equal "$machine: neither does nothing" "$(sed -n 4p "$scratch/times")" 0
done
is 'another clock' run lele -m gtx480 --set clock.core_mhz=1234
equal 'another clock: to the cycle' "$(sed -n 1p "$scratch/times")" "$(cycles 1 1)"

# STEPS, and which of its launches are reported: by their order among all.
for mode in --functional '-m gtx480'; do
    while read -r steps reported; do
        # shellcheck disable=SC2086 # options are words
        is "$mode $steps: it runs" run "$steps" $mode
        equal "$mode $steps: launches reported" "$(launches)" "$reported"
        is "$mode $steps: the total is their sum" "$json_check" "$scratch/stats.json"
    done <<-STEPS
	lll 3
	lslplll 1
	slllp 3
	lpll 1
	lplslp 2
	sslppl 1
	lslplslls 3
	p 0
	lls 0
	STEPS
done

# Which ones: cycles tell the first launch, which finds the caches empty, from later ones.
run llll -m gtx480
first=$(value kernels.0.cycles) third=$(value kernels.2.cycles)
run llslpl -m gtx480
equal 'the launch inside is the one reported' "$(value kernels.0.cycles)" "$third"
equal 'the total has nothing else' "$(value total.cycles)" "$third"
run lpl -m gtx480
equal 'before a stop: the launch is reported' "$(value kernels.0.cycles)" "$first"
