/* The page of a correlation with silicon: how far off each counter is, a plot of each, the kernels that are farthest off, and all of them in a table; all out of the JSON block. */

const data = JSON.parse(document.getElementById("data").textContent);
const cycles = data.compared.findIndex((row) => row.name === "cycles");
const half_names = { test: "the test half", fit: "the fitting half", all: "both halves together" };
const half_titles = { test: "The test half", fit: "The fitting half", all: "Both halves together" };
const drawings = []; /* { row: index of what is compared, plot: its element, view, width, theme } */
const is_share = (row) => data.compared[row].kind === "points";

/* ------------------------------------------------------------- numbers */

const whole = (v) => (known(v) ? Math.round(v).toLocaleString("en") : "–");
const error_text = (row, v) => (!known(v) ? "–" : is_share(row) ? `${v.toFixed(1)} points` : percent(v).replace(/^[+−±]/, ""));
const value_text = (row, v) => (!known(v) ? "–" : is_share(row) ? (100 * v).toFixed(1) + "%" : whole(v));
/* With its sign: ours against silicon's. */
function difference(point, row) {
    const [there, here] = [point.silicon[row], point.ours[row]];
    if (!known(there) || !known(here)) return null;
    if (is_share(row)) return 100 * (here - there);
    return there === here ? 0 : there === 0 ? null : here / there - 1;
}
function difference_text(point, row) {
    const v = difference(point, row);
    if (v === null) return "–";
    if (!is_share(row)) return percent(v).replace("±0.0%", "0");
    return Math.abs(v) < 0.05 ? "0" : (v > 0 ? "+" : "−") + Math.abs(v).toFixed(1);
}
const shape = (list) => list.join("×").replace(/(×1)+$/, "");
const point_name = (point) => [point.program, point.size].filter(Boolean).join(" ") + " · " + point.kernel;

/* ------------------------------------------------------------- light and dark, and paper */

const dark_wanted = matchMedia("(prefers-color-scheme: dark)");
const look = { chosen: null, printing: false };
const theme = () => (look.printing ? "light" : look.chosen || (dark_wanted.matches ? "dark" : "light"));

function apply_theme() {
    document.documentElement.dataset.theme = theme();
    document.getElementById("theme").textContent = theme() === "dark" ? "Light" : "Dark";
    drawings.forEach(draw);
}

function printing(yes) {
    look.printing = yes;
    for (const details of document.querySelectorAll("details")) {
        if (yes) details.dataset.was = details.open;
        details.open = yes || details.dataset.was === "true";
    }
    apply_theme();
}

/* ------------------------------------------------------------- plots */

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

function point_tip(point, row) {
    return {
        title: point_name(point),
        rows: [
            ["silicon", value_text(row, point.silicon[row])], ["ours", value_text(row, point.ours[row])],
            [is_share(row) ? "points" : "difference", difference_text(point, row)],
            ["grid, block", `${shape(point.grid)}, ${shape(point.block)}`], ["launches", whole(point.launches)], ["half", point.half],
            ...(row === cycles && point.cause ? [["likely cause", point.cause]] : []),
        ],
    };
}

/* What can be drawn: with both values, and on logarithmic axes above zero. */
const drawable = (point, row) => known(point.silicon[row]) && known(point.ours[row]) && (is_share(row) || (point.silicon[row] > 0 && point.ours[row] > 0));

function rows_of_points(row) {
    return data.points.filter((point) => drawable(point, row)).map((point) => ({
        there: point.silicon[row], here: point.ours[row], half: point.half, tip: point_tip(point, row),
    }));
}

/* The diagonal, and two lines between which the error is within the bound. */
function guide_lines(row, low, high, ink) {
    const { bound } = data.compared[row], beside = (by) => (x) => (is_share(row) ? x + by / 100 : x * (1 + by));
    const guides = [{ name: "exact", at: beside(0), stroke: ink.ink, dash: [] }];
    if (bound > 0) guides.push({ name: "above", at: beside(bound), stroke: ink.faint, dash: [4, 3] }, { name: "below", at: beside(-bound), stroke: ink.faint, dash: [4, 3] });
    return {
        tables: guides.map((guide) => ({ name: guide.name, values: [low, high].map((x) => ({ x, y: guide.at(x) })) })),
        marks: guides.map((guide) => ({
            type: "line", interactive: false, clip: true, from: { data: guide.name },
            encode: { enter: { x: { scale: "u", field: "x" }, y: { scale: "v", field: "y" }, stroke: { value: guide.stroke }, strokeDash: { value: guide.dash }, strokeWidth: { value: 1 } } },
        })),
    };
}

/* Both axes have the same: a little more than there is. */
function plot_domain(row, rows) {
    const values = rows.flatMap((one) => [one.there, one.here]);
    return is_share(row) ? [0, 1] : [least(values) / 1.4, most(values) * 1.4];
}

function plot_spec(row, width, look_name) {
    const rows = rows_of_points(row), ink = inks[look_name], shares = is_share(row), title = data.compared[row].title;
    const [low, high] = plot_domain(row, rows);
    const scale = shares ? { type: "linear", domain: [0, 1], nice: false } : { type: "log", domain: [low, high], nice: false };
    const lines = guide_lines(row, low, high, ink), halves = ["test", "fit"].filter((half) => rows.some((one) => one.half === half));
    const colours = { test: palettes[look_name][0], fit: palettes[look_name][1] }, format = shares ? ".0%" : "~s", height = Math.round(Math.min(400, Math.max(230, width * 0.72)));
    const axis = { grid: true, domain: false, ticks: false, format, ...(shares ? { tickCount: 5 } : { values: decades(low, high) }) };
    const dots = mark("symbol", "drawn", {
        x: { scale: "u", field: "there" }, y: { scale: "v", field: "here" }, shape: { scale: "shape", field: "half" }, fill: { scale: "colour", field: "half" },
        stroke: { value: ink.page }, strokeWidth: { value: 0.7 },
    }, { name: "values", update: { size: { value: 52 }, fillOpacity: { value: 0.8 } }, hover: { size: { value: 120 }, fillOpacity: { value: 1 } } });
    return frame({ title: `${title}: silicon and ours` }, width, height, look_name, {
        data: [{ name: "drawn", values: rows }, ...lines.tables],
        scales: [
            { name: "u", ...scale, range: "width" }, { name: "v", ...scale, range: "height" },
            { name: "colour", type: "ordinal", domain: halves, range: halves.map((half) => colours[half]) },
            { name: "shape", type: "ordinal", domain: halves, range: halves.map((half) => (half === "test" ? "circle" : "triangle-up")) },
        ],
        axes: [{ ...axis, orient: "bottom", scale: "u", title: "silicon" }, { ...axis, orient: "left", scale: "v", title: "ours" }],
        legends: halves.length > 1 ? [{ fill: "colour", shape: "shape", orient: "top", direction: "horizontal", offset: 8 }] : [],
        marks: [...lines.marks, dots],
    });
}

/* Powers of ten: every second where there are many, and 2 and 5 times where there are few. */
function decades(low, high) {
    const range = Math.log10(high / low), factors = range < 1.5 ? [1, 2, 5] : [1], step = range > 7 ? 2 : 1, list = [];
    for (let i = Math.floor(Math.log10(low) / step) * step; 10 ** i <= high; i += step) list.push(...factors.map((factor) => factor * 10 ** i));
    return list.filter((value) => value >= low && value <= high);
}

function make_view(row, width, look_name, renderer) {
    return new vega.View(vega.parse(plot_spec(row, Math.max(240, Math.floor(width)), look_name)), { renderer, logLevel: vega.Warn });
}

function draw(drawing) {
    const width = look.printing ? 330 : drawing.plot.clientWidth;
    if (!width || (drawing.width === width && drawing.theme === theme())) return;
    if (drawing.view) drawing.view.finalize();
    drawing.width = width;
    drawing.theme = theme();
    drawing.view = make_view(drawing.row, width, drawing.theme, "svg");
    drawing.view.tooltip(show_tip).initialize(drawing.plot).hover().run();
}

const plot_svg = (row) => make_view(row, 560, "light", "none").background("white").runAsync().then((view) => view.toSVG());

function score_line(row) {
    const names = ["test", "fit", "all"].filter((half) => data.scores[half] && (half !== "all" || data.half === "all"));
    return names.map((half) => {
        const score = data.scores[half][row], text = `mean error ${error_text(row, score.mean)}, ${within_text(score)} ${data.compared[row].within}`;
        return names.length > 1 ? `${half}: ${text}` : text;
    }).join("; ").replace(/^./, (first) => first.toUpperCase()) + ".";
}

function plot_section(row) {
    const { title } = data.compared[row], drawn = data.points.filter((point) => drawable(point, row)).length;
    const both = data.points.filter((point) => known(point.silicon[row]) && known(point.ours[row])).length;
    if (!both) return null;
    const plot = node("div", { class: drawn ? "plot" : "plot empty" }, drawn ? null : "Nothing to draw: a value is 0 in all of them.");
    if (drawn) drawings.push({ row, plot, view: null, width: 0, theme: null });
    const missing = data.points.length - drawn ? ` ${count_of(data.points.length - drawn, "point")} without a value${is_share(row) ? "" : ", or with 0,"} not drawn.` : "";
    const file = anchor(`${data.machine}-${title}.svg`).replace(/-svg$/, ".svg");
    return node("figure", { "data-compared": data.compared[row].name },
        node("header", {}, node("h3", {}, title), node("div", { class: "save" }, button("SVG", () => plot_svg(row).then((text) => save(file, "image/svg+xml", text)), { title: "Save this plot as SVG" }))),
        plot, node("figcaption", {}, node("p", {}, score_line(row) + missing)));
}

/* ------------------------------------------------------------- scores */

const within_text = (score) => (known(score.within) ? Math.round(100 * score.within) + "%" : "–");

function score_table(half) {
    const rows = data.compared.map((row, i) => {
        const score = data.scores[half][i];
        return [[row.title], [whole(score.kernels), "number"], [error_text(i, score.mean), "number"], [error_text(i, score.median), "number"],
            [known(score.correlation) ? score.correlation.toFixed(3) : "–", "number"], [within_text(score), "number"], [row.within]];
    });
    return table([[""], ["kernels", "number"], ["mean error", "number"], ["median", "number"], ["correlation", "number"], ["", "number"], ["of kernels are"]], rows);
}

const shown_half = data.half || (data.scores.test ? "test" : "fit");
const other_half = !data.half && data.scores.test && data.scores.fit ? "fit" : null;

function headline() {
    const score = data.scores[shown_half][cycles];
    const list = [["Kernels", whole(score.kernels)], ["Cycles: mean error", error_text(cycles, score.mean)], ["Median error", error_text(cycles, score.median)],
        ["Correlation of logarithms", known(score.correlation) ? score.correlation.toFixed(3) : "–"], ["More than 50% off", `${score.far} of ${score.points}`]];
    return node("dl", { class: "headline", "aria-label": half_names[shown_half] }, ...list.map(([name, text]) => node("div", {}, node("dt", {}, name), node("dd", {}, text))));
}

function scores_section() {
    return node("section", { id: "scores" }, node("h2", {}, "How far off"),
        node("h3", { class: "part" }, half_titles[shown_half]), score_table(shown_half),
        ...(other_half ? [node("h3", { class: "part" }, half_titles[other_half] + ", apart"), score_table(other_half)] : []),
        node("p", { class: "soft small" }, "Errors are absolute: |ours − silicon| / silicon, of shares the difference in points. A kernel counts once, whatever the number of its launches and grids. ",
            "The correlation is of logarithms, of shares that of the shares."));
}

/* ------------------------------------------------------------- tables of points */

const far_class = (point, row) => (known(point.errors[row]) && point.errors[row] <= data.compared[row].bound ? "number" : "number far");

function worst_section() {
    const points = data.points.filter((point) => (shown_half === "all" || point.half === shown_half) && known(point.errors[cycles])).slice(0, 10);
    if (!points.length) return null;
    const rows = points.map((point) => [[[point.program, point.size].filter(Boolean).join(" ")], [point.kernel, "name"], [whole(point.launches), "number"], [whole(point.silicon[cycles]), "number"],
        [whole(point.ours[cycles]), "number"], [difference_text(point, cycles), "number far"], [point.cause || "", "cause"]]);
    const made = table([["program"], ["kernel"], ["launches", "number"], ["silicon", "number"], ["ours", "number"], ["difference", "number"], ["likely cause"]], rows);
    made.querySelector("table").classList.add("worst");
    return node("section", { id: "worst" }, node("h2", {}, "Cycles farthest off"), node("p", { class: "soft" }, `Of ${half_names[shown_half]}. A cause is named where another counter differs in the direction that explains it; where none does, nothing is.`), made);
}

const point_columns = [
    { title: "Program", text: (point) => point.program },
    { title: "Size", text: (point) => point.size },
    { title: "Kernel", text: (point) => point.kernel, kind: () => "name" },
    { title: "Half", text: (point) => point.half },
    { title: "Grid", text: (point) => shape(point.grid), value: (point) => point.grid.reduce((a, b) => a * b) },
    { title: "Block", text: (point) => shape(point.block), value: (point) => point.block.reduce((a, b) => a * b) },
    { title: "Launches", text: (point) => whole(point.launches), value: (point) => point.launches, number: true },
    { title: "Cycles, silicon", text: (point) => whole(point.silicon[cycles]), value: (point) => point.silicon[cycles], number: true },
    { title: "Ours", text: (point) => whole(point.ours[cycles]), value: (point) => point.ours[cycles], number: true },
    ...data.compared.map((row, i) => ({
        title: row.name[0].toUpperCase() + row.name.slice(1), text: (point) => difference_text(point, i), value: (point) => difference(point, i), number: true, kind: (point) => far_class(point, i),
    })),
    { title: "Likely cause", text: (point) => point.cause || "", kind: () => "cause" },
];

function sorted_points(points, column, falling) {
    const collator = new Intl.Collator("en", { numeric: true }), sign = falling ? -1 : 1, value = column.value;
    if (!value) return [...points].sort((a, b) => sign * collator.compare(column.text(a), column.text(b)));
    const none = (v) => !known(v);
    return [...points].sort((a, b) => none(value(a)) - none(value(b)) || sign * (value(a) - value(b)) || 0);
}

function points_section() {
    const state = { column: null, falling: false, words: [] }, body = node("tbody", {}), count = node("span", { class: "right" });
    const heads = point_columns.map((column) => {
        const cell = node("th", { scope: "col", class: column.number ? "number" : null }, button(column.title, () => {
            state.falling = state.column === column ? !state.falling : Boolean(column.number);
            state.column = column;
            fill();
        }));
        return cell;
    });
    const fill = () => {
        const text = (point) => [point.program, point.size, point.kernel, point.half, point.cause].join(" ").toLowerCase();
        let points = data.points.filter((point) => state.words.every((word) => text(point).includes(word)));
        if (state.column) points = sorted_points(points, state.column, state.falling);
        body.replaceChildren(...points.map((point) => node("tr", {}, ...point_columns.map((column) => node("td", { class: (column.kind && column.kind(point)) || (column.number ? "number" : null) }, column.text(point))))));
        count.textContent = points.length === data.points.length ? count_of(points.length, "point") : `${points.length} of ${count_of(data.points.length, "point")}`;
        heads.forEach((head, i) => head.setAttribute("aria-sort", point_columns[i] !== state.column ? "none" : state.falling ? "descending" : "ascending"));
    };
    const search = node("input", { type: "search", id: "filter", placeholder: "Filter: program, kernel, half, cause", "aria-label": "Filter the points", input: (event) => {
        state.words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
        fill();
    } });
    fill();
    return node("section", { id: "points" }, node("h2", {}, "All kernels"),
        node("p", { class: "soft" }, "A point is a kernel of a program with one grid and block; its launches are added up. From “Cycles” on: ours against silicon's, of shares in points. Coloured: beyond the bound. Click on a column to sort."),
        node("div", { class: "bar" }, search, count),
        node("div", { class: "scroll", tabindex: "0" }, node("table", { class: "runs points" }, node("thead", {}, node("tr", {}, ...heads)), body)));
}

/* ------------------------------------------------------------- the rest */

function facts() {
    const launches = data.points.reduce((sum, point) => sum + point.launches, 0);
    const list = [["Machine", data.machine + (data.sets ? ", " + data.sets : "")], ["Silicon", data.recordings], ["Programs", whole(data.programs)], ["Launches", whole(launches)],
        ["Shown", { fit: "the fitting half alone", test: "the test half alone", all: "both halves together" }[data.half] || "the test half; the fitting half apart"], ["Made", day(data.made)], ["Heddle", `${data.heddle} (${data.commit})`]];
    return node("dl", { class: "facts" }, ...list.filter(([, text]) => text).map(([name, text]) => node("div", {}, node("dt", {}, name), node("dd", {}, text))));
}

function notes() {
    if (!data.notes.length) return null;
    return node("details", { open: data.notes.length <= 4 }, node("summary", {}, count_of(data.notes.length, "note") + ": what was not compared, and why"),
        node("ul", { class: "notes" }, ...data.notes.map((text) => node("li", {}, text))));
}

function build() {
    const flip = () => {
        look.chosen = theme() === "dark" ? "light" : "dark";
        apply_theme();
    };
    const plots = data.compared.map((_, i) => plot_section(i)).filter(Boolean);
    document.getElementById("page").append(...[
        node("div", { class: "top" }, node("h1", {}, data.title), button("", flip, { id: "theme", title: "Light or dark" })),
        node("p", { class: "lede" }, "Counters that Nsight Compute recorded on a GPU beside those of the simulated machine, kernel by kernel."),
        facts(), headline(), notes(), scores_section(), worst_section(),
        node("section", { id: "plots" }, node("h2", {}, "Silicon and ours"), node("p", { class: "soft" }, "On the line both are equal; between the dashed ones the error is within the bound. Above the line we count more. Point at a mark for its name."),
            node("div", { class: "figures" }, ...plots)),
        points_section(),
        node("section", { id: "repeat" }, node("h2", {}, "Repeat it"), command(data.command)),
        node("footer", {}, node("p", {}, `Made by Heddle ${data.heddle}, ${day(data.made)}. Figures by Vega. This file needs no network; its numbers are the JSON block with the id “data”.`),
            button("Save the data as JSON", () => save(anchor(data.title) + ".json", "application/json", JSON.stringify(data, null, 1)))),
    ].filter(Boolean));
}

build();
apply_theme();
dark_wanted.addEventListener("change", apply_theme);
addEventListener("beforeprint", () => printing(true));
addEventListener("afterprint", () => printing(false));
addEventListener("scroll", () => (document.getElementById("tip").hidden = true), { passive: true });
let redraw = 0;
new ResizeObserver(() => {
    cancelAnimationFrame(redraw);
    redraw = requestAnimationFrame(() => drawings.forEach(draw));
}).observe(document.getElementById("page"));

/* For scripts. */
window.heddle = { data, plots: drawings.map((drawing) => data.compared[drawing.row].name), svg: (name) => plot_svg(data.compared.findIndex((row) => row.name === name)) };
