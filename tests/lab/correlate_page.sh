#!/bin/sh
# The page of `heddle correlate` in a real browser: it draws its plots without a complaint, names points, sorts and
# filters its table, fits a phone, has a dark side. Leaves BUILD/correlate-screenshot.png. Run as
# `sh tests/lab/correlate_page.sh BUILD`.
# Left out of builds with sanitizers: daemons and browsers are asked once.
# Left out of second builds: daemons and browsers are asked once.
# Uses chromium, chromedriver, curl, jq: the correlation in a browser.
# shellcheck source=tests/cli/lib.sh
. tests/cli/lib.sh
# shellcheck source=tests/lab/webdriver.sh
. tests/lab/webdriver.sh
trap 'stop_browser; rm -rf "$scratch"' EXIT
case $build in /*) export HEDDLE_MACHINES="${HEDDLE_MACHINES:-$PWD/machines}" ;; esac
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY

for tool in chromium chromedriver curl jq; do
    if ! command -v "$tool" >/dev/null 2>&1; then
        echo "note skipped: the correlation in a browser ($tool is not installed: apt-get install chromium chromium-driver curl jq)"
        exit 0
    fi
done

check() { # NAME EXPECTED SEEN
    if [ "$2" = "$3" ]; then
        echo "ok $1"
    else
        printf 'FAILED %s\n    | expected: %s\n    | seen:     %s\n' "$1" "$2" "$3" | head -c 3000
    fi
}

page=$scratch/page.html
expect 'a correlation' 0 '' \
    "$heddle" correlate tests/data/silicon/test.csv -m gtx480 --set l1d.sector_bytes=32 -o "$page"
[ -e "$page" ] || exit 1
if ! start_browser; then
    echo 'FAILED the browser starts'
    cat "$scratch/driver.log" "$scratch/answer" 2>/dev/null | head -c 2000 | sed 's/^/    | /'
    exit 1
fi
set_width 1280 1600
is 'the page loads' open_page "$page"
settle='requestAnimationFrame(() => requestAnimationFrame(() => done(0)))'
evaluate_later "$settle" >/dev/null
check 'no complaint on the console' '' "$(console_errors)"
check 'its title' '"gtx480 against silicon"' "$(evaluate 'return document.querySelector("h1").textContent')"
check 'the headline is of the test half' '["2","the test half"]' "$(evaluate '
    const line = document.querySelector(".headline");
    return [line.querySelector("dd").textContent, line.getAttribute("aria-label")]')"

# ------------------------------------------------------------- plots
check 'a plot for each counter' 11 "$(evaluate 'return document.querySelectorAll("#plots figure .plot svg").length')"
marks='[data-compared=cycles] .values > path'
check 'a mark for each point' 3 "$(evaluate "return document.querySelectorAll('$marks').length")"
at=$(evaluate "const e = document.querySelector('$marks'); e.scrollIntoView({ block: 'center', behavior: 'instant' });
    const b = e.getBoundingClientRect(); return { x: b.x + b.width / 2, y: b.y + b.height / 2, type: 'mouseMoved' }")
devtools Input.dispatchMouseEvent "$at"
evaluate_later "$settle" >/dev/null
check 'a mark says its name' true "$(evaluate "const tip = document.getElementById('tip');
    return !tip.hidden && tip.textContent.includes(document.querySelector('$marks').__data__.datum.tip.title)")"
check 'ours and silicon are where they belong' true "$(evaluate "
    return [...document.querySelectorAll('$marks')].every((e) => {
        const d = e.__data__.datum, p = heddle.data.points.find((one) => d.tip.title.endsWith(one.kernel));
        return d.there === p.silicon[0] && d.here === p.ours[0]; })")"
check 'a plot as SVG' true "$(evaluate_later 'heddle.svg("L1 hit rate").then((text) => done(text.startsWith("<svg")))')"

# ------------------------------------------------------------- the table
programs() { evaluate 'return [...document.querySelectorAll(".points tbody tr")].map((r) => r.cells[0].textContent)'; }
sort_by() { evaluate "[...document.querySelectorAll('.points th button')].find((b) => b.textContent === '$1').click()
    return 0" >/dev/null; }
sort_by 'Cycles, silicon'
check 'sorted by cycles, the most first' '["bitonic","reduct","vectoradd"]' "$(programs)"
sort_by 'Cycles, silicon'
check 'and the least' '["vectoradd","reduct","bitonic"]' "$(programs)"
sort_by 'Program'
check 'by name' '["bitonic","reduct","vectoradd"]' "$(programs)"
evaluate 'const f = document.getElementById("filter"); f.value = "FIT"; f.dispatchEvent(new Event("input"))' >/dev/null
check 'filtered by a word' '["bitonic"]' "$(programs)"
evaluate 'const f = document.getElementById("filter"); f.value = ""; f.dispatchEvent(new Event("input"))' >/dev/null

# ------------------------------------------------------------- sizes, looks, paper
for width in 400 800 1600; do
    set_width "$width" 1000
    evaluate_later "$settle" >/dev/null
    check "$width points wide: nothing is wider than the page" true \
        "$(evaluate "return document.documentElement.scrollWidth <= $width")"
done
set_width 1280 1600
set_scheme dark
evaluate_later "$settle" >/dev/null
check 'dark where the system is' '"dark"' "$(evaluate 'return document.documentElement.dataset.theme')"
check 'on paper it is light and open' '["light",true]' "$(evaluate 'dispatchEvent(new Event("beforeprint"));
    return [document.documentElement.dataset.theme, [...document.querySelectorAll("details")].every((d) => d.open)]')"
evaluate 'dispatchEvent(new Event("afterprint")); return 0' >/dev/null
set_scheme light
evaluate_later "$settle" >/dev/null
is 'a screenshot is left' screenshot "$build/correlate-screenshot.png"
check 'no complaint to the end' '' "$(console_errors)"
