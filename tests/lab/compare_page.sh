#!/bin/sh
# The report's comparison in a real browser: two bars are picked with the mouse, with the keyboard, out of the table; the page says the same as `heddle compare`, for every pair of runs. Leaves
# BUILD/compare-screenshot.png. Run as `sh tests/lab/compare_page.sh BUILD`.
# Left out of builds with sanitizers: daemons and browsers are asked once.
# Left out of second builds: daemons and browsers are asked once.
# Uses chromium, chromedriver, curl, jq: the comparison in a browser.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
# shellcheck source=tests/lab/webdriver.sh
. tests/lab/webdriver.sh
trap 'stop_browser; rm -rf "$scratch"' EXIT
case $build in /*) export HEDDLE_MACHINES="${HEDDLE_MACHINES:-$PWD/machines}" ;; esac
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY

for tool in chromium chromedriver curl jq; do
    if ! command -v "$tool" >/dev/null 2>&1; then
        echo "note skipped: the comparison in a browser ($tool is not installed: apt-get install chromium chromium-driver curl jq)"
        exit 0
    fi
done

check() { # NAME EXPECTED SEEN
    if [ "$2" = "$3" ]; then echo "ok $1"; else printf 'FAILED %s\n    | expected: %s\n    | seen:     %s\n' "$1" "$2" "$3" | head -c 3000; fi
}

cat >"$scratch/pairs.ini" <<'INI'
[experiment]
title = Pairs
size = test
[programs]
spmv-scalar
reduct
[machines]
gtx480
ccws
[schedulers]
lrr
gto
ccws
swl = swl:limit=2
[variants]
plain =
small = l1d.ways=2
[figure speed]
kind = bars
title = Speed
x = program
y = ipc
series = scheduler
where = machine=gtx480 variant=plain
[figure stalls]
kind = stacked
title = Stalls
x = program
y = memory: stalls.memory, scoreboard: stalls.scoreboard, issued: stalls.issued
series = scheduler
where = machine=ccws variant=plain
[figure every]
kind = scatter
title = Every run
x = cycles
y = ipc
series = scheduler
INI
store=$scratch/pairs.db page=$scratch/pairs.html
expect 'a sweep' 0 '' "$heddle" sweep "$scratch/pairs.ini" -o "$store"
expect 'a report' 0 '' "$heddle" report "$store" -o "$page"
[ -e "$page" ] || exit 1
if ! start_browser; then
    echo 'FAILED the browser starts'
    cat "$scratch/driver.log" "$scratch/answer" 2>/dev/null | head -c 2000 | sed 's/^/    | /'
    exit 1
fi
set_width 1280 1600
is 'the page loads' open_page "$page"
check 'no complaint on the console' '' "$(console_errors)"

# ------------------------------------------------------------- the same as the command

evaluate 'return Object.keys(heddle.data.compare.counters.runs)' | jq -r '.[]' >"$scratch/keys"
check 'all runs have their counters' 32 "$(wc -l <"$scratch/keys" | tr -d ' ')"
first=$(head -n 1 "$scratch/keys") before=$(tail -n 1 "$scratch/keys")
while read -r key; do # neighbours, and everyone with the first, in either order
    echo "$before $key"
    echo "$key $first"
    before=$key
done <"$scratch/keys" >"$scratch/pairs"
while read -r a b; do "$heddle" compare --json - "$store:$a" "$store:$b"; done <"$scratch/pairs" >"$scratch/commands.json"
jq -c '[.a.label, .b.label, .same, [.sentences[] | [.cause, .text]], .notes, [.parts[] | [.name, (.a + 0.5 | floor), (.b + 0.5 | floor)]], [.metrics[].name]]' "$scratch/commands.json" >"$scratch/said"
asked=$(sed "s/\(.*\) \(.*\)/['\1', '\2'],/" "$scratch/pairs" | tr -d '\n')
evaluate "return [$asked].map(([a, b]) => { const c = heddle.compare(a, b); return [...c.labels, c.same, c.sentences.map((s) => [s.cause, s.text]), c.notes, c.parts.map((p) => [p.name, Math.floor(p.a + 0.5), Math.floor(p.b + 0.5)]), c.metrics.map((m) => m.name)]; })" |
    jq -c '.[]' >"$scratch/shown"
pairs=$(wc -l <"$scratch/said" | tr -d ' ')
if ! diff "$scratch/said" "$scratch/shown" >"$scratch/different"; then
    echo 'FAILED page (>) and command (<) of some pairs:'
    head -n 8 "$scratch/different" | sed 's/^/    | /'
fi
different=$(grep -c '^>' "$scratch/different")
jq -r '.sentences[].cause' "$scratch/commands.json" >"$scratch/causes"
check 'page and command say the same of all pairs' '64 0' "$pairs $different"
kinds=$(sort -u "$scratch/causes" | grep -c .)
echo "note $pairs pairs, $kinds causes"
check 'the pairs had causes to compare' true "$([ "$kinds" -ge 5 ] && echo true)"

# ------------------------------------------------------------- picking

settle='requestAnimationFrame(() => requestAnimationFrame(() => done(0)))'
place_of() { evaluate "const e = [...document.querySelectorAll('[data-figure=$1] .values > path')][$2]; e.scrollIntoView({ block: 'center', behavior: 'instant' }); const b = e.getBoundingClientRect(); return { x: b.x + b.width / 2, y: b.y + b.height / 2 }"; }
click_mark() { # FIGURE NUMBER: with a real mouse
    at=$(place_of "$1" "$2")
    evaluate_later "$settle" >/dev/null
    at=$(place_of "$1" "$2")
    for type in mouseMoved mousePressed mouseReleased; do
        devtools Input.dispatchMouseEvent "$(printf '%s' "$at" | jq -c --arg type "$type" '. + {type: $type, button: "left", clickCount: 1}')"
    done
    evaluate_later "$settle" >/dev/null
}
press() { # KEY
    text=''
    [ "$1" != Enter ] || text='\r'
    devtools Input.dispatchKeyEvent "{\"type\": \"keyDown\", \"key\": \"$1\", \"code\": \"$1\", \"text\": \"$text\"}"
    devtools Input.dispatchKeyEvent "{\"type\": \"keyUp\", \"key\": \"$1\", \"code\": \"$1\"}"
}
state='const p = document.querySelector(".comparison"); return [p ? !p.hidden : false, p ? p.querySelectorAll(".parts").length : 0, document.querySelectorAll("[data-figure=speed] .picked").length]'
check 'nothing is picked' '[false,0,0]' "$(evaluate "$state")"
click_mark speed 0
check 'one bar is picked' '[true,0,1]' "$(evaluate "$state")"
check 'it says what to do' true "$(evaluate 'return /pick another/.test(document.querySelector(".comparison").textContent)')"
click_mark speed 2
check 'two bars are compared' '[true,2,2]' "$(evaluate "$state")"
check 'in place: after the row of the figure' '["speed",true]' "$(evaluate 'const p = document.querySelector(".comparison"), f = document.querySelector("[data-figure=speed]"); return [p.dataset.beside, p.previousElementSibling.offsetTop === f.offsetTop]')"
bars=$(evaluate 'const f = heddle.data.experiments[0].figures[0]; return [...document.querySelectorAll("[data-figure=speed] .values > path")].map((e) => e.__data__.datum.run)')
"$heddle" compare --json - "$store:$(printf '%s' "$bars" | jq -r '.[0]')" "$store:$(printf '%s' "$bars" | jq -r '.[2]')" >"$scratch/command.json"
check 'the sentences are on the page' "$(jq -c '[.sentences[].text] | join(" ")' "$scratch/command.json")" "$(evaluate 'return document.querySelector(".comparison .said").textContent')"
check 'stalls stand side by side' true "$(evaluate 'return document.querySelectorAll(".comparison .pair").length > 4 && [...document.querySelectorAll(".comparison .pair")].every((p) => p.children.length === 2)')"
head_now() { evaluate 'return document.querySelector(".comparison h4").textContent'; }
check 'their names' '"lrr and ccws"' "$(head_now)"
evaluate 'document.querySelector(".comparison header button").click(); return 0' >/dev/null
check 'swapped' '"ccws and lrr"' "$(head_now)"
click_mark stalls 3
check 'a third takes the place of the second, in another figure' '["stalls",true]' "$(evaluate 'const p = document.querySelector(".comparison"); return [p.dataset.beside, /^.*ccws.* and .*gto/.test(p.querySelector("h4").textContent)]')"
click_mark stalls 3
check 'a second click lets it go' 0 "$(evaluate 'return document.querySelectorAll(".comparison .parts").length')"
set_width 700 900
evaluate_later "$settle" >/dev/null
check 'picked bars stay picked when figures are drawn again' true "$(evaluate 'return document.querySelectorAll(".picked").length > 0')"
set_width 1280 1600
evaluate_later "$settle" >/dev/null
evaluate 'document.querySelector(".comparison button").click(); return 0' >/dev/null
check 'cleared' '[false,0,0]' "$(evaluate "$state")"

# The keyboard alone: one mark of a figure is a stop of Tab, arrows go on from it.
check 'one stop of Tab for a figure' 1 "$(evaluate 'return document.querySelectorAll("[data-figure=speed] .values > path[tabindex=\"0\"]").length')"
evaluate 'document.querySelector("[data-figure=speed] .values > path[tabindex=\"0\"]").focus(); return 0' >/dev/null
press Enter
press ArrowRight
press Enter
check 'two bars by keyboard' '[true,2,2]' "$(evaluate "$state")"
check 'their names, by keyboard' '"lrr and gto"' "$(head_now)"
check 'the focus stays' true "$(evaluate 'return document.activeElement.classList.contains("picked")')"
press Escape
check 'Escape clears' '[false,0,0]' "$(evaluate "$state")"
evaluate 'document.querySelectorAll(".runs .open")[0].click(); document.querySelectorAll(".runs .open")[1].click(); for (const b of document.querySelectorAll("button.pick")) b.click(); return 0' >/dev/null
check 'two runs of the table, which are the same' '[true,"The two runs are the same: every counter is equal.",0]' "$(evaluate 'const p = document.querySelector(".comparison"); return [p.closest("#runs") !== null, p.querySelector(".said").textContent, p.querySelectorAll(".parts").length]')"
evaluate 'for (const b of document.querySelectorAll("button.pick")) b.click(); return 0' >/dev/null
check 'and not' '[false,0,0]' "$(evaluate "$state")"

# ------------------------------------------------------------- sizes and looks

click_mark speed 0
click_mark speed 2
for width in 400 800 1600; do
    set_width "$width" 1000
    evaluate_later "$settle" >/dev/null
    check "$width points wide: nothing is wider than the page" true "$(evaluate "return document.documentElement.scrollWidth <= $width")"
    for scheme in light dark; do
        set_scheme "$scheme"
        evaluate_later "$settle" >/dev/null
        evaluate 'document.querySelector("[data-figure=speed]").scrollIntoView(); return 0' >/dev/null
        [ -z "${COMPARE_SHOTS:-}" ] || screenshot "$COMPARE_SHOTS/compare-$width-$scheme.png"
    done
done
set_scheme light
set_width 1280 1600
evaluate_later "$settle" >/dev/null
is 'a screenshot is left' screenshot "$build/compare-screenshot.png"
check 'no complaint to the end' '' "$(console_errors)"
