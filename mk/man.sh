#!/bin/sh
# The manual page, on standard output, from the texts of --help: sh mk/man.sh HEDDLE VERSION.
set -u
heddle=$1 version=$2

# A help text as roff: options and other pairs of columns are tagged paragraphs, what is indented far goes on with them.
to_roff() {
    awk '
    function roff(s) { gsub(/\\/, "\\e", s); gsub(/-/, "\\-", s); sub(/^\./, "\\\\\\&.", s); sub(/^\x27/, "\\\\\\&\x27", s); return s }
    /^Usage: / || usage && /^ +heddle / { sub(/^Usage: /, ""); sub(/^ +/, ""); print usage ? ".br" : ".PP"; print "\\fB" roff($0) "\\fR"; usage = 1; next }
    usage { print ".PP"; usage = 0 }
    /^ *$/ { print ".PP"; next }
    /^  / {
        text = $0; sub(/^ +/, "", text)
        indent = length($0) - length(text)
        if (indent <= 6 && match(text, /  +/)) {
            print ".TP"; print "\\fB" roff(substr(text, 1, RSTART - 1)) "\\fR"; rest = substr(text, RSTART + RLENGTH); gsub(/   +/, ": ", rest); print roff(rest)
        } else print roff(text)
        next
    }
    { print roff($0) }'
}

printf '.TH HEDDLE 1 "" "Heddle %s" "Heddle"\n.SH NAME\nheddle \\- cycle-level GPU simulator that runs CUDA programs and PTX\n' "$version"
printf '.SH SYNOPSIS\n.B heddle\n.I COMMAND\n.RI [ ARGUMENTS ]\n.SH DESCRIPTION\n'
"$heddle" --help | to_roff
for command in $("$heddle" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    printf '.SH HEDDLE %s\n' "$(printf %s "$command" | tr '[:lower:]' '[:upper:]')"
    "$heddle" "$command" --help | to_roff
done
