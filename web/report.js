/* The page: what it says about the experiments, their figures, the runs, how to repeat them and on which machines, all out of the JSON block. */

const data = JSON.parse(document.getElementById("data").textContent);
data.experiments.forEach((experiment) => experiment.figures.forEach(name_policies));
const runs = read_runs(data.runs), runs_by_key = new Map(runs.map((run) => [run.key, run]));
const drawings = []; /* { figure, plot: its element, view, width, theme } */

/* Labels that are paths of policies, as their names. */
function name_policies(figure) {
    const policies = ["scheduler", "l1", "divergence"];
    const rename = (list, field) => {
        const names = short_policies(figure[list]);
        figure[list] = figure[list].map((label) => names.get(label) || label);
        for (const cell of figure.cells) if (cell[field] !== undefined) cell[field] = names.get(cell[field]) || cell[field];
    };
    if (policies.includes(figure.series_axis)) rename("series", "series");
    if (policies.includes(figure.x)) rename("xs", "x");
}

/* ------------------------------------------------------------- light and dark */

const dark_wanted = matchMedia("(prefers-color-scheme: dark)");
const look = { chosen: null, printing: false };
const theme = () => (look.printing ? "light" : look.chosen || (dark_wanted.matches ? "dark" : "light"));

function apply_theme() {
    document.documentElement.dataset.theme = theme();
    document.getElementById("theme").textContent = theme() === "dark" ? "Light" : "Dark";
    draw_all();
}

/* On paper nothing can be opened: all that is folded is there, and all rows of the table. What is filled when it is opened has a function `fill`. */
function printing(yes) {
    look.printing = yes;
    for (let details; yes && (details = [...document.querySelectorAll("details")].find((one) => one.fill));) {
        const fill = details.fill;
        details.fill = null;
        fill();
    }
    for (const details of document.querySelectorAll("details")) {
        if (yes) details.dataset.was = details.open;
        details.open = yes || details.dataset.was === "true";
    }
    const table = document.getElementById("runs");
    if (table) table.show_all(yes);
    apply_theme();
}

/* Details whose content is made when they are opened. */
function folded(title, content) {
    const details = node("details", { toggle: () => details.open && details.fill && fill() }, node("summary", {}, title));
    const fill = () => {
        details.fill = null;
        details.append(...content());
    };
    details.fill = fill;
    return details;
}

/* ------------------------------------------------------------- drawing */

function show_tip(_, event, item, value) {
    const box = document.getElementById("tip");
    box.hidden = !value || !value.rows;
    if (box.hidden) return;
    const rows = value.rows.map(([name, text]) => node("tr", {}, node("th", {}, name), node("td", {}, text)));
    box.replaceChildren(node("strong", {}, value.title), node("table", {}, ...rows));
    const at = event.changedTouches ? event.changedTouches[0] : event, size = box.getBoundingClientRect();
    const beside = (place, length, room) => Math.max(8, place + 14 + length > room - 8 ? place - length - 14 : place + 14);
    box.style.left = beside(at.clientX, size.width, innerWidth) + "px";
    box.style.top = beside(at.clientY, size.height, innerHeight) + "px";
}

function make_view(figure, width, look_name, renderer) {
    return new vega.View(vega.parse(figure_spec(figure, width, look_name, runs_by_key)), { renderer, logLevel: vega.Warn });
}

function draw(drawing) {
    const width = look.printing ? 680 : drawing.plot.clientWidth;
    if (!has_data(drawing.figure) || !width || (drawing.width === width && drawing.theme === theme())) return;
    if (drawing.view) drawing.view.finalize();
    drawing.width = width;
    drawing.theme = theme();
    drawing.view = make_view(drawing.figure, width, drawing.theme, drawing.figure.cells.length > 3000 ? "canvas" : "svg");
    drawing.view.tooltip(show_tip).initialize(drawing.plot).hover().run();
    let_pick(drawing);
}

const draw_all = () => [...drawings, ...extras].forEach(draw);

/* As a file: on white and in one width, whatever the page looks like now. */
const file_view = (figure) => make_view(figure, is_wide(figure) ? 960 : 640, "light", "none").background("white").runAsync();
const figure_svg = (figure) => file_view(figure).then((view) => view.toSVG());
const figure_png = (figure) => file_view(figure).then((view) => view.toImageURL("png", 2));

/* ------------------------------------------------------------- figures */

function verdict_line(figure) {
    const v = figure.verdict, items = [];
    const add = (kind, ...text) => items.push(node("li", { class: kind }, ...text));
    const ratio = (held, of, text) => of && add(held === of ? "held" : held * 2 > of ? "partly" : "broken", node("b", {}, `${held} of ${of}`), " " + text);
    ratio(v.directions_held, v.directions, "on the same side of 1");
    ratio(v.rankings_held, v.rankings, "pairs in the same order");
    for (const one of v.expectations) add(one.held === null ? "unknown" : one.held ? "held" : "broken", one.text + (one.held === null ? " (no data)" : ""));
    if (v.compared) add("soft", "median deviation ", node("b", {}, percent(v.median_deviation).replace(/^[+±]/, "")), ` of ${count_of(v.compared, "value")}`);
    return items.length ? node("ul", { class: "verdict", "aria-label": "ours against the published values" }, ...items) : null;
}

function published_table(figure) {
    const stacked = figure.kind === "stacked", several = stacked || figure.series.length > 1;
    const cells = figure.cells.filter((cell) => known(cell.published));
    if (!cells.length) return null;
    const line = (x, series, ...numbers) => [[x], ...(several ? [[series]] : []), ...numbers];
    const rows = cells.map((cell) => {
        const off = deviation(cell), far = Math.abs(off) > 0.2 ? "number far" : "number";
        const numbers = [[short_number(cell.published), "number"], [short_number(cell.value), "number"], [percent(off), far]];
        const bar = figure.series.length > 1 ? `${cell.series} · ` : "";
        return line(x_label(figure, cell.x || ""), stacked ? bar + cell.part : cell.series, ...numbers);
    });
    const heads = line(figure.x_title, stacked ? "part" : figure.series_axis || "", ["published", "number"], ["ours", "number"], ["deviation", "number"]);
    const open = rows.length <= (is_wide(figure) ? 14 : 6);
    return node("details", { class: "published", open }, node("summary", {}, `Published and ours (${rows.length})`), table(heads, rows));
}

/* Everything drawn, as a table that is made when it is opened. */
function values_table(figure) {
    const stacked = figure.kind === "stacked", columns = stacked ? figure.parts : series_of(figure);
    const fill = () => {
        const lines = new Map();
        for (const cell of figure.cells) {
            const name = [x_label(figure, cell.x), stacked && figure.series.length > 1 ? cell.series : null].filter(Boolean).join(" · ");
            if (!lines.has(name)) lines.set(name, {});
            lines.get(name)[stacked ? cell.part : cell.series || ""] = cell.value;
        }
        const rows = [...lines].map(([name, line]) => [[name], ...columns.map((column) => [short_number(line[column]), "number"])]);
        return [table([[figure.x_title], ...columns.map((column) => [column || figure.y_title, "number"])], rows)];
    };
    return folded("Values", fill);
}

function nothing_there(figure) {
    if (over_cycles(figure)) return "No samples of this launch are in the store yet.";
    if (over_rows(figure)) return figure.x === "pc" ? "No counts of this kernel's instructions are in the store yet." : "No counts of these buckets are in the store yet.";
    return "No run of this figure is in the store yet, or all of them failed.";
}

function figure_section(experiment, figure, number) {
    const empty = !has_data(figure), file = anchor(`${experiment.name}-${figure.name}`);
    const plot = node("div", { class: empty ? "plot empty" : "plot" }, empty ? nothing_there(figure) : null);
    const buttons = node("div", { class: "save" },
        button("SVG", () => figure_svg(figure).then((text) => save(file + ".svg", "image/svg+xml", text)), { title: "Save this figure as SVG" }),
        button("PNG", () => figure_png(figure).then((url) => save(file + ".png", "image/png", url)), { title: "Save this figure as PNG" }));
    const notes = [figure.caption, experiment.sampled ? "Cycles are estimates: a part of each run was timed." : null, figure.normalised_to ? `Relative to ${figure.normalised_to}.` : null];
    if (figure.missing && !empty && over_rows(figure)) notes.push(`${count_of(figure.missing, "run is", "runs are")} missing: not made, failed, or without these counts.`);
    else if (figure.missing && !empty && over_cycles(figure)) notes.push(`${count_of(figure.missing, "line is", "lines are")} missing: not run, failed, or without samples of this launch.`);
    else if (figure.missing && !empty) notes.push(`${count_of(figure.missing, "value is", "values are")} missing (×): not run, or failed.`);
    const source = figure.source && has_published(figure) ? node("p", {}, `Published values: ${figure.source.replace(/\.$/, "")}.`) : null;
    drawings.push({ figure, plot, view: null, width: 0, theme: null });
    return node("figure", { id: "figure-" + number, class: is_wide(figure) && !empty ? "wide" : null, "data-figure": figure.name },
        node("header", {}, node("h3", {}, node("span", { class: "number" }, String(number)), figure.title || figure.name), empty ? null : buttons),
        plot, node("figcaption", {}, node("p", {}, notes.filter(Boolean).join(" ")), source),
        empty ? null : verdict_line(figure), published_table(figure), empty || figure.kind === "scatter" ? null : values_table(figure));
}

/* ------------------------------------------------------------- tables */

/* A paper's own numbers: shown as they were given, and compared with nothing. */
function given_table(given) {
    const looks_numeric = (text) => /^(n\/?a|[-\u2013\u2014?])$/i.test(text) || /^[-+\u2212\u00b1~<>\u2248]?\s*\.?\d/.test(text);
    const kinds = given.columns.map((_, i) => (given.rows.every((row) => !row.values[i] || looks_numeric(row.values[i])) ? "number" : null));
    const rows = given.rows.map((row) => [[row.label], ...row.values.map((text, i) => [text, kinds[i]])]);
    return node("figure", { class: given.columns.length > 6 ? "given wide" : "given", "data-table": given.name },
        node("header", {}, node("h3", {}, given.title || given.name), node("span", { class: "tag" }, "published")),
        table([[""], ...given.columns.map((text, i) => [text, kinds[i]])], rows),
        node("figcaption", {}, given.caption ? node("p", {}, given.caption) : null, node("p", {}, `Published numbers, not ours: ${given.source.replace(/\.$/, "")}.`)));
}

/* ------------------------------------------------------------- the rest */

function facts() {
    const different = (values) => [...new Set(values.filter(Boolean))], failed = runs.filter((run) => run.failure).length;
    const machines = different(runs.map((run) => run.machine)), versions = different(runs.map((run) => run.version));
    const seconds = runs.reduce((sum, run) => sum + (run.wall_seconds || 0), 0);
    const minutes = seconds >= 5400 ? (seconds / 3600).toFixed(1) + " h" : Math.round(seconds / 60) + " min";
    const spent = seconds >= 90 ? minutes : seconds.toFixed(seconds < 10 ? 1 : 0) + " s";
    const list = [
        ["Runs", runs.length.toLocaleString("en") + (failed ? `, ${failed} failed` : "")],
        ["Size", different(data.experiments.map((experiment) => experiment.size)).join(", ")],
        [machines.length > 1 ? "Machines" : "Machine", machines.slice(0, 4).join(", ") + (machines.length > 4 ? ` and ${machines.length - 4} more` : "")],
        ["Simulation time", runs.length ? spent : ""],
        ["Made", day(data.made)],
        ["Heddle", (versions.length ? versions : [data.heddle]).join(", ")],
    ];
    return node("dl", { class: "facts" }, ...list.filter(([, text]) => text).map(([name, text]) => node("div", {}, node("dt", {}, name), node("dd", {}, text))));
}

function failures() {
    const failed = runs.filter((run) => run.failure), named = 8;
    if (!failed.length) return null;
    const name = (run) => ["program", "arguments", "machine", "scheduler", "l1", "divergence", "sets"].map((field) => run[field]).filter(Boolean).join(" ");
    const items = failed.slice(0, named).map((run) => node("li", {}, `${name(run)}: ${run.failure}`));
    const find = () => {
        const filter = document.getElementById("filter");
        filter.value = "failed";
        filter.dispatchEvent(new Event("input"));
    };
    if (failed.length > named) items.push(node("li", {}, node("a", { href: "#runs", click: find }, `and ${failed.length - named} more`)));
    return node("div", { class: "callout" }, node("strong", {}, count_of(failed.length, "run") + " failed"), node("ul", {}, ...items));
}

function contents(figures) {
    if (figures.length < 3) return null;
    return node("ol", { class: "contents" }, ...figures.map((figure, i) =>
        node("li", {}, node("span", { class: "number" }, String(i + 1)), node("a", { href: "#figure-" + (i + 1) }, figure.title || figure.name))));
}

function experiment_section(experiment, first_number, several) {
    const figures = experiment.figures.flatMap((figure, i) => [figure_section(experiment, figure, first_number + i), ...robust_figures(experiment, figure)]).concat(experiment.tables.map(given_table));
    const size = experiment.size ? ` (${experiment.size})` : "";
    const undone = `${experiment.missing} of ${count_of(experiment.points, "point")} not run yet; the same sweep goes on where it stopped.`;
    return node("section", { "data-experiment": experiment.name },
        several ? node("h2", {}, (experiment.title || experiment.name) + size) : null,
        several && experiment.about ? node("p", { class: "soft" }, experiment.about) : null,
        experiment.missing ? node("p", { class: "soft" }, undone) : null,
        figures.length ? node("div", { class: "figures" }, ...figures) : node("p", { class: "soft" }, "This experiment has no figures."));
}

function repeat_section() {
    if (!data.experiments.length) return null;
    const parts = data.experiments.flatMap((experiment) => [
        node("h3", {}, experiment.title || experiment.name),
        command(experiment.command),
        node("details", {}, node("summary", {}, experiment.name + ".ini"), node("pre", {}, experiment.text || ""),
            button("Save", () => save(experiment.name + ".ini", "text/plain", experiment.text || ""))),
    ]);
    const hint = node("p", { class: "soft" }, "The command of a single run is behind its row in the table.");
    return node("section", { id: "repeat" }, node("h2", {}, "Repeat it"), hint, ...parts);
}

/* The first machine of a name has all its keys, the others the lines that differ from it. */
function machine_details(machine) {
    const note = machine.text === undefined ? node("p", { class: "soft small" }, `As the first ${machine.name} of this list, but for:`) : null;
    const text = machine.text === undefined ? machine.changes || "(nothing)" : machine.text;
    return node("details", {}, node("summary", {}, machine.name + (machine.sets ? " with " + machine.sets : "")), note, node("pre", {}, text));
}

function machines_section() {
    const shown = 12, rest = data.machines.slice(shown);
    if (!data.machines.length) return null;
    const more = folded(count_of(rest.length, "more machine"), () => rest.map(machine_details));
    return node("section", { id: "machines" }, node("h2", {}, "Machines"), node("p", { class: "soft" }, "Every key as it was resolved for the runs."),
        ...data.machines.slice(0, shown).map(machine_details), rest.length ? more : null);
}

function footer() {
    return node("footer", {},
        node("p", {}, `Made by Heddle ${data.heddle} from ${data.store}, ${day(data.made)}. Figures by Vega. `,
            "This file needs no network; its numbers are the JSON block with the id “data”."),
        button("Save the data as JSON", () => save(anchor(data.title) + ".json", "application/json", JSON.stringify(data, null, 1))));
}

function build() {
    const several = data.experiments.length > 1, about = !several && data.experiments.length ? data.experiments[0].about : null;
    const sections = [];
    for (const experiment of data.experiments) sections.push(experiment_section(experiment, drawings.length + 1, several));
    const flip = () => {
        look.chosen = theme() === "dark" ? "light" : "dark";
        apply_theme();
    };
    document.getElementById("page").append(...[
        node("div", { class: "top" }, node("h1", {}, data.title), button("", flip, { id: "theme", title: "Light or dark" })),
        about ? node("p", { class: "lede" }, about) : null,
        facts(), failures(), contents(drawings.map((drawing) => drawing.figure)), ...sections,
        runs.length ? runs_section(runs) : node("p", { class: "soft" }, "The store has no runs yet."),
        source_section(data.source, runs), repeat_section(), machines_section(), footer(),
    ].filter(Boolean));
}

build();
offer_comparison();
apply_theme();
dark_wanted.addEventListener("change", apply_theme);
addEventListener("beforeprint", () => printing(true));
addEventListener("afterprint", () => printing(false));
addEventListener("scroll", () => (document.getElementById("tip").hidden = true), { passive: true });
let redraw = 0;
new ResizeObserver(() => {
    cancelAnimationFrame(redraw);
    redraw = requestAnimationFrame(draw_all);
}).observe(document.getElementById("page"));

/* For scripts: heddle.figures names them; heddle.svg(name) and heddle.png(name) are promises of the files. */
const figure_named = (name) => drawings.find((drawing) => drawing.figure.name === name).figure;
window.heddle = {
    data,
    compare: (a, b) => compare_pair(data.compare, runs_by_key.get(a), runs_by_key.get(b)),
    figures: drawings.map((drawing) => drawing.figure.name),
    svg: (name) => figure_svg(figure_named(name)),
    png: (name) => figure_png(figure_named(name)),
};
