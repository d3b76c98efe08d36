/* The table of runs: sorted by a click on a column, filtered by words, shown a page at a time, so that ten thousand rows cost no more than fifty. A row opens to the command that repeats the run. */

const page_rows = 50;
const text_column = (name, title) => ({ name, title, text: (run) => run[name] || "" });
const number_column = (name, title, format) => ({ name, title, number: true, text: (run) => (known(run[name]) ? format(run[name]) : "–") });
const run_columns = [
    text_column("program", "Program"),
    text_column("arguments", "Arguments"),
    text_column("machine", "Machine"),
    text_column("scheduler", "Scheduler"),
    text_column("l1", "L1"),
    text_column("divergence", "Divergence"),
    text_column("sets", "Set"),
    text_column("probes", "Probes"),
    number_column("ipc", "IPC", short_number),
    number_column("cycles", "Cycles", exact_number),
    number_column("warp_instructions", "Warp instr.", exact_number),
    number_column("miss_rate", "L1D misses", (v) => (v * 100).toFixed(1) + "%"),
    number_column("wall_seconds", "Seconds", (v) => v.toFixed(2)),
    number_column("kwips", "kWI/s", (v) => Math.round(v).toLocaleString("en")),
    { ...text_column("when", "When"), text: (run) => day(run.when) },
    text_column("host", "Host"),
    text_column("version", "Version"),
    { name: "failure", title: "Outcome", status: true, text: (run) => run.failure || "ok" },
];

/* Rows of the data as objects; policies of one's own by name. */
function read_runs(source) {
    const runs = read_rows(source);
    for (const kind of ["scheduler", "l1", "divergence", "probes"]) {
        const names = short_policies(runs.map((run) => run[kind]));
        for (const run of runs) run[kind] = names.get(run[kind]) || run[kind];
    }
    return runs;
}

function read_rows(source) {
    return source.rows.map((row, order) => {
        const run = { order };
        source.columns.forEach((name, i) => (run[name] = row[i]));
        run.miss_rate = run.l1d_accesses > 0 ? run.l1d_misses / run.l1d_accesses : null;
        return run;
    });
}

/* Columns that differ among the runs, and those that are the same in all, which are said once above the table. */
function split_columns(runs) {
    const filled = run_columns.filter((column) => runs.some((run) => run[column.name] !== null && run[column.name] !== ""));
    const differs = (column) => column.number || column.name === "program" || runs.some((run) => run[column.name] !== runs[0][column.name]);
    return runs.length < 2 ? [filled, []] : [filled.filter(differs), filled.filter((column) => !differs(column))];
}

function compare_runs(column, falling) {
    const collator = new Intl.Collator("en", { numeric: true }), sign = falling ? -1 : 1, none = (v) => v === null || v === undefined || v === "";
    return (a, b) => {
        const x = a[column.name], y = b[column.name];
        if (none(x) || none(y)) return none(x) - none(y) || a.order - b.order; /* what has no value comes last, either way */
        return sign * (column.number ? x - y : collator.compare(x, y)) || a.order - b.order;
    };
}

const text_columns = run_columns.filter((column) => !column.number);
const search_text = (run) => [...text_columns.map((column) => run[column.name]), run.key, run.failure ? "failed" : "ok"].join(" ").toLowerCase();

function run_detail(run, columns) {
    const facts = `key ${run.key} · exit ${run.exit} · ${day(run.when)} · ${run.host || "?"} · Heddle ${run.version || "?"}, timing epoch ${run.epoch}`;
    const failure = run.failure ? node("p", {}, "Failed: " + run.failure) : null;
    const cell = node("td", { colspan: String(columns + 1) }, failure, command(run.command || ""), pick_button(run), source_button(run), node("span", { class: "soft small" }, facts));
    return node("tr", { class: "detail" }, cell);
}

function run_row(run, columns) {
    const opener = node("button", { type: "button", class: "open", "aria-expanded": "false", "aria-label": "the command of this run" });
    const toggle = (event) => {
        if (event.target !== opener && String(getSelection())) return; /* text is being marked */
        const open = opener.getAttribute("aria-expanded") === "true";
        opener.setAttribute("aria-expanded", String(!open));
        if (open) row.nextSibling.remove();
        else row.after(run_detail(run, columns.length));
    };
    const cells = columns.map((column) => node("td", { class: column.number ? "number" : column.status ? "status" : null }, column.text(run)));
    const row = node("tr", { class: run.failure ? "run failed" : "run", click: toggle }, node("td", {}, opener), ...cells);
    return row;
}

function runs_section(runs) {
    const [columns, constant] = split_columns(runs);
    const state = { sorted: runs, rows: runs, page: 0, column: null, falling: false, all: false };
    const body = node("tbody", {}), position = node("span", { "aria-live": "polite" });
    const previous = button("‹ Previous", () => show(state.page - 1)), next = button("Next ›", () => show(state.page + 1));
    const hint = "Filter by words: bfs gto, failed …";
    const filter = node("input", { type: "search", id: "filter", placeholder: hint, "aria-label": "filter the runs", autocomplete: "off", input: search });
    const heads = columns.map((column) => {
        const attributes = { scope: "col", class: column.number ? "number" : null, "aria-sort": "none", "data-column": column.name };
        return node("th", attributes, button(column.title, () => sort(column)));
    });

    function show(page) {
        const first = state.all ? 0 : page * page_rows, part = state.rows.slice(first, state.all ? undefined : first + page_rows), number = (n) => n.toLocaleString("en");
        state.page = page;
        body.replaceChildren(...part.map((run) => run_row(run, columns)));
        position.textContent = part.length ? `${number(first + 1)}–${number(first + part.length)} of ${number(state.rows.length)}` : "no run matches";
        previous.disabled = page === 0;
        next.disabled = first + page_rows >= state.rows.length;
    }
    function search() {
        const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
        const matches = (run) => words.every((word) => (run.search = run.search || search_text(run)).includes(word));
        state.rows = words.length ? state.sorted.filter(matches) : state.sorted;
        show(0);
    }
    function sort(column) {
        state.falling = state.column === column && !state.falling;
        state.column = column;
        state.sorted = runs.slice().sort(compare_runs(column, state.falling));
        heads.forEach((head, i) => head.setAttribute("aria-sort", columns[i] !== column ? "none" : state.falling ? "descending" : "ascending"));
        search();
    }

    show(0);
    const same = constant.map((column) => `${column.title.toLowerCase()} ${column.text(runs[0])}`).join(" · ");
    const section = node("section", { id: "runs" }, node("h2", {}, "Runs"),
        same ? node("p", { class: "soft small" }, "The same in all: " + same) : null,
        node("div", { class: "bar" }, filter, node("div", { class: "right" }, position, previous, next)),
        node("div", { class: "scroll", tabindex: "0" }, node("table", { class: "runs" }, node("thead", {}, node("tr", {}, node("td", {}), ...heads)), body)));
    section.show_all = (yes) => { /* every row that the filter leaves, and back to the page */
        state.all = yes;
        show(state.page);
    };
    return section;
}
