# shellcheck shell=sh disable=SC2016
# What Slurm is given is data: names of files, of folders, of partitions and accounts, with line breaks, quotes and dollars in
# them, never become a command of the script. With --dry-run, whose script is then run, and with an sbatch of our own.
# Left out of builds with sanitizers: it is about the words of a shell.
# Left out of second builds: it is about the words of a shell.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
case $heddle in /*) ;; *) heddle=$PWD/$heddle ;; esac
mkdir "$scratch/bin"
cat >"$scratch/bin/sbatch" <<'END'
#!/bin/sh
for word; do script=$word; done
for word; do
    case $word in
    --array=1-*) tasks=${word#--array=1-} ;;
    --output=*) printf '%s\n' "$word" >>"$SEEN" ;;
    esac
done
for task in $(seq "$tasks"); do SLURM_ARRAY_TASK_ID=$task sh "$script" >>"$SEEN" 2>&1; done
echo 7
END
printf '#!/bin/sh\n' >"$scratch/bin/squeue"
printf '#!/bin/sh\necho MaxArraySize = 100\n' >"$scratch/bin/scontrol"
chmod +x "$scratch"/bin/*
SEEN=$scratch/seen
export SEEN
slurm() { PATH=$scratch/bin:$PATH timeout 60 "$heddle" sweep "$scratch/one.ini" --engine slurm "$@"; }
printf '[experiment]\nsize = test\n[programs]\nvectoradd\n[schedulers]\ngto\n' >"$scratch/one.ini"
clean() { # NAME: no command that stood in a name was run
    is "$1: nothing was run" test -z "$(find "$scratch" -name 'PWNED*')"
    rm -f "$scratch"/PWNED* PWNED*
}
newline='
'
number=0
for store in "x${newline}touch PWNED${newline}.db" "x';touch PWNED;'.db" 'x$(touch PWNED)`touch PWNED`.db' "x${newline}#SBATCH --uid=0${newline}.db" \
    'x";touch PWNED;".db' "$(printf 'x\rtouch PWNED\r.db')" '-x touch PWNED.db' 'x%a\.db'; do
    number=$((number + 1))
    mkdir "$scratch/$number"
    cd "$scratch/$number" || exit 1
    expect "name $number: dry run" 0 'Nothing was submitted' slurm -o "$store" --dry-run
    cp "$out" script.sh
    # Every line but those of the last command is a comment.
    is "name $number: comments in front of the command" awk '/^exec / { exit } !/^#/ && NR > 1 { bad = 1 } END { exit bad }' script.sh
    SLURM_ARRAY_TASK_ID=1 sh script.sh >/dev/null 2>&1
    clean "name $number, the script"
    expect "name $number: a sweep" 0 '^1 run done' slurm -o "$store"
    clean "name $number, the sweep"
    expect "name $number: its results" 0 'nothing to do' slurm -o "$store"
    cd "$OLDPWD" || exit 1
done
is 'the option reached sbatch whole' grep -q 'touch PWNED' "$SEEN"

# The folder that we are in, and where heddle lies.
folder="$scratch/in${newline}touch PWNED${newline}"
mkdir "$folder"
(cd "$folder" && expect 'a folder: a sweep' 0 '^1 run done' slurm)
clean 'a folder'

# What can have no line break is refused.
for option in partition account slurm-time slurm-memory; do
    expect "--$option with a line break" 2 "--$option is given a value with a line break" slurm "--$option" "a${newline}touch PWNED" --dry-run
    expect "--$option with quotes" 0 "^#SBATCH '--[a-z]*=a'.'';touch PWNED'" slurm "--$option" "a';touch PWNED" --dry-run
    clean "--$option"
done
expect 'from the environment' 2 'is given a value with a line break' env HEDDLE_SLURM_ACCOUNT="a${newline}touch PWNED" PATH="$scratch/bin:$PATH" \
    "$heddle" sweep "$scratch/one.ini" --engine slurm --dry-run
