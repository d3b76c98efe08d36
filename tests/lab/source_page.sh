#!/bin/sh
# The source view of the report in a real browser: lines of a run with the text of their source, hot ones first, sorted by clicks, chosen from a list or from a row of the table of runs; readable on a phone
# and in the dark. Leaves BUILD/source-*.png. Run as `sh tests/lab/source_page.sh BUILD`.
# Left out of builds with sanitizers: daemons and browsers are asked once.
# Left out of second builds: daemons and browsers are asked once.
# Uses chromium, chromedriver, curl, jq: the source view in a browser.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
# shellcheck source=tests/lab/webdriver.sh
. tests/lab/webdriver.sh
trap 'stop_browser; rm -rf "$scratch"' EXIT
case $build in /*) export HEDDLE_MACHINES="${HEDDLE_MACHINES:-$PWD/machines}" ;; esac
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY

check() { # NAME EXPECTED SEEN
    if [ "$2" = "$3" ]; then echo "ok $1"; else printf 'FAILED %s\n    | expected: %s\n    | seen:     %s\n' "$1" "$2" "$3" | head -c 3000; fi
}

cat >"$scratch/lines.ini" <<'INI'
[experiment]
title = Lines
size = test
pcs = yes
probes = loads
[programs]
bfs
vectoradd
[machines]
ccws
[schedulers]
lrr
ccws
[figure speed]
kind = bars
x = program
y = ipc
series = scheduler
INI
store=$scratch/lines.db page=$scratch/lines.html
expect 'a sweep with pcs' 0 '' "$heddle" sweep "$scratch/lines.ini" -o "$store"
expect 'its report' 0 '^report ' "$heddle" report "$store" -o "$page"
source_data() { sed -n 's/.*<script type="application\/json" id="data">\(.*\)<\/script>$/\1/p' "$page" | jq -c "$1"; }
for tool in chromium chromedriver curl jq; do
    if ! command -v "$tool" >/dev/null 2>&1; then
        echo "note skipped: the source view in a browser ($tool is not installed: apt-get install chromium chromium-driver curl jq)"
        exit 0
    fi
done
check 'four runs have lines' 4 "$(source_data '.source.runs | length')"
check 'the text of the source is in the page' true "$(source_data '[.source.places[] | select(.file == "./workloads/bfs/bfs.cu" and .line == 23) | .text == "if (!visited[target]) {" and .source] | any')"
if ! start_browser; then
    echo 'FAILED the browser starts'
    exit 1
fi
set_width 1600 1200
is 'the page loads' open_page "$page"
check 'no complaint on the console' '' "$(console_errors)"
check 'the section is there' '"Source lines"' "$(evaluate 'return document.querySelector("#source h2").textContent')"
check 'runs by what differs' '["bfs · ccws","bfs · lrr","vectoradd · ccws","vectoradd · lrr"]' "$(evaluate 'return [...document.querySelectorAll("#source option")].map((o) => o.textContent).sort()')"
numbers() { evaluate "const head = [...document.querySelectorAll('.lines thead th')].findIndex((h) => h.dataset.column === '$1'); return [...document.querySelectorAll('.lines tbody tr')].map((row) => Number(row.children[head + 2].textContent.replace(/,/g, '')))"; }
click() { evaluate "document.querySelector('.lines th[data-column=\"$1\"] button').click(); return document.querySelector('.lines th[data-column=\"$1\"]').getAttribute('aria-sort')"; }
choose() { evaluate "const s = document.getElementById('source-run'); s.value = [...s.options].find((o) => o.textContent === '$1').value; s.dispatchEvent(new Event('change')); return document.querySelectorAll('.lines tbody tr').length"; }
check 'another run' 25 "$(choose 'bfs · lrr')"
waited=$(numbers stalled)
check 'hot lines first' "$(echo "$waited" | jq -c 'sort | reverse')" "$waited"
check 'the line with its text' '"if (!visited[target]) {"' "$(evaluate 'return [...document.querySelectorAll(".lines tbody tr")].find((row) => row.firstChild.textContent === "bfs.cu:23").children[1].textContent')"
check 'reasons in the bar' true "$(evaluate 'return /^memory [0-9]+%, [a-z ]+ [0-9]+%/.test([...document.querySelectorAll(".lines tbody tr")].find((row) => row.firstChild.textContent === "bfs.cu:23").querySelector(".heat").title)')"
check 'a click on a column: aria-sort' '"descending"' "$(click load_misses)"
misses=$(numbers load_misses)
check 'a click on a column sorts' "$(echo "$misses" | jq -c 'sort | reverse')" "$misses"
check 'the line that misses most' '"bfs.cu:22"' "$(evaluate 'return document.querySelector(".lines tbody td").textContent')"
check 'a second click turns it around' '"ascending"' "$(click load_misses)"
check 'columns of probes' true "$(evaluate 'return [...document.querySelectorAll(".lines th")].some((h) => h.dataset.column === "loads.misses")')"
check 'all lines' true "$(evaluate 'document.querySelector("#source .more").click(); return document.querySelectorAll(".lines tbody tr").length > 40')"
check 'from the row of a run' '["vectoradd",true]' "$(evaluate 'const row = [...document.querySelectorAll(".runs tbody tr.run")].find((r) => r.textContent.includes("vectoradd")); row.querySelector(".open").click(); row.nextSibling.querySelector(".to-source").click(); return [document.getElementById("source-run").selectedOptions[0].textContent.split(" ")[0], document.querySelector(".lines tbody").textContent.includes("vectoradd.cu")]')"
choose 'bfs · lrr' >/dev/null
settle='requestAnimationFrame(() => requestAnimationFrame(() => done(0)))'
for scheme in light dark; do
    set_scheme "$scheme"
    for width in 400 800 1600; do
        set_width "$width" 1000
        evaluate_later "document.documentElement.style.scrollBehavior = 'auto'; document.getElementById('source').scrollIntoView(); $settle" >/dev/null
        check "$width wide, $scheme: nothing is wider than the page" true "$(evaluate "return document.documentElement.scrollWidth <= $width")"
        is "$width wide, $scheme: a screenshot" screenshot "$build/source-$width-$scheme.png"
    done
done
check 'no complaint to the end' '' "$(console_errors)"

# A store without pcs has no such section.
sed 's/^pcs = yes$//; s/^probes = loads$//' "$scratch/lines.ini" >"$scratch/plain.ini"
"$heddle" sweep "$scratch/plain.ini" -o "$scratch/plain.db" >/dev/null 2>&1
"$heddle" report "$scratch/plain.db" -o "$page" >/dev/null 2>&1
open_page "$page"
check 'without pcs: no section' 'null' "$(evaluate 'return document.getElementById("source")')"
check 'without pcs: no complaint' '' "$(console_errors)"
