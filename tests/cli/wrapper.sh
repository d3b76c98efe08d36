#!/bin/sh
# shellcheck disable=SC2016 # sh -c expands for itself
# The ./heddle wrapper and make install.
# Left out of builds with sanitizers: the wrapper and the installation are the same in all builds.
# Left out of second builds: the wrapper and the installation are the same in all builds.
. tests/cli/lib.sh
export BUILD="$build"

./heddle --version >/dev/null 2>&1
expect 'what is built is not built again' 1 '' sh -c './heddle --version 2>&1 | grep building'
expect 'wrapper' 0 '^heddle [0-9.]+ ' ./heddle --version
ln -s "$PWD/heddle" "$scratch/link"
expect 'wrapper through a link, from another folder' 0 '^heddle [0-9.]+ ' sh -c 'cd / && exec "$1" --version' sh "$scratch/link"
expect 'wrapper passes the exit code on' 2 "no command 'rnu'" ./heddle rnu
expect 'wrapper finds workloads' 0 'match the reference' sh -c 'cd "$1" && ./link run --functional --size test vectoradd' sh "$scratch"

# Packages missing: a compiler that finds no header stands for that, and an apt-get of our own mends it.
fake=$scratch/fake
mkdir -p "$fake/bin" "$scratch/fresh build/bin"
tool() {
    { echo '#!/bin/sh' && cat; } >"$fake/bin/$1" && chmod +x "$fake/bin/$1"
}
tool compiler <<END
cat >/dev/null
test -e "$fake/installed"
END
tool apt-get <<END
echo "\$*" >>"$fake/log"
case \$1 in
update) : >"$fake/updated" ;;
install) test -e "$fake/updated" && : >"$fake/installed" ;;
esac
END
echo 'exit 0' | tool make
echo 'echo 0' | tool id
printf '#!/bin/sh\necho started "$@"\n' >"$scratch/fresh build/bin/heddle" && chmod +x "$scratch/fresh build/bin/heddle"
fresh() { env PATH="$fake/bin:$PATH" CC="$fake/bin/compiler" BUILD="$scratch/fresh build" "$@"; }

# A gcc that makes objects for link-time optimisation, and cannot link them.
tool no-lto <<END
case \$* in
*--version*) echo 'gcc (somebody) 13.3.0' ;;
*-flto*-c*) : >"\$(echo "\$*" | sed 's/.* //')" ;;
*) exit 1 ;;
esac
END
expect 'link-time optimisation is left out where it does not link' 0 '^$' sh mk/lto-works.sh "$scratch/nowhere" "$fake/bin/no-lto"
echo 'echo gcc 13; exit 0' | tool with-lto
expect 'and asked for where it does' 0 '^yes$' sh mk/lto-works.sh "$scratch/nowhere" "$fake/bin/with-lto"

expect 'packages: named when they may not be installed' 1 'needed:.*libjansson-dev.*libinih-dev.*libzstd-dev.*liblz4-dev' fresh env HEDDLE_NO_INSTALL=1 ./heddle --version
saw 'packages: how to install them' 'apt-get install'
expect 'packages: nothing was installed' 1 '' test -e "$fake/log"
expect 'packages: installed, the list refreshed where that is needed' 0 'installing Debian packages:.* libjansson-dev' fresh ./heddle one two
saw 'packages: then the command runs' '^started one two$'
is 'packages: apt-get was asked' grep -q 'install .*libjansson-dev' "$fake/log"
rm -f "$fake/log"
expect 'packages: all there the next time' 0 '^started$' fresh ./heddle
expect 'packages: nothing more was installed' 1 '' test -e "$fake/log"

is 'make install' make -s install BUILD="$build" DESTDIR="$scratch/root" PREFIX=/usr
expect 'installed: version' 0 '^heddle [0-9.]+ ' "$scratch/root/usr/bin/heddle" --version
expect 'installed: a workload' 0 'match the reference' "$scratch/root/usr/bin/heddle" run --functional --size test vectoradd
is 'installed: the manual page' grep -q '^.TH HEDDLE 1' "$scratch/root/usr/share/man/man1/heddle.1"
is 'installed: completion' test -s "$scratch/root/usr/share/bash-completion/completions/heddle"
expect 'installed: machines' 0 '^gtx480' "$scratch/root/usr/bin/heddle" list machines
expect 'installed: machine by name' 0 'match the reference' "$scratch/root/usr/bin/heddle" run --functional -m gtx480 --size test vectoradd
is 'make uninstall' make -s uninstall BUILD="$build" DESTDIR="$scratch/root" PREFIX=/usr
expect 'uninstalled: no file is left' 1 '' sh -c "find '$scratch/root' ! -type d | grep ."
