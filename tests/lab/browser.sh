#!/bin/sh
# The report in a real browser: it draws its figures without a complaint, sorts and filters its table, gives its figures as SVG and PNG, fits a phone, has a dark side, asks nobody for anything, and stays
# fast with ten thousand runs. Leaves BUILD/report-screenshot.png. Run as `sh tests/lab/browser.sh BUILD`.
# Left out of builds with sanitizers: daemons and browsers are asked once.
# Left out of second builds: daemons and browsers are asked once.
# Uses chromium, chromedriver, curl, jq: the report in a browser.
# Uses gnuplot, sqlite3, pdftotext: figures as PDF, ten thousand runs, what is printed.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
# shellcheck source=tests/lab/webdriver.sh
. tests/lab/webdriver.sh
trap 'stop_browser; rm -rf "$scratch"' EXIT
case $build in /*) export HEDDLE_MACHINES="${HEDDLE_MACHINES:-$PWD/machines}" ;; esac
# The driver is our own process, and page and browser are on this machine: no proxy has a part in it.
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY

check() { # NAME EXPECTED SEEN
    if [ "$2" = "$3" ]; then echo "ok $1"; else printf 'FAILED %s\n    | expected: %s\n    | seen:     %s\n' "$1" "$2" "$3" | head -c 3000; fi
}

# ------------------------------------------------------------- without a browser

cat >"$scratch/small.ini" <<'INI'
[experiment]
title = A <small> "experiment" & its </script>
about = Two programs under three schedulers — enough to draw every kind of figure.
size = test
probes = loads
[programs]
vectoradd
reduct
[machines]
gtx480
[schedulers]
lrr
gto
rr
[figure speed]
kind = bars
title = Speed
x = program
y = ipc
series = scheduler
normalise = scheduler=lrr
mean = geometric
y_title = IPC relative to lrr
source = nobody, nowhere
published.vectoradd = gto 1.02, rr 0.97
published.reduct = gto 1.01
expect = gto > rr
[figure stalls]
kind = stacked
title = Stalls
x = program
y = memory: stalls.memory, scoreboard: stalls.scoreboard, issued: stalls.issued
series = scheduler
y_title = warp cycles
[figure lines]
kind = lines
title = Lines
x = program
y = cycles
series = scheduler
y_title = cycles
[figure scatter]
kind = scatter
title = Scatter
x = cycles
y = ipc
series = program
x_title = cycles
y_title = IPC
[figure heat]
kind = heat
title = Heat
x = program
y = simd_utilization
series = scheduler
y_title = share of lanes
[figure instructions]
kind = stacked
title = Hits and misses of each load
x = pc
y = hit: loads.intra_warp_hits + loads.inter_warp_hits, miss: loads.misses
where = program=vectoradd scheduler=gto
[figure lanes]
kind = bars
title = Active lanes
x = bucket
series = scheduler
y = lanes
where = program=reduct
INI
store=$scratch/small.db page=$scratch/small.html
expect 'a sweep for the report' 0 '' "$heddle" sweep "$scratch/small.ini" -o "$store"
expect 'the last line says where the report is' 0 "report +$page\$" "$heddle" report "$store" -o "$page"
expect 'one figure alone' 0 '' "$heddle" report "$store" -o "$scratch/one.html" --figure heat
sed -n 's/.*<script type="application\/json" id="data">\(.*\)<\/script>$/\1/p' "$scratch/one.html" >"$scratch/one.json"
check 'one figure alone: it is the one' '"heat"' "$("$json_check" "$scratch/one.json" 'experiments.*.figures.*.name')"
expect 'an unknown figure' 2 "did you mean 'speed'" "$heddle" report "$store" -o "$page" --figure sped
expect 'an unknown experiment' 2 "did you mean 'small'" "$heddle" report "$store" -o "$page" --experiment smal
expect 'no store' 2 'no-such.db' "$heddle" report "$scratch/no-such.db"
head -c 20000 "$store" >"$scratch/damaged.db"
expect 'a damaged store' 2 'is damaged' "$heddle" report "$scratch/damaged.db"
expect 'a rescued store' 0 '^6 runs saved, 0 lost; 1 experiment' "$heddle" report "$store" --rescue "$scratch/rescued.db"
expect 'a rescued store has a report' 0 '^report ' "$heddle" report "$scratch/rescued.db"
expect 'a rescue overwrites nothing' 1 'rescued.db' "$heddle" report "$store" --rescue "$scratch/rescued.db"
expect 'no Vega: the package is named' 2 'apt-get install libjs-vega' env HEDDLE_VEGA="$scratch/nowhere" "$heddle" report "$store" -o "$scratch/none.html"
check 'no Vega: no page' 'none' "$(ls "$scratch/none.html" 2>/dev/null || echo none)"
expect 'a folder that is not there' 2 'cannot be written: No such file' "$heddle" report "$store" -o "$scratch/nowhere/report.html"
# Chromium needs no name of a file to fetch: what is in tags and styles, scripts aside, must point into the page.
sed '/^<script>$/,/^<\/script>/d; /<script type="application\/json"/d' "$page" >"$scratch/markup"
check 'no reference outside the page' '' "$(grep -oiE "(src|href|action|srcset) *= *[\"']?[^#\"' >][^\"' >]*|url\([^)]*\)|@import.*|<link[^>]*>" "$scratch/markup")"
if command -v gnuplot >/dev/null 2>&1; then
    expect 'PDF figures' 0 "pdf +$scratch/pdf" "$heddle" report "$store" -o "$page" --pdf "$scratch/pdf"
    check 'PDF figures: all seven' 7 "$(head -qc 5 "$scratch"/pdf/*.pdf | grep -o '%PDF-' | wc -l | tr -d ' ')"
    expect 'no gnuplot: the package is named' 2 'apt-get install gnuplot-nox' env PATH=/nonexistent "$heddle" report "$store" -o "$page" --pdf "$scratch/pdf"
else
    echo 'note skipped: PDF figures (gnuplot is not installed: apt-get install gnuplot-nox)'
fi

# ------------------------------------------------------------- in the browser

for tool in chromium chromedriver curl jq; do
    if ! command -v "$tool" >/dev/null 2>&1; then
        echo "note skipped: the report in a browser ($tool is not installed: apt-get install chromium chromium-driver curl jq)"
        exit 0
    fi
done
if ! start_browser; then
    echo 'FAILED the browser starts'
    cat "$scratch/driver.log" "$scratch/answer" 2>/dev/null | head -c 2000 | sed 's/^/    | /'
    exit 1
fi
set_width 1280 1600
is 'the page loads' open_page "$page"
check 'no complaint on the console' '' "$(console_errors)"
check 'the title is text' '"A <small> \"experiment\" & its </script>"' "$(evaluate 'return document.querySelector("h1").textContent')"
check 'seven figures' 7 "$(evaluate 'return document.querySelectorAll("figure").length')"
marks='return [...document.querySelectorAll("figure")].map((f) => f.dataset.figure + ":" + f.querySelectorAll(".plot .values > path").length).join(" ")'
drawn=$(evaluate "$marks")
check 'every figure has its marks' '"speed:9 stalls:18 lines:6 scatter:6 heat:6 instructions:2 lanes:99"' "$drawn"
check 'an instruction is its pc, and its text is in the tooltip' '[true,"hit","instruction",true]' "$(evaluate 'const f = heddle.data.experiments[0].figures[5], t = tip(f, f.cells[0], null); return [/^[0-9]+ · hit$/.test(t.title), f.cells[0].part, t.rows[1][0], /^line [0-9]+: ld\.global/.test(t.rows[1][1])]')"
check 'published values are drawn' 3 "$(evaluate 'return document.querySelectorAll("[data-figure=speed] .published_values path").length')"
check 'published values are in the table' '["1.02","0.970","1.01"]' "$(evaluate 'return [...document.querySelectorAll("[data-figure=speed] details.published tbody td:nth-child(3)")].map((c) => c.textContent)')"
check 'the page asked nobody' '[]' "$(evaluate 'return performance.getEntriesByType("resource").map((entry) => entry.name)')"

column() { evaluate "return [...document.querySelectorAll('.runs tbody tr.run')].map((row) => row.children[[...document.querySelectorAll('.runs thead th')].findIndex((h) => h.dataset.column === '$1') + 1].textContent.replace(/,/g, ''))"; }
click_head() { evaluate "document.querySelector('.runs th[data-column=$1] button').click(); return document.querySelector('.runs th[data-column=$1]').getAttribute('aria-sort')"; }
before=$(column cycles)
rising=$(printf '%s' "$before" | jq -c 'sort_by(tonumber)') falling=$(printf '%s' "$before" | jq -c 'sort_by(tonumber) | reverse')
check 'six runs, not sorted by cycles yet' 'true 6' "$([ "$before" != "$rising" ] && echo true) $(printf '%s' "$before" | jq length)"
check 'a click on a column: aria-sort' '"ascending"' "$(click_head cycles)"
check 'a click on a column sorts' "$rising" "$(column cycles)"
check 'a second click: aria-sort' '"descending"' "$(click_head cycles)"
check 'a second click turns it around' "$falling" "$(column cycles)"
filter() { evaluate "const f = document.getElementById('filter'); f.value = '$1'; f.dispatchEvent(new Event('input')); return document.querySelectorAll('.runs tbody tr.run').length"; }
check 'the filter keeps what matches' 2 "$(filter 'gto')"
check 'the filter: all words' 1 "$(filter 'GTO reduct')"
check 'the filter: nothing' 0 "$(filter 'nothing like this')"
check 'the filter: everything again' 6 "$(filter '')"
check 'a row opens to its command' true "$(evaluate 'document.querySelector(".runs .open").click(); return /^heddle run .*--size test/.test(document.querySelector(".runs .detail code").textContent)')"

svg='heddle.svg("speed").then((text) => { const parsed = new DOMParser().parseFromString(text, "image/svg+xml"); done([text.startsWith("<svg"), parsed.querySelectorAll("parsererror").length, parsed.querySelectorAll(".values path").length]); })'
check 'SVG: whole, with its marks' '[true,0,9]' "$(evaluate_later "$svg")"
png='heddle.png("heat").then((url) => { const image = new Image(); image.onload = () => done([url.startsWith("data:image/png"), image.width > 800 && image.height > 200]); image.onerror = () => done("no image"); image.src = url; })'
check 'PNG: an image of some size' '[true,true]' "$(evaluate_later "$png")"
saved='const saved = []; HTMLAnchorElement.prototype.click = function () { saved.push(this.download); if (saved.length === 2) done(saved.sort()); }; for (const b of document.querySelectorAll("[data-figure=speed] .save button")) b.click();'
check 'the buttons save files' '["small-speed.png","small-speed.svg"]' "$(evaluate_later "$saved")"
check 'still no complaint' '' "$(console_errors)"

# Hovering a bar, with a real mouse.
# Figures follow the page's width in an animation frame: two later all is drawn.
settle='requestAnimationFrame(() => requestAnimationFrame(() => done(0)))'
evaluate 'document.querySelector("[data-figure=speed]").scrollIntoView(); return 0' >/dev/null
# The browser may still be laying out what was scrolled to: the mouse is moved over the bar, from a corner each time, until the page answers.
tip='return [...document.querySelectorAll("#tip th")].slice(0, 3).map((c) => c.textContent)'
tries=0
seen='[]'
while [ "$seen" = '[]' ] && [ "$tries" -lt 100 ]; do
    place=$(evaluate 'const b = document.querySelector("[data-figure=speed] .values path:nth-child(2)").getBoundingClientRect(); return { type: "mouseMoved", x: b.x + b.width / 2, y: b.y + b.height / 2 }')
    devtools Input.dispatchMouseEvent '{"type": "mouseMoved", "x": 1, "y": 1}'
    devtools Input.dispatchMouseEvent "$place"
    evaluate_later "$settle" >/dev/null
    seen=$(evaluate "$tip")
    tries=$((tries + 1))
done
check 'a tooltip with value, published value and deviation' '["IPC relative to lrr","published","deviation"]' "$seen"

# Sizes and looks.
set_width 390 844
evaluate_later "$settle" >/dev/null
check 'a phone: nothing is wider than the page' '[true,[]]' "$(evaluate 'return [document.documentElement.scrollWidth <= 390, [...document.querySelectorAll("svg")].filter((s) => s.getBoundingClientRect().right > 390.5).map((s) => s.closest("figure").dataset.figure)]')"
check 'a phone: the figures are drawn' "$drawn" "$(evaluate "$marks")"
set_width 1280 1600
set_scheme dark
evaluate_later "$settle" >/dev/null
colours='return [document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor, document.querySelector("[data-figure=heat] svg text[fill]").getAttribute("fill")].join(" ")'
dark=$(evaluate "$colours")
check 'dark: page and figures' '"dark rgb(19, 21, 24) #a3aab4"' "$dark"
check 'dark: the figures are drawn' "$drawn" "$(evaluate "$marks")"
evaluate_later "document.getElementById('theme').click(); $settle" >/dev/null
check 'the button turns it light' '"light rgb(252, 252, 250) #5c636d"' "$(evaluate "$colours")"
set_scheme light
webdriver POST "/session/$session/print" '{}' && jq -r .value "$scratch/answer" | base64 -d >"$scratch/print.pdf"
check 'it prints' '%PDF-' "$(head -c 5 "$scratch/print.pdf" 2>/dev/null)"
# On paper all that is folded is open and filled: values, the machine, the experiment's file.
paper='dispatchEvent(new Event("beforeprint")); const folded = [...document.querySelectorAll("details")];
const seen = [folded.every((d) => d.open && d.children.length > 1), folded.filter((d) => d.querySelector("pre")).length >= 2, document.querySelectorAll(".runs tbody tr.run").length];
dispatchEvent(new Event("afterprint")); return [...seen, folded.every((d) => d.open)]'
check 'on paper everything is open, and folded again afterwards' '[true,true,6,false]' "$(evaluate "$paper")"
if command -v pdftotext >/dev/null 2>&1; then
    pdftotext -layout "$scratch/print.pdf" "$scratch/print.txt"
    check 'the print has every run' 6 "$(grep -cE '^ *(vectoradd|reduct) .*,[0-9]{3} .*%' "$scratch/print.txt")"
    check 'and the machine' 1 "$(grep -c '^ *rop_cycles = ' "$scratch/print.txt")"
else
    echo 'note skipped: what is printed (pdftotext is not installed: apt-get install poppler-utils)'
fi
devtools Input.dispatchMouseEvent '{"type": "mouseMoved", "x": 1, "y": 1}'
evaluate 'scrollTo(0, 0); return 0' >/dev/null
is 'a screenshot is left' screenshot "$build/report-screenshot.png"
check 'no complaint to the end' '' "$(console_errors)"

# ------------------------------------------------------------- ten thousand runs

if ! command -v sqlite3 >/dev/null 2>&1; then
    echo 'note skipped: ten thousand runs (sqlite3 is not installed: apt-get install sqlite3)'
    exit 0
fi
sqlite3 "$store" >"$out" 2>&1 <<'SQL'
CREATE TEMP TABLE copy AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9994)
    SELECT i, (SELECT min(id) FROM run) + i % 6 AS old, 1000000 + i AS new FROM n;
INSERT INTO run SELECT new, printf('%032x', i * 2654435761), program, arguments, machine, 'core.made_up=' || i, scheduler, l1, divergence, version, epoch, host, started, exit,
    CASE WHEN i / 6 % 17 = 0 THEN 'made to fail' END, wall_seconds, launch_seconds, kwips + i % 977, peak_bytes, machine_id, command, log, probes FROM copy JOIN run ON run.id = old;
INSERT INTO metric SELECT new, kernel, m.name, CASE WHEN n.name = 'cycles' THEN value + i * 7919 % 10007 ELSE value END FROM copy JOIN metric m ON m.run = old JOIN metric_name n ON n.id = m.name WHERE kernel = -1;
SQL
check 'ten thousand runs are in the store' '10000 ' "$(sqlite3 "$store" 'SELECT count(*) FROM run') $(cat "$out")"
now() { date +%s%N | cut -c 1-13; }
start=$(now)
is 'a report of ten thousand runs' "$heddle" report "$store" -o "$page"
report_ms=$(($(now) - start))
start=$(now)
is 'ten thousand runs: the page loads' open_page "$page"
load_ms=$(($(now) - start))
sort_ms=$(evaluate 'const from = performance.now(); document.querySelector(".runs th[data-column=cycles] button").click(); document.body.offsetHeight; return Math.round(performance.now() - from)')
filter_ms=$(evaluate 'const f = document.getElementById("filter"), from = performance.now(); f.value = "failed gto"; f.dispatchEvent(new Event("input")); document.body.offsetHeight; return Math.round(performance.now() - from)')
echo "note ten thousand runs: report $report_ms ms, load $load_ms ms, sort $sort_ms ms, filter $filter_ms ms"
within() { if [ "$2" -le "$3" ]; then echo "ok $1"; else echo "FAILED $1: $2 ms, more than $3"; fi; }
slower=1
if grep -q __asan_init "$heddle"; then slower=10; fi
within 'ten thousand runs: the report in 5 s' "$report_ms" $((5000 * slower))
within 'ten thousand runs: loaded in 10 s' "$load_ms" 10000
within 'ten thousand runs: sorted in 1 s' "$sort_ms" 1000
within 'ten thousand runs: filtered in 1 s' "$filter_ms" 1000
check 'ten thousand runs: the filter found them' true "$(evaluate 'return document.querySelectorAll(".runs tr.failed").length > 10')"
check 'ten thousand runs: no complaint' '' "$(console_errors)"
