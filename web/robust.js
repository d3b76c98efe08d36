/* A figure on other machines: which orders and expectations hold where, and a tornado for each pair: how far each factor moves the ratio of the two. */

const most_tornados = 12;
const extras = []; /* drawings that are not numbered figures */
const outcome_colours = {
    light: { holds: "#0072B2", level: "#9a9fa6", turned: "#D55E00" },
    dark: { holds: "#77AADD", level: "#8a9099", turned: "#EE8866" },
};

/* One row for each machine that has a ratio, and the factors, the widest first. */
function tornado_rows(figure) {
    const { robust, judgement } = figure, base = judgement.ratios[0], extent = new Map();
    const rows = robust.machines.map((machine, i) => ({ ...machine, ratio: judgement.ratios[i], outcome: judgement.outcomes[i] })).slice(1).filter((row) => known(row.ratio));
    for (const row of rows) {
        row.tip = { title: row.label, rows: [[figure.y_title, exact_number(row.ratio)], ["on the base machine", exact_number(base)], ["the order", row.outcome]] };
        if (!row.factor) continue;
        const [low, high] = extent.get(row.factor) || [base, base];
        extent.set(row.factor, [Math.min(low, row.ratio), Math.max(high, row.ratio)]);
    }
    const factors = [...extent.keys()].sort((a, b) => extent.get(b)[1] - extent.get(b)[0] - (extent.get(a)[1] - extent.get(a)[0]));
    const others = rows.filter((row) => !row.factor), counts = new Map();
    for (const row of rows) {
        row.row = row.factor || "all at once";
        row.half = counts.get(row.row) || 0; /* the first value above, the second below */
        counts.set(row.row, 1);
    }
    return { alone: rows.filter((row) => row.factor), others, factors: others.length ? [...factors, "all at once"] : factors, base };
}

function tornado_spec(figure, width, theme) {
    const { alone, others, factors, base } = tornado_rows(figure), ink = inks[theme], height = factors.length * 30;
    const ratios = [1, base, ...alone.map((row) => row.ratio), ...others.map((row) => row.ratio)], label = widest(alone.map((row) => row.value), 9.5) + 8;
    const inner = Math.max(label * 3, width - widest(factors) - 30), room = ((most(ratios) - least(ratios) || 1) * label) / (inner - 2 * label); /* names of values fit at both ends */
    const y = { scale: "u", field: "row", offset: { signal: "datum.half * bandwidth('u') / 2" } };
    const line = (at, dash, colour) => mark("rule", null, { x: { scale: "v", value: at }, y: { value: 0 }, y2: { signal: "height" }, stroke: { value: colour }, strokeDash: { value: dash } }, { interactive: false });
    const bars = mark("rect", "alone", {
        x: { scale: "v", field: "ratio" }, x2: { scale: "v", value: base }, y, height: { signal: "bandwidth('u') / 2 - 1" }, fill: { scale: "colour", field: "outcome" },
    }, { name: "values", ...fades });
    const names = mark("text", "alone", {
        x: { scale: "v", field: "ratio", offset: { signal: `datum.ratio < ${base} ? -4 : 4` } }, y: { ...y, offset: { signal: "(datum.half * 2 + 1) * bandwidth('u') / 4" } },
        text: { field: "value" }, align: { signal: `datum.ratio < ${base} ? 'right' : 'left'` }, baseline: { value: "middle" }, fontSize: { value: 9.5 }, fill: { value: ink.soft },
    }, { interactive: false });
    const dots = mark("symbol", "others", {
        x: { scale: "v", field: "ratio" }, y: { scale: "u", field: "row", band: 0.5 }, size: { value: 46 }, fill: { scale: "colour", field: "outcome" }, stroke: { value: ink.page }, fillOpacity: { value: 0.85 },
    }, { name: "sample" });
    return frame(figure, width, height, theme, {
        data: [{ name: "alone", values: alone }, { name: "others", values: others }],
        scales: [
            { name: "u", type: "band", domain: factors, range: [0, height], paddingInner: 0.25, paddingOuter: 0.1 },
            { name: "v", type: "linear", domain: [least(ratios) - room, most(ratios) + room], range: "width", zero: false, nice: false },
            { name: "colour", type: "ordinal", domain: ["holds", "level", "turned"], range: Object.values(outcome_colours[theme]) },
        ],
        axes: [
            { orient: "bottom", scale: "v", grid: true, domain: false, ticks: false, tickCount: Math.max(3, Math.floor(width / 90)), title: figure.y_title },
            { orient: "left", scale: "u", ticks: false, domain: false, labelPadding: 8 },
        ],
        legends: [{ fill: "colour", symbolType: "square", orient: "top", direction: "horizontal", offset: 8 }],
        marks: [line(1, [], ink.ink), line(base, [4, 3], ink.soft), bars, names, dots],
    });
}

function tornado(experiment, figure, judgement, number) {
    const drawn = {
        kind: "tornado", name: `${figure.name}-robust-${number}`, title: judgement.text, y_title: judgement.text.replace(/^.*?: /, "").replace(" > ", " over "), robust: figure.robust, judgement,
        cells: judgement.ratios.map((value) => ({ value })), xs: [], series: [],
    };
    const plot = node("div", { class: "plot" }), file = anchor(`${experiment.name}-${drawn.name}`);
    const share = `Holds on ${judgement.held} of ${judgement.known} machines` + (judgement.level ? `, level on ${judgement.level}` : "");
    extras.push({ figure: drawn, plot, view: null, width: 0, theme: null });
    return node("figure", { "data-tornado": judgement.text },
        node("header", {}, node("h3", {}, judgement.text), node("div", { class: "save" },
            button("SVG", () => figure_svg(drawn).then((text) => save(file + ".svg", "image/svg+xml", text)), { title: "Save this plot as SVG" }))),
        plot, node("figcaption", {}, node("p", {}, `${share}. ${judgement.turned_by ? `Turned by ${judgement.turned_by}.` : "Nothing turns it."}`)));
}

function judgement_table(robust) {
    const rows = robust.judgements.filter((one) => one.judged).map((one) => [
        [one.text], [one.kind === "claim" ? "expected" : "order"],
        [one.kind === "claim" ? { holds: "holds", turned: "does not hold" }[one.outcomes[0]] || "–" : short_number(one.ratios[0]), "number"],
        [`${one.held} of ${one.known}`, "number"], [String(one.level || ""), "number"], [one.turned_by || ""],
    ]);
    return table([["what"], [""], ["base machine", "number"], ["holds on", "number"], ["level", "number"], ["turned by"]], rows);
}

/* Beside a figure that was judged on other machines: the table, and plots, the least certain first. */
function robust_figures(experiment, figure) {
    if (!figure.robust) return [];
    const { machines, judgements } = figure.robust, pairs = judgements.filter((one) => one.kind === "pair" && one.judged), close = judgements.filter((one) => !one.judged);
    const notes = [`${count_of(machines.length, "machine")}: the base, ${machines.filter((m) => m.factor).length} with one factor changed, ${machines.filter((m) => m.levels).length} with all of them at once.`,
        "An order holds where the first is ahead by 1% or more, and is level within 1%.", close.length ? `Too close on the base machine, or without a run there: ${close.map((one) => one.text).join("; ")}.` : null,
        pairs.length > most_tornados ? `The ${most_tornados} least certain are drawn.` : null];
    const summary = node("figure", { class: "wide", "data-robust": figure.name }, node("header", {}, node("h3", {}, "On other machines: " + (figure.title || figure.name))),
        judgement_table(figure.robust), node("figcaption", {}, node("p", {}, notes.filter(Boolean).join(" "))));
    return [summary, ...pairs.slice(0, most_tornados).map((one, i) => tornado(experiment, figure, one, i + 1))];
}
