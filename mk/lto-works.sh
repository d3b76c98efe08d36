#!/bin/sh
# Prints "yes" where the compiler is gcc and links with -flto: sh mk/lto-works.sh FOLDER COMPILER... Some gccs compile
# such objects and cannot link them. The answer is kept in FOLDER, if that is there.
kept=$1/lto
shift
if [ -f "$kept" ]; then
    cat "$kept"
    exit
fi
answer=
case $("$@" --version 2>/dev/null | head -n 1) in
*clang* | '') ;;
*)
    scratch=$(mktemp -d) || exit 0
    echo 'int main(void) { return 0; }' >"$scratch/one.c"
    if "$@" -flto=auto -ffat-lto-objects -c "$scratch/one.c" -o "$scratch/one.o" 2>/dev/null &&
        "$@" -flto=auto "$scratch/one.o" -o "$scratch/one" 2>/dev/null; then answer=yes; fi
    rm -rf "$scratch"
    ;;
esac
echo "$answer"
[ ! -d "$(dirname "$kept")" ] || echo "$answer" >"$kept"
