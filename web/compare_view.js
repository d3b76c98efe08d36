/* Picking two runs and seeing them beside each other. A bar, point or field is picked by a click, or by Enter when it has the focus (Tab to a figure, arrows within it); a run of the table by its button. The
 * first that is picked is the baseline; a third takes the place of the second. */

const picked = []; /* keys of runs: none, one or two */
const panel = document.createElement("section");
panel.className = "comparison";
panel.setAttribute("aria-live", "polite");
panel.hidden = true;

const can_pick = (key) => Boolean(key && data.compare.counters.runs[key] && runs_by_key.has(key));
const run_of_mark = (element) => (element && element.__data__ && element.__data__.datum ? element.__data__.datum.run : undefined);
const marks_of = (plot) => [...plot.querySelectorAll(".values > path")].filter((element) => can_pick(run_of_mark(element)));

/* ------------------------------------------------------------- picking */

/* After the row of figures that this one is in, over the whole width; in the table, after it. */
function put_panel(place) {
    const figure = place.closest("figure"), next = figure && figure.nextElementSibling;
    const beside = next && next.matches("figure") && Math.abs(next.offsetTop - figure.offsetTop) < 2;
    (figure ? (beside ? next : figure) : place).after(panel);
    panel.dataset.beside = figure ? figure.dataset.figure : "runs";
}

/* place: the element that was clicked in. */
function pick(key, place) {
    const at = picked.indexOf(key);
    if (at >= 0) picked.splice(at, 1);
    else if (picked.length < 2) picked.push(key);
    else picked[1] = key;
    put_panel(place);
    show_picked();
}

function show_picked() {
    for (const { plot } of drawings) show_picked_marks(plot);
    for (const element of document.querySelectorAll("button.pick")) {
        const on = picked.includes(element.dataset.run);
        element.setAttribute("aria-pressed", String(on));
        element.textContent = on ? "Do not compare" : "Compare this run";
    }
    panel.hidden = !picked.length;
    panel.replaceChildren(...(picked.length === 2 ? comparison_parts() : picked.length ? [one_picked()] : []));
}

function show_picked_marks(plot) {
    for (const element of marks_of(plot)) {
        const number = picked.indexOf(run_of_mark(element));
        element.classList.toggle("picked", number >= 0);
        element.setAttribute("aria-pressed", String(number >= 0));
    }
}

/* A figure that has just been made, and is there when the view has run. */
function let_pick(drawing) {
    const { plot, view } = drawing;
    view.addEventListener("click", (_, item) => item && item.datum && can_pick(item.datum.run) && pick(item.datum.run, plot));
    if (!plot.dataset.keys) plot.addEventListener("keydown", (event) => move_or_pick(event, plot));
    plot.dataset.keys = "yes";
    view.runAsync().then(() => drawing.view === view && let_reach(plot));
}

/* One of the marks is reached by Tab, the others from there. */
function let_reach(plot) {
    marks_of(plot).forEach((element, i) => {
        const { title, rows } = element.__data__.datum.tip;
        element.setAttribute("role", "button");
        element.setAttribute("tabindex", i ? "-1" : "0");
        element.setAttribute("aria-label", `${title}: ${rows[0].join(" ")}`);
    });
    show_picked_marks(plot);
}

function move_or_pick(event, plot) {
    const marks = marks_of(plot), at = marks.indexOf(document.activeElement), step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (at < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
    const to = step ? marks[at + step] : event.key === "Home" ? marks[0] : event.key === "End" ? marks[marks.length - 1] : null;
    if (to) {
        marks[at].setAttribute("tabindex", "-1");
        to.setAttribute("tabindex", "0");
        to.focus();
    } else if (event.key === "Enter" || event.key === " ") pick(run_of_mark(marks[at]), plot);
    else if (event.key === "Escape" && picked.length) forget_picked();
    else return;
    event.preventDefault();
}

function forget_picked() {
    picked.length = 0;
    show_picked();
}

/* For the table of runs. */
function pick_button(run) {
    if (!can_pick(run.key)) return null;
    const choose = (event) => pick(run.key, event.target.closest(".scroll"));
    return button(picked.includes(run.key) ? "Do not compare" : "Compare this run", choose, { class: "pick", "data-run": run.key, "aria-pressed": String(picked.includes(run.key)) });
}

function offer_comparison() {
    const first = document.querySelector(".figures");
    if (first && Object.keys(data.compare.counters.runs).length > 1)
        first.before(node("p", { class: "soft small" }, "Click on two bars (or points, or fields) to see why their runs differ."));
}

/* ------------------------------------------------------------- the comparison */

const described = (run) => ["program", "arguments", "machine", "sets", "scheduler", "l1", "divergence"].map((field) => run[field]).filter(Boolean).join(" ");

function one_picked() {
    return node("p", { class: "waiting" }, node("span", { class: "chip" }, "A"), described(runs_by_key.get(picked[0])), node("span", { class: "soft" }, " — pick another to compare it with. "),
        button("Clear", forget_picked));
}

const signed_number = (value) => (value > 0 ? "+" : value < 0 ? "−" : "") + short_number(Math.abs(value));
const relative_change = (a, b) => (a === b ? "" : a === 0 ? "new" : b / a >= 10 ? "×" + short_number(b / a) : percent(b / a - 1));
const part_class = (i) => `part part-${i}`;

function part_bars(compared) {
    const longest = Math.max(...compared.cycles);
    const bar = (side, i) => node("div", { class: "parts", role: "img", "aria-label": `${compared.labels[i]}: ${exact_number(compared.cycles[i])} cycles` },
        ...compared.parts.map((part, n) => (part[side] > 0 ? node("span", { class: part_class(n), style: `width:${(100 * part[side]) / longest}%`, title: `${part.title}: ${short_number(part[side])} cycles` }) : null)));
    return node("div", { class: "bars" }, ...["a", "b"].flatMap((side, i) => [node("span", { class: "name" }, compared.labels[i]), bar(side, i), node("span", { class: "number" }, exact_number(compared.cycles[i]))]));
}

function part_table(compared) {
    const all = compared.cycles[1] - compared.cycles[0], numbers = compared.parts.map((part, i) => ({ ...part, i })).filter((part) => part.a || part.b);
    numbers.sort((x, y) => Math.abs(y.b - y.a) - Math.abs(x.b - x.a) || x.i - y.i);
    const line = (title, a, b) => [[title], [short_number(a), "number"], [short_number(b), "number"], [signed_number(b - a), "number"], [all ? percent((b - a) / all).replace(/^[+±]/, "") : "", "number"]];
    const rows = numbers.map((part) => line(node("span", {}, node("span", { class: "swatch " + part_class(part.i) }), part.title), part.a, part.b));
    rows.push(line("all", ...compared.cycles));
    return table([["Cycles spent"], [compared.labels[0], "number"], [compared.labels[1], "number"], ["difference", "number"], ["share of it", "number"]], rows);
}

/* Two bars for each reason, in warp cycles. */
function stall_table(compared) {
    const rows = compared.stalls.filter((stall) => stall.a > 0 || stall.b > 0), longest = Math.max(1, ...rows.flatMap((stall) => [stall.a, stall.b]));
    const bar = (value, side) => node("span", { class: "stall stall-" + side, style: `width:${(100 * value) / longest}%` });
    const both = (stall) => node("div", { class: "pair", role: "img", "aria-label": `${stall.name}: ${exact_number(stall.a)} and ${exact_number(stall.b)}` }, bar(stall.a, "a"), bar(stall.b, "b"));
    const key = (label, side) => node("span", {}, node("span", { class: "swatch stall-" + side }), label);
    return table([["Warp cycles"], ["", "wide"], [key(compared.labels[0], "a"), "number"], [key(compared.labels[1], "b"), "number"], ["change", "number"]],
        rows.map((stall) => [[stall.name.replace("_", " ")], [both(stall), "wide"], [short_number(stall.a), "number"], [short_number(stall.b), "number"], [relative_change(stall.a, stall.b), "number"]]));
}

function metric_details(compared) {
    const rows = compared.metrics.map((m) => [[m.name], [short_number(m.a), "number"], [short_number(m.b), "number"], [relative_change(m.a, m.b), "number"], [m.unit]]);
    if (!rows.length) return null;
    const heads = [["metric"], [compared.labels[0], "number"], [compared.labels[1], "number"], ["change", "number"], ["unit"]];
    return node("details", {}, node("summary", {}, `Other counters, by relative change (${rows.length}); they carry no cycles by themselves`), table(heads, rows));
}

function comparison_parts() {
    const [a, b] = picked.map((key) => runs_by_key.get(key)), compared = compare_pair(data.compare, a, b);
    const swap = () => {
        picked.reverse();
        show_picked();
    };
    const buttons = node("div", { class: "save" }, button("Swap", swap), button("Close", forget_picked));
    const run = (label, letter, of) => node("p", { class: "soft small" }, node("span", { class: "chip" }, letter), label === letter ? "" : node("b", {}, label + " "), described(of));
    const head = node("header", {}, node("h4", {}, compared ? `${compared.labels[0]} and ${compared.labels[1]}` : "Two runs"), buttons);
    if (!compared) return [head, node("p", {}, "One of these runs has no counters to compare: it failed, or ran without time.")];
    return [
        head, run(compared.labels[0], "A", a), run(compared.labels[1], "B", b),
        node("p", { class: "said" }, compared.sentences.map((sentence) => sentence.text).join(" ")),
        ...compared.notes.map((text) => node("p", { class: "soft small note" }, "Note: " + text)),
        ...(compared.same ? [] : [part_bars(compared), node("div", { class: "tables" }, part_table(compared), stall_table(compared)), metric_details(compared)]),
        node("p", { class: "soft small" }, "Kernels and instructions that moved:"), command(`heddle compare ${data.store}:${a.key.slice(0, 12)} ${data.store}:${b.key.slice(0, 12)}`),
    ].filter(Boolean);
}
