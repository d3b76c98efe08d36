# shellcheck shell=sh
# Modules with very many functions, and with calls that are very deep: loading takes time in proportion, and no stack.
# Left out of second builds: no compiler changes what is printed.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
header='.version 7.0\n.target sm_70\n.address_size 64\n'
functions() { # COUNT: none of which anybody calls
    awk -v n="$1" -v header="$header" 'BEGIN {
        printf header
        for (i = 0; i < n; i++)
            printf ".func (.param .b32 r) f%d(.param .b32 a)\n{\n.reg .b32 %%r<3>;\nld.param.u32 %%r1, [a];\nadd.u32 %%r2, %%r1, %d;\nst.param.b32 [r], %%r2;\nret;\n}\n", i, i
        printf ".visible .entry k(.param .u64 p)\n{\nret;\n}\n"
    }'
}
kernels() { # COUNT: each calls the same function
    awk -v n="$1" -v header="$header" 'BEGIN {
        printf header ".func f()\n{\nret;\n}\n"
        for (i = 0; i < n; i++) printf ".visible .entry k%d(.param .u64 p)\n{\ncall.uni f;\nret;\n}\n", i
        printf ".visible .entry k(.param .u64 p)\n{\ncall.uni f;\nret;\n}\n"
    }'
}
chain() { # COUNT: each calls the next; the last one calls FIRST, where there is one
    awk -v n="$1" -v first="${2:-}" -v header="$header" 'BEGIN {
        printf header
        for (i = 0; i < n; i++) printf ".func f%d();\n", i
        for (i = 0; i < n; i++) {
            printf ".func f%d()\n{\n.local .b32 room;\n.reg .pred %%p;\nsetp.ne.u32 %%p, 0, 0;\n", i
            if (i + 1 < n) printf "call.uni f%d;\n", i + 1
            else if (first) printf "@%%p call.uni %s;\n", first
            printf "ret;\n}\n"
        }
        printf ".visible .entry k(.param .u64 p)\n{\ncall.uni f0;\nret;\n}\n"
    }'
}
limited() { # COMMAND...: with a stack of 1 MB; sanitizers need more for themselves
    (
        # shellcheck disable=SC3045 # the shells that run this have it
        [ -n "${TEST_SHORT:-}" ] || ulimit -s 1024
        timeout 60 "$@"
    )
}
seconds() { # COMMAND...: of processor time
    (
        "$@" >/dev/null 2>&1
        times
    ) | awk 'NR == 2 { split($1, t, "m"); split($2, u, "m"); print t[1] * 60 + t[2] + u[1] * 60 + u[2] }'
}

few=5000 many=40000
if [ -n "${TEST_SHORT:-}" ]; then few=1000 many=8000; fi
for what in functions kernels; do
    $what $few >"$scratch/few.ptx"
    $what $many >"$scratch/many.ptx"
    expect "$many $what" 0 '^0$' timeout 60 "$heddle" run --functional --quiet "$ptx_run" "$scratch/many.ptx" k
    a=$(seconds "$heddle" run --functional --quiet "$ptx_run" "$scratch/few.ptx" k)
    b=$(seconds "$heddle" run --functional --quiet "$ptx_run" "$scratch/many.ptx" k)
    echo "note $few $what take $a s, $many take $b s"
    # Eight times as many: 64 times as long, if it were the square.
    is "$what: time in proportion" awk -v a="$a" -v b="$b" 'BEGIN { exit !(b < 24 * (a + 0.02)) }'
done
chain 16000 >"$scratch/chain.ptx"
expect 'a chain of calls' 0 '^0$' limited "$heddle" run --functional --quiet "$ptx_run" "$scratch/chain.ptx" k
expect 'a chain of calls, with time' 0 '^0$' limited "$heddle" run --quiet "$ptx_run" "$scratch/chain.ptx" k
expect 'a chain of calls: inspect' 0 '^k +kernel' limited "$heddle" inspect --kernel k "$scratch/chain.ptx"
chain 16000 f0 >"$scratch/ring.ptx"
expect 'a ring of calls' 0 '^0$' limited "$heddle" run --functional --quiet "$ptx_run" "$scratch/ring.ptx" k
