#!/bin/sh
# Kernels that try to leave their memory, to crash the process, or to make it use all of the host's. Each file of
# tests/cli/hostile says in its first lines how it is run and what must come of it, functionally and with time:
#   // name: where it is not the file's
#   // run: options of tests/cli/hostile.c
#   // exit: the exit code of heddle run
#   // says: a pattern of what is printed
#   // not: a pattern of what is not (may be left out)
# Short ones are paragraphs of hostile/snippets.txt, which become such files here.
# In a build with sanitizers a report of theirs is a failure as well. Each has 10 s of a processor and 2 GB.
# Left out of second builds: what a hostile kernel does to memory is seen with sanitizers.
. tests/cli/lib.sh

most_kb=2097152
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=0}" # a process that is ended by an error frees nothing
# shellcheck disable=SC3045 # dash, bash and busybox have it
limited() { (ulimit -t 10 && exec timeout 120 "$@"); }
field() { sed -n "s|^// $1: ||p" "$2"; }

attack() { # name, file, options of heddle run
    name=$1 file=$2
    shift 2
    code=$(field exit "$file") says=$(field says "$file") not=$(field not "$file")
    # shellcheck disable=SC2046 # words are wanted
    expect "$name" "$code" "$says" \
        limited "$heddle" run "$@" "$build/tests/cli/hostile" "$file" $(field run "$file")
    if grep -Eq 'Sanitizer|runtime error:' "$out" || { [ -n "$not" ] && grep -Eq -- "$not" "$out"; }; then
        echo "FAILED $name: printed what it must not"
        head -c 3000 "$out" | sed 's/^/    | /'
    fi
    peak=$(sed -n 's/^peak \([0-9]*\) KB$/\1/p' "$out")
    [ "${peak:-$((most_kb + 1))}" -le "$most_kb" ] || echo "FAILED $name: used ${peak:-an unknown number of} KB"
}

# Too long to be kept: a function of 3000 registers that are all alive calls itself.
deep=$scratch/recursion_registers.ptx
awk 'BEGIN {
    print "// run: --block 32\n// exit: 5\n// says: registers of [0-9]+ nested calls take [0-9]+ bytes"
    print ".version 7.8\n.target sm_90\n.address_size 64\n.func f() { .reg .b64 %x<3000>;"
    for (i = 0; i < 3000; i++) printf "mov.u64 %%x%d, %d;\n", i, i
    print "call f;"
    for (i = 0; i < 3000; i++) printf "add.u64 %%x%d, %%x%d, %%x%d;\n", i, i, (i + 1) % 3000
    print "ret; }\n.visible .entry k(.param .u64 a) { call f; ret; }"
}' >"$deep"

# CHAIN: functions with much local memory, each calling the one before. LIVE40, USE40: registers that are alive
# meanwhile.
awk -v folder="$scratch" '
function expand(line,    i, text) {
    if (line == "CHAIN")
        for (i = 1; i <= 40; i++)
            text = text sprintf(".func f%d() { .local .b8 l[1000000]; .reg .b32 %%r; " \
                                "st.local.u8 [l], %%r; call f%d; ret; }\n", i, i - 1)
    else
        text = line
    for (i = 0; i < 40; i++) live = live sprintf("mov.u64 %%x%d, %d; ", i, i)
    for (i = 0; i < 40; i++) use = use sprintf("add.u64 %%x%d, %%x%d, %%x%d; ", i, i, (i + 1) % 40)
    sub(/LIVE40/, live, text); sub(/USE40/, use, text)
    live = use = ""
    return text
}
function finish() {
    if (!name) return
    file = sprintf("%s/snippet%03d.ptx", folder, ++count)
    printf "// name: %s\n// run: %s\n// exit: %s\n// says: %s\n", name, options, code, says >file
    print ".version 8.3\n.target sm_90\n.address_size 64\n" before >file
    print ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 t2, .param .u64 t1," >file
    print ".param .u64 tm, .param .u64 s2, .param .u64 sl) {" >file
    print ".reg .b32 %r<40>; .reg .b64 %rd<40>; .reg .f32 %f<20>; .reg .b16 %h<8>; .reg .b128 %q<4>;" >file
    print ".reg .pred %p<8>; ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [t2];" >file
    print "ld.param.u64 %rd4, [t1]; ld.param.u64 %rd5, [tm]; ld.param.u64 %rd6, [s2]; ld.param.u64 %rd7, [sl];" >file
    print "mov.u64 %rd8, 0; mov.u64 %rd9, -1; mov.u32 %r8, 0; mov.u32 %r9, -1; mov.u32 %r1, %tid.x;" >file
    print body "ret; }" >file
    close(file)
}
/^#/ || /^$/ { next }
/^== / {
    finish()
    split(substr($0, 4), part, / [|] /)
    name = part[1]; code = part[2]; says = part[3]
    before = body = ""
    options = "--block 32"
    next
}
/^[+] / { before = before expand(substr($0, 3)) "\n"; next }
/^! / { options = substr($0, 3); next }
{ body = body $0 "\n" }
END { finish() }' tests/cli/hostile/snippets.txt

for file in tests/cli/hostile/*.ptx "$scratch"/*.ptx; do
    name=$(field name "$file")
    name=${name:-$(basename "$file" .ptx)}
    attack "$name" "$file" --functional
    attack "$name, with time" "$file"
done
