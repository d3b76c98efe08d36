#!/bin/sh
# Compiled kernels with time: sh tests/compiled/timed.sh BUILD, from the repository's root. Clusters of thread blocks have
# no timing model: their kernels are refused, which is not counted. The last line is 'N passed, N failed'.
set -u
"$1/tests/compiled" check tests/compiled/recorded.txt tests/compiled/ptx 2>&1 | awk '
    /^FAILED .* cluster_/ && refused { known++; refused = 0; next }
    /clusters of thread blocks have no timing model/ { refused = 1 }
    /^[0-9]+ passed, [0-9]+ failed/ { bad = $3 - known; printf "%d passed, %d failed\n", $1, bad; done = 1; next }
    { print }
    END { exit !done || bad > 0 }'
