# shellcheck shell=bash
# Completion for bash: source this file, or install it as share/bash-completion/completions/heddle (make install does).
# Everything comes from the command itself: commands and options from --help, names from 'heddle list WHAT --names'.

_heddle_options() { # COMMAND: its options
    "$1" "$2" --help 2>/dev/null | grep -oE '(^| |,)--?[a-zA-Z][a-z-]*' | tr -d ' ,' | sort -u
}

_heddle_values() { # HEDDLE PREVIOUS-WORD: what may follow it; status 1: it is no option with a known value
    case $2 in
    -m | --machine) "$1" list machines --names ;;
    -s | --scheduler) "$1" list schedulers --names ;;
    --l1) "$1" list l1 --names ;;
    --divergence) "$1" list divergence --names ;;
    --probe) "$1" list probes --names ;;
    -p | --policies) "$1" list bundles --names ;;
    --size) printf 'test\nsmall\npaper\n' ;;
    --engine) printf 'local\nslurm\n' ;;
    *) return 1 ;;
    esac
}

_heddle_arguments() { # HEDDLE COMMAND: names that are no files
    case $2 in
    run | doctor | inspect | compare | schedule) "$1" list workloads --names ;;
    sweep | robust) "$1" list experiments --names ;;
    repro) printf 'all\n' && "$1" list experiments --names ;;
    machine) printf 'show\ndiff\n' && "$1" list machines --names ;;
    list) "$1" list --help | sed -n 's/^  \([a-z0-9]*\)  .*/\1/p' ;;
    esac
}

_heddle() {
    local heddle=${COMP_WORDS[0]} command=${COMP_WORDS[1]} word=$2 previous=$3 words
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        words=$("$heddle" --help 2>/dev/null | sed -n 's/^  \([a-z]*\) .*/\1/p')
    elif words=$(_heddle_values "$heddle" "$previous" 2>/dev/null); then
        : # the value of an option
    elif [ "${word#-}" != "$word" ]; then
        words=$(_heddle_options "$heddle" "$command")
    else
        words=$(_heddle_arguments "$heddle" "$command" 2>/dev/null)
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o filenames -F _heddle heddle ./heddle
