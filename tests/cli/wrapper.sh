#!/bin/sh
# shellcheck disable=SC2016 # sh -c expands for itself
# The ./heddle wrapper and make install.
. tests/cli/lib.sh
case $build in
build) ;;
*) exit 0 ;; # the wrapper and the installation are the same in all builds
esac

expect 'wrapper' 0 '^heddle [0-9.]+$' ./heddle --version
ln -s "$PWD/heddle" "$scratch/link"
expect 'wrapper through a link, from another folder' 0 '^heddle [0-9.]+$' sh -c 'cd / && exec "$1" --version' sh "$scratch/link"
expect 'wrapper passes the exit code on' 2 "no command 'rnu'" ./heddle rnu
expect 'wrapper finds workloads' 0 'match the reference' sh -c 'cd "$1" && ./link run --functional --size test vectoradd' sh "$scratch"

# Packages missing: a compiler that finds no header stands for that.
mkdir "$scratch/fake"
printf '#!/bin/sh\ncat >/dev/null\nexit 1\n' >"$scratch/fake/none" && chmod +x "$scratch/fake/none"
expect 'wrapper names missing packages' 1 'needed:.*libjansson-dev.*libinih-dev.*libzstd-dev.*liblz4-dev' \
    env HEDDLE_NO_INSTALL=1 CC="$scratch/fake/none" BUILD="$scratch/fresh build" ./heddle --version
saw 'wrapper says how to install them' 'apt-get install'

is 'make install' make -s install DESTDIR="$scratch/root" PREFIX=/usr
expect 'installed: version' 0 '^heddle [0-9.]+$' "$scratch/root/usr/bin/heddle" --version
expect 'installed: a workload' 0 'match the reference' "$scratch/root/usr/bin/heddle" run --functional --size test vectoradd
expect 'installed: machines' 0 '^gtx480' "$scratch/root/usr/bin/heddle" list machines
expect 'installed: machine by name' 0 'match the reference' "$scratch/root/usr/bin/heddle" run --functional -m gtx480 --size test vectoradd
