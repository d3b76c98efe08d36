#!/bin/sh
# A folder of links to the programs that a bare Debian has once it has a compiler, and to no other:
#   PATH=$(sh tests/bare_path.sh FOLDER) ./heddle test
# A machine that has more (gnuplot, jq, a browser, clang) shows so what a test needs beside what `./heddle test` installs.
# FOLDER is made, and printed.
set -u
folder=${1:?'bare_path.sh: which folder?'}
command -v dpkg-query >/dev/null 2>&1 || {
    echo 'bare_path.sh: this is not a Debian system' >&2
    exit 1
}
mkdir -p "$folder" || exit 1
folder=$(cd "$folder" && pwd -P)

# What every Debian has, and what `./heddle` installs to build with.
{
    dpkg-query -W -f '${Package}\t${Essential}\t${Priority}\n' | awk -F '\t' '$2 == "yes" || $3 == "required" { print $1 }'
    dpkg-query -W -f '${Package}\n' gcc 'gcc-[0-9]*' cpp 'cpp-[0-9]*' 'binutils*' make libc-dev-bin 2>/dev/null |
        grep -Ex 'gcc|gcc-[0-9]+|cpp|cpp-[0-9]+|binutils|binutils-[a-z0-9-]+-linux-gnu|make|libc-dev-bin'
} | xargs dpkg-query -L | grep -E '^(/usr)?/s?bin/[^/]+$' | sort -u | while read -r program; do
    [ ! -x "$program" ] || ln -sf "$program" "$folder/${program##*/}"
done
# Names that a package does not list, since several could have them.
for pair in awk:mawk cc:gcc which:which.debianutils; do
    if [ -e "$folder/${pair#*:}" ]; then ln -sf "$folder/${pair#*:}" "$folder/${pair%:*}"; fi
done
echo "$folder"
