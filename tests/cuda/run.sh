#!/bin/sh
# Runs the CUDA programs of this folder: sh tests/cuda/run.sh BUILD, from the repository's root. With nvcc, each is compiled, once as long as nothing of it changes, and run in functional
# mode and with time; the outputs must agree. Without nvcc this is left to the recorded programs (recorded/), which a C compiler can build.
# Uses nvcc: compiling the programs.
#
# Of a source's first lines: '// nvcc: FLAGS', one a variant, all with the same output; '// modes: functional' for what has no timing model; '// exit: CODE' where `heddle run` ends with
# another code than 0, as it does when a kernel did something illegal, whatever the program makes of it; '// cost: high' for what is run once where several
# builds are tested (TEST_SECOND) and not under sanitizers, '// cost: highest' for what takes half a minute to compile and is run by make soak alone; see compile.sh for the rest. TEST_CUDA_CACHE: where compiled programs are kept, to share them between builds.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh

cache=${TEST_CUDA_CACHE:-$build/tests/cuda}
jobs=$(nproc 2>/dev/null || echo 2)

if ! command -v nvcc >/dev/null 2>&1; then
    echo 'note nvcc is not here: CUDA programs are tested as recorded ones only'
    exit 0
fi

values() { sed -n "s|^// $1: *||p" "$2"; }
variants() { count=$(grep -c "^// nvcc:" "$1"); if [ "$count" = 0 ]; then echo 1; else echo "$count"; fi; }
costly() { [ -n "$(values cost "$1")" ]; }
wanted() {
    case $(values cost "$1") in
    '') true ;;
    high) [ -z "${TEST_SECOND:-}" ] ;;
    *) [ "${TEST_WORKLOADS:-all}" = every ] ;;
    esac
}

# A program's place in the cache has the sum of all that it is made of.
compiler=$(nvcc --version)
place() { # source, variant
    sum=$({ echo "$compiler"; cat "$1" tests/cuda/*.h tests/cuda/compile.sh; [ -z "$(values parts "$1")$(values library "$1")" ] || cat tests/cuda/parts/*; } | cksum | cut -d ' ' -f 1)
    echo "$cache/$(basename "$1" .cu).$2-$sum"
}

# Compiling is what this test costs. All variants are compiled of every third source that has several, of the others the
# first alone, and under sanitizers of all; make soak compiles everything.
list=$scratch/list
with_variants=0
for source in tests/cuda/*.cu; do
    wanted "$source" || continue
    most=$(variants "$source")
    if [ "$most" -gt 1 ]; then
        with_variants=$((with_variants + 1))
        if [ "${TEST_WORKLOADS:-all}" != every ] && [ $((with_variants % 3)) != 1 ]; then most=1; fi
        if [ -n "${TEST_SHORT:-}" ]; then most=1; fi
    fi
    variant=1
    while [ "$variant" -le "$most" ]; do
        echo "$source $variant $(place "$source" "$variant")" >>"$list"
        variant=$((variant + 1))
    done
done

# The costly ones first, so that none is left alone at the end. Quoted for xargs: the cache may lie in a folder with a blank.
while read -r source variant program; do
    [ -e "$program" ] || if costly "$source"; then echo "0 $source $variant \"$program\""; else echo "1 $source $variant \"$program\""; fi
done <"$list" | sort | cut -d ' ' -f 2- | xargs -r -P "$jobs" -L 1 sh tests/cuda/compile.sh

# Into a program that was not built with sanitizers, a library that was comes only after the sanitizer itself.
sanitizer=
if [ -n "${TEST_SHORT:-}" ]; then sanitizer=$(gcc -print-file-name=libasan.so); fi
start() { # mode, program
    case $1 in functional) options=--functional ;; *) options="-m $1" ;; esac
    # shellcheck disable=SC2086 # options are words
    if [ -n "$sanitizer" ]; then
        HEDDLE_OPTIONS="$options --quiet" LD_PRELOAD="$sanitizer" LD_LIBRARY_PATH="$build/lib" ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0 timeout 300 "$2"
    else
        timeout 120 "$heddle" run $options --quiet "$2"
    fi
}

try() { # name, mode, program
    start "$2" "$3" >"$scratch/stdout" 2>"$scratch/stderr"
    status=$?
    [ -e "$scratch/reference" ] || cp "$scratch/stdout" "$scratch/reference" # the first variant's in functional mode
    if [ "$status" = "$expected" ] && ! grep -q '^FAILED' "$scratch/stdout"; then
        if cmp -s "$scratch/reference" "$scratch/stdout"; then echo "ok $1"; else
            echo "FAILED $1: other output than the first variant's in functional mode"
            diff "$scratch/reference" "$scratch/stdout" | head -n 20 | sed 's/^/    | /'
        fi
    else
        echo "FAILED $1: exit code $status"
        cat "$scratch/stdout" "$scratch/stderr" | grep -v '^ok ' | head -c 3000 | sed 's/^/    | /'
    fi
}

while read -r source variant program; do
    name=$(basename "$source" .cu)
    if [ "$variant" = 1 ]; then title=$name; else title="$name, variant $variant"; fi
    if [ ! -x "$program" ]; then
        echo "FAILED $title: does not compile"
        head -c 3000 "$program.log" | sed 's/^/    | /'
        continue
    fi
    expected=$(values exit "$source")
    expected=${expected:-0}
    if [ -n "$sanitizer" ]; then expected=0; fi # the program's own
    if [ "$variant" = 1 ]; then rm -f "$scratch/reference"; fi
    try "$title: functional" functional "$program"
    case $(values modes "$source") in *functional*) continue ;; esac
    if [ "$variant" != 1 ] || [ -n "${TEST_SHORT:-}" ]; then continue; fi
    try "$title: gtx480" gtx480 "$program"
    case $name in # some launches with time, others without
    dynamic_parallelism | graphs_capture | many_kernels | streams) some='--launch 0,2-' ;;
    profiler_region) some=--region ;;
    templates) some='--kernel scale --kernel fold<int* --kernel (anonymous?namespace)::name' ;;
    *) continue ;;
    esac
    try "$title: gtx480 $some" "gtx480 $some" "$program"
done <"$list"
