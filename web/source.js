/* The source view: the lines of one run, hot ones first, sorted by a click on a column. Lines are there for runs of experiments with pcs = yes. */

const wait_reasons = ["memory", "pipeline", "scoreboard", "fetch", "barrier", "held", "not_picked", "atomic", "fence"];
const reason_colour = (reason) => `var(--part-${wait_reasons.indexOf(reason)})`;
const shown_lines = 25;
const source_view = { show: null, runs: new Set() }; /* show(key): what a button of the table of runs asks for */

/* A row of the data as an object by column names; what is worked out from them as in `heddle run --lines`. */
function read_line(source, row) {
    const line = { place: source.places[row[0]] }, over = (part, whole) => (whole > 0 ? part / whole : null);
    source.columns.forEach((name, i) => (line[name] = row[i + 1] || 0));
    const requests = line.load_requests + (line.store_requests || 0), accesses = (line.load_accesses || 0) + (line.store_accesses || 0);
    line.lanes = over(line.thread_executions, line.executions);
    line.per_request = over(accesses, requests || 0);
    for (const reason of wait_reasons) line["share " + reason] = over(line["cycles." + reason] || 0, line.stalled);
    return line;
}

const line_columns = [
    { name: "executions", title: "Issues", help: "executions, counted once per warp" },
    { name: "stalled", title: "Waited", help: "warp cycles in which the next instruction of a warp was of this line and did not issue", bar: true },
    { name: "lanes", title: "Lanes", help: "active lanes, mean", text: (v) => v.toFixed(1) },
    { name: "divergent", title: "Apart", help: "branches at which the lanes parted" },
    { name: "l1d_intra_warp_hits", title: "Own hits", help: "loads that hit a line that the same warp had brought" },
    { name: "l1d_inter_warp_hits", title: "Others’ hits", help: "loads that hit a line that another warp had brought" },
    { name: "l1d_pending_hits", title: "Pending", help: "accesses to lines that were on their way" },
    { name: "load_misses", title: "Misses", help: "loads that missed the L1 data cache" },
    { name: "store_misses", title: "Store misses", help: "stores that missed it" },
    { name: "per_request", title: "Per request", help: "accesses of an executed load or store", text: (v) => v.toFixed(1) },
    { name: "coalesced_accesses", title: "If coalesced", help: "what if: accesses of loads, if the lanes of each lay side by side" },
    { name: "coalesced_misses", title: "… misses", help: "what if: of the misses, at most as many of each load as it would then have accesses" },
    { name: "full_issues", title: "If full", help: "what if: issues, if no lane had been idle" },
];

/* Those that any line has, and the columns of probes and policies. */
function columns_of_lines(source, lines) {
    const own = source.columns.filter((name) => name.includes(".") && !name.startsWith("cycles."));
    return [...line_columns, ...own.map((name) => ({ name, title: name, help: "counted by a probe or a policy" }))].filter((column) => lines.some((line) => line[column.name]));
}

function reasons_bar(line, most) {
    const parts = wait_reasons.filter((reason) => line["cycles." + reason]);
    const text = parts.map((reason) => [reason, line["share " + reason]]).sort((a, b) => b[1] - a[1]).filter(([, share]) => share >= 0.005)
        .map(([reason, share]) => `${reason.replace("_", " ")} ${Math.round(share * 100)}%`).join(", ");
    return node("span", { class: "heat", title: text, role: "img", "aria-label": text },
        ...parts.map((reason) => node("i", { style: `width:${(100 * line["cycles." + reason]) / most}%;background:${reason_colour(reason)}` })));
}

function line_row(line, columns, most) {
    const name = line.place.file.split("/").pop() + ":" + line.place.line;
    const cell = (column) => {
        const value = line[column.name], text = !value ? "" : column.text ? column.text(value) : value.toLocaleString("en");
        return node("td", { class: "number" }, text, column.bar && value ? reasons_bar(line, most) : null);
    };
    return node("tr", {}, node("td", { class: line.place.source ? "place" : "place ptx", title: line.place.file }, name), ...columns.map(cell), node("td", { class: "text", title: line.place.text }, line.place.text || ""));
}

/* The table of one run's lines, and what it says of itself. */
function lines_table(source, key) {
    const lines = source.runs[key].map((row, order) => ({ order, ...read_line(source, row) })), columns = columns_of_lines(source, lines);
    const state = { column: columns.find((column) => column.name === "stalled") || columns[0], rising: false, all: false }, most_waited = Math.max(1, ...lines.map((line) => line.stalled || 0));
    const body = node("tbody", {}), more = button("", () => show((state.all = !state.all)), { class: "more" });
    const heads = columns.map((column) => {
        const attributes = { scope: "col", class: "number", "data-column": column.name, title: column.help, "aria-sort": "none" };
        return node("th", attributes, button(column.title, () => sort(column)));
    });
    function show() {
        const value = (line) => (line[state.column.name] ?? -1), sign = state.rising ? 1 : -1;
        const sorted = lines.slice().sort((a, b) => sign * (value(a) - value(b)) || a.order - b.order);
        body.replaceChildren(...sorted.slice(0, state.all ? undefined : shown_lines).map((line) => line_row(line, columns, most_waited)));
        heads.forEach((head, i) => head.setAttribute("aria-sort", columns[i] !== state.column ? "none" : state.rising ? "ascending" : "descending"));
        more.hidden = lines.length <= shown_lines;
        more.textContent = state.all ? `The first ${shown_lines}` : `All ${lines.length} lines`;
    }
    function sort(column) {
        state.rising = state.column === column && !state.rising;
        state.column = column;
        show();
    }
    show();
    const reasons = wait_reasons.filter((reason) => lines.some((line) => line["cycles." + reason]));
    return [
        node("ul", { class: "reasons", "aria-label": "colours of the reasons for waiting" }, ...reasons.map((reason) => node("li", {}, node("i", { style: `background:${reason_colour(reason)}` }), reason.replace("_", " ")))),
        node("div", { class: "scroll", tabindex: "0" }, node("table", { class: "runs lines" }, node("thead", {}, node("tr", {}, node("td", {}, "Line"), ...heads, node("td", {}, "Text"))), body)),
        more,
    ];
}

const run_name = (run, fields) => fields.map((field) => run[field]).filter(Boolean).join(" · ");

function source_section(source, runs) {
    const counted = source ? runs.filter((run) => source.runs[run.key]) : [];
    if (!counted.length) return null;
    const named = ["arguments", "machine", "scheduler", "l1", "divergence", "sets"], differ = named.filter((field) => counted.some((run) => run[field] !== counted[0][field]));
    const place = node("div", {}), choice = node("select", { id: "source-run", change: () => show(choice.value) },
        ...counted.map((run) => node("option", { value: run.key }, run_name(run, ["program", ...differ]))));
    function show(key) {
        choice.value = key;
        place.replaceChildren(...lines_table(source, key));
    }
    counted.forEach((run) => source_view.runs.add(run.key));
    source_view.show = (key) => {
        show(key);
        document.getElementById("source").scrollIntoView();
    };
    show(counted[0].key);
    return node("section", { id: "source" }, node("h2", {}, "Source lines"),
        node("p", { class: "soft" }, "Where the warps of a run waited, line by line. The bar is the time waited, by reason; a click on a column sorts."),
        node("div", { class: "bar" }, node("label", {}, "Run ", choice)), place);
}

const source_button = (run) => (source_view.runs.has(run.key) ? button("Source lines", () => source_view.show(run.key), { class: "to-source" }) : null);
