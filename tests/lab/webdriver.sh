# shellcheck shell=sh disable=SC2154
# A real browser, driven over the WebDriver protocol with curl and jq: sourced by browser.sh behind tests/cli/lib.sh. Chromium and its driver are started on a free port of this machine, with a profile of
# their own, and ended with the test.

driver_pid=''
driver_url=''
session=''

# One request; the answer is in $scratch/answer. Fails where the driver reports an error.
webdriver() { # METHOD PATH [BODY]
    if [ "$1" = GET ] || [ "$1" = DELETE ]; then
        curl -sS --noproxy '*' --max-time 120 -X "$1" "$driver_url$2" >"$scratch/answer" 2>"$scratch/curl" || return 1
    else
        printf '%s' "$3" >"$scratch/body"
        curl -sS --noproxy '*' --max-time 120 -X "$1" -H 'Content-Type: application/json' --data-binary "@$scratch/body" "$driver_url$2" >"$scratch/answer" 2>"$scratch/curl" || return 1
    fi
    jq -e '(.value | type != "object") or (.value | has("error") | not)' "$scratch/answer" >/dev/null
}

stop_browser() {
    [ -z "$session" ] || webdriver DELETE "/session/$session"
    session=''
    [ -z "$driver_pid" ] || { kill "$driver_pid" && wait "$driver_pid"; } 2>/dev/null
    driver_pid=''
}

# Waits until chromedriver says which port it took; 10 s at most.
driver_port() {
    tries=0
    while [ "$tries" -lt 100 ] && kill -0 "$driver_pid" 2>/dev/null; do
        port=$(sed -n 's/.*started successfully on port \([0-9]*\).*/\1/p' "$scratch/driver.log")
        [ -z "$port" ] || return 0
        tries=$((tries + 1))
        sleep 0.1 # the driver has no other way to say it
    done
    return 1
}

start_browser() { # scheme: light or dark
    chromedriver --port=0 --allowed-ips=127.0.0.1 >"$scratch/driver.log" 2>&1 &
    driver_pid=$!
    driver_port || return 1
    driver_url=http://127.0.0.1:$port
    capabilities=$(jq -n --arg profile "$scratch/profile" --arg binary "$(command -v chromium)" '{capabilities: {alwaysMatch: {browserName: "chrome", "goog:loggingPrefs": {browser: "ALL"},
        "goog:chromeOptions": {binary: $binary, args: ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
            "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--user-data-dir=" + $profile]}}}}')
    webdriver POST /session "$capabilities" || return 1
    session=$(jq -r .value.sessionId "$scratch/answer")
}

open_page() { # absolute path
    webdriver POST "/session/$session/url" "$(jq -n --arg url "file://$1" '{url: $url}')"
}

# The value of a JavaScript function body, as JSON.
evaluate() {
    webdriver POST "/session/$session/execute/sync" "$(jq -n --arg script "$1" '{script: $script, args: []}')" || { cat "$scratch/answer" "$scratch/curl"; return 1; }
    jq -c .value "$scratch/answer"
}

# The same of an asynchronous one that calls done(value).
evaluate_later() {
    webdriver POST "/session/$session/execute/async" "$(jq -n --arg script "const done = arguments[arguments.length - 1]; $1" '{script: $script, args: []}')" || { cat "$scratch/answer"; return 1; }
    jq -c .value "$scratch/answer"
}

# A command of Chromium's own debugging protocol.
devtools() { # METHOD PARAMETERS
    webdriver POST "/session/$session/goog/cdp/execute" "$(jq -n --arg cmd "$1" --argjson params "$2" '{cmd: $cmd, params: $params}')"
}

# A window of this many points, as a phone or a desk has: unlike a window's size this has no least width.
set_width() { # WIDTH HEIGHT
    devtools Emulation.setDeviceMetricsOverride "{\"width\": $1, \"height\": $2, \"deviceScaleFactor\": 1, \"mobile\": false}"
}

set_scheme() { # light or dark
    devtools Emulation.setEmulatedMedia "{\"features\": [{\"name\": \"prefers-color-scheme\", \"value\": \"$1\"}]}"
}

# What the page complained about since the last call: one line each.
console_errors() {
    webdriver POST "/session/$session/se/log" '{"type": "browser"}' || return 1
    jq -r '.value[] | select(.level == "SEVERE" or .level == "WARNING") | .level + " " + .message' "$scratch/answer"
}

screenshot() { # FILE
    webdriver GET "/session/$session/screenshot" && jq -r .value "$scratch/answer" | base64 -d >"$1"
}
