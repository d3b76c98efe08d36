/* A figure as a Vega specification: figure_spec(figure, width, theme, runs), with one function a kind. Positions that depend on the width are computed here: bars lie down where a phone has no room for
 * them, stacked bars of several series become small panels. The values are always the mark named "values". */

const chart_height = (width, share) => Math.round(Math.min(340, Math.max(230, width * share)));

/* ------------------------------------------------------------- bars */

function bars_spec(figure, width, theme, runs) {
    const rows = rows_of(figure, runs), labels = x_labels(figure), series = series_of(figure), count = series.length, ink = inks[theme];
    const step = (width - 60) / Math.max(1, labels.length), thin = (step * 0.8) / count < 5.5 || (count === 1 && step < 18);
    const c = thin ? lying : standing, height = thin ? labels.length * (count * (count > 1 ? 11 : 18) + 12) : chart_height(width, 0.34);
    const padding = Math.min(0.8, Math.max(count > 1 ? 0.2 : 0.35, thin ? 0 : 1 - (36 * count) / step)); /* no bar wider than 36 */
    const slot = { scale: "u", field: "x", offset: { scale: "slot", field: "series" } };
    const values = mark("rect", "drawn", {
        [c.u]: slot, [c.du]: { scale: "slot", band: 1 }, [c.v]: { scale: "v", field: "value" }, [c.v2]: { scale: "v", value: 0 },
        fill: { scale: "colour", field: "series" },
    }, { name: "values", ...fades });
    const missing = mark("text", "missing", {
        [c.u]: { ...slot, offset: { signal: "scale('slot', datum.series) + bandwidth('slot') / 2" } }, [c.v]: { scale: "v", value: 0, offset: thin ? 6 : -6 },
        text: { value: "×" }, fill: { value: ink.faint }, align: { value: "center" }, baseline: { value: thin ? "middle" : "bottom" },
    });
    const over = "min(2, bandwidth('slot') * 0.1)"; /* a tick is a little wider than its bar */
    const published = mark("rect", "published", {
        [c.u]: { ...slot, offset: { signal: `scale('slot', datum.series) - ${over}` } }, [c.du]: { signal: `bandwidth('slot') + 2 * ${over}` },
        [c.vc]: { scale: "v", field: "published" }, [c.dv]: { value: 2.6 }, fill: { value: ink.ink }, stroke: { value: ink.page }, strokeWidth: { value: 1 },
    }, { name: "published_values" });
    return frame(figure, width, height, theme, {
        data: [
            { name: "drawn", values: rows.filter((row) => known(row.value)) },
            { name: "missing", values: rows.filter((row) => !known(row.value) && !known(row.published)) },
            { name: "published", values: rows.filter((row) => known(row.published)) },
        ],
        scales: [
            { name: "u", type: "band", domain: labels, range: thin ? [0, height] : "width", paddingInner: padding, paddingOuter: padding / 2 },
            { name: "slot", type: "band", domain: series, range: [0, { signal: "bandwidth('u')" }], paddingInner: 0.1 },
            { name: "v", type: "linear", domain: value_domain(figure, true), range: c.dv, nice: true },
            colour_scale(figure, theme), published_scale(theme),
        ],
        axes: [value_axis(figure, c), group_axis(figure, c, step)],
        legends: legends(figure, figure.series, width, { fill: "colour", symbolType: "square" }, has_published(figure)),
        marks: [...mean_mark(figure, c, theme), values, ...one_mark(figure, c, theme), missing, published],
    });
}

/* ------------------------------------------------------------- stacked */

/* Each part's bottom and top; the parts of a bar follow each other in the cells. Returns the highest top. */
function stack(rows) {
    const tops = new Map();
    for (const row of rows) {
        const bar = JSON.stringify([row.x, row.series]);
        row.bottom = tops.get(bar) || 0;
        row.top = row.bottom + (known(row.value) ? row.value : 0);
        tops.set(bar, row.top);
    }
    return most([0, ...tops.values()]);
}

function stacked_mark(data, field, c, theme) {
    return mark("rect", data, {
        [c.u]: { scale: "u", field }, [c.du]: { scale: "u", band: 1 }, [c.v]: { scale: "v", field: "bottom" }, [c.v2]: { scale: "v", field: "top" },
        fill: { scale: "colour", field: "part" }, stroke: { value: inks[theme].page }, strokeWidth: { value: 0.6 },
    }, { name: "values", ...fades });
}

function stacked_spec(figure, width, theme, runs) {
    const rows = rows_of(figure, runs), top = stack(rows) || 1, drawn = rows.filter((row) => known(row.value) && row.value !== 0);
    const common = { legends: legends(figure, figure.parts, width, { fill: "colour", symbolType: "square" }, false) };
    return figure.series.length > 1 ? stacked_panels(figure, drawn, top, width, theme, common) : stacked_bars(figure, drawn, top, width, theme, common);
}

function stacked_bars(figure, drawn, top, width, theme, common) {
    const labels = x_labels(figure), step = (width - 60) / Math.max(1, labels.length), c = step < 20 ? lying : standing;
    const height = c.lying ? labels.length * 26 : chart_height(width, 0.34), padding = Math.min(0.8, Math.max(0.3, c.lying ? 0 : 1 - 48 / step));
    return frame(figure, width, height, theme, {
        ...common,
        data: [{ name: "drawn", values: drawn }],
        scales: [
            { name: "u", type: "band", domain: labels, range: c.lying ? [0, height] : "width", paddingInner: padding, paddingOuter: padding / 2 },
            { name: "v", type: "linear", domain: [0, top], range: c.dv, nice: true }, colour_scale(figure, theme),
        ],
        axes: [value_axis(figure, c), group_axis(figure, c, step)],
        marks: [...mean_mark(figure, c, theme), stacked_mark("drawn", "x", c, theme), ...one_mark(figure, c, theme)],
    });
}

/* A panel for each x with a lying bar for each series: labels stay level, and as many panels stand side by side as there is room for. */
function stacked_panels(figure, drawn, top, width, theme, common) {
    const labels = x_labels(figure), gutter = Math.ceil(widest(figure.series)) + 14, gap = 22, body = figure.series.length * 15;
    const columns = Math.max(1, Math.min(labels.length, Math.floor((width - gutter) / 170)));
    const panel = Math.floor((width - gutter - 16 - (columns - 1) * gap) / columns);
    const panels = labels.map((label, i) => {
        const column = i % columns, last = i + columns >= labels.length, name = "panel" + i;
        const bottom = {
            orient: "bottom", scale: "v", grid: true, domain: false, ticks: false, labels: last, labelFlush: true, labelOverlap: "greedy", labelSeparation: 6, tickCount: Math.max(2, Math.floor(panel / 70)),
        };
        const titled = last && column === 0 ? { title: figure.y_title, titleAnchor: "start", titleAlign: "left", titleX: 0 } : {};
        const left = { orient: "left", scale: "u", ticks: false, domain: false, labelPadding: 6 };
        const place = { x: gutter + column * (panel + gap), y: 18 + Math.floor(i / columns) * (body + 34), width: panel, height: body };
        return {
            type: "group",
            encode: { enter: Object.fromEntries(Object.entries(place).map(([channel, value]) => [channel, { value }])) },
            signals: [{ name: "width", value: panel }, { name: "height", value: body }], /* for the grid */
            title: { text: label, anchor: "start", frame: "group", offset: 3, font: chart_font, fontSize: 11.5, fontWeight: 600, color: inks[theme].ink },
            data: [{ name, values: drawn.filter((row) => row.x === label) }],
            axes: column === 0 ? [{ ...bottom, ...titled }, left] : [{ ...bottom, ...titled }],
            marks: [stacked_mark(name, "series", lying, theme), ...one_mark(figure, lying, theme)],
        };
    });
    return frame(figure, width, Math.ceil(labels.length / columns) * (body + 34) + 10, theme, {
        ...common,
        width: width - 10,
        autosize: { type: "pad", contains: "padding" },
        scales: [
            { name: "u", type: "band", domain: figure.series, range: [0, body], paddingInner: 0.22, paddingOuter: 0.1 },
            { name: "v", type: "linear", domain: [0, top], range: [0, panel], nice: true }, colour_scale(figure, theme),
        ],
        marks: panels,
    });
}

/* ------------------------------------------------------------- lines */

/* Samples over time: what was not counted is a gap in the line, not bridged over. */
const over_cycles = (figure) => figure.x === "cycle";
/* Instructions and buckets: what a run has many of. */
const over_rows = (figure) => figure.kind !== "scatter" && (figure.x === "pc" || figure.x === "bucket");

/* Numbers that grow by a constant factor belong on a logarithmic axis. */
function is_geometric(sorted) {
    const ratio = sorted[1] / sorted[0];
    return sorted.length >= 4 && sorted[0] > 0 && ratio >= 1.5 && sorted.every((v, i) => i === 0 || Math.abs(v / sorted[i - 1] / ratio - 1) < 0.01);
}

function lines_x(figure, rows, width) {
    const labels = x_labels(figure), step = (width - 60) / Math.max(1, labels.length);
    if (!rows.length || !rows.every((row) => known(row.at)))
        return { field: "x", scale: { name: "u", type: "point", domain: labels, range: "width", padding: 0.4 }, axis: group_axis(figure, standing, step) };
    const numbers = [...new Set(rows.map((row) => row.at))].sort((a, b) => a - b), log = is_geometric(numbers);
    const kind = log ? { type: "log", base: 2 } : { type: "linear", zero: false };
    const few = !over_cycles(figure) && numbers.length <= Math.max(4, (width - 60) / 34), ticks = few ? { values: numbers } : { tickCount: Math.floor(width / 70) };
    return {
        field: "at",
        scale: { name: "u", ...kind, domain: [numbers[0], numbers[numbers.length - 1]], range: "width", padding: 8 },
        axis: { orient: "bottom", scale: "u", tickSize: 4, title: figure.x_title, format: most(numbers) > 99999 ? "~s" : "~r", ...ticks },
    };
}

function lines_spec(figure, width, theme, runs) {
    const rows = rows_of(figure, runs).filter((row) => known(row.value) || known(row.published) || over_cycles(figure)), ink = inks[theme];
    const u = lines_x(figure, rows, width), at = { scale: "u", field: u.field }, many = figure.xs.length > width / 8, dense = figure.xs.length > width / 5, colour = { scale: "colour", field: "series" };
    const line = (data, field, more) => ({
        type: "group",
        from: { facet: { name: data + "_of_series", data, groupby: "series" } },
        marks: [{
            type: "line", interactive: false, from: { data: data + "_of_series" },
            encode: { enter: { x: at, y: { scale: "v", field }, defined: { signal: `isValid(datum.${field})` }, stroke: colour, strokeWidth: { value: 2 }, strokeJoin: { value: "round" }, ...more } },
        }],
    });
    const sizes = { update: { size: { value: dense ? 5 : many ? 14 : 46 } }, hover: { size: { value: 110 } } }, shape = { scale: "shape", field: "series" };
    const points = (data, field, fill, stroke) => mark("symbol", data, { x: at, y: { scale: "v", field }, shape, fill, stroke, strokeWidth: { value: dense ? 0 : 1 } }, sizes);
    return frame(figure, width, chart_height(width, 0.4), theme, {
        data: [
            { name: "joined", values: rows.filter((row) => known(row.value) || over_cycles(figure)) },
            { name: "drawn", values: rows.filter((row) => known(row.value)) }, { name: "published", values: rows.filter((row) => known(row.published)) },
        ],
        scales: [u.scale, { name: "v", type: "linear", domain: value_domain(figure, false), range: "height", nice: true, zero: false },
            colour_scale(figure, theme), shape_scale(figure), published_scale(theme)],
        axes: [value_axis(figure, standing), u.axis],
        legends: legends(figure, figure.series, width, { fill: "colour", shape: "shape" }, has_published(figure)),
        marks: [
            ...one_mark(figure, standing, theme),
            line("published", "published", { strokeDash: { value: [3, 3] }, strokeWidth: { value: 1.4 } }), line("joined", "value", {}),
            { ...points("published", "published", { value: ink.page }, colour), name: "published_values" },
            { ...points("drawn", "value", colour, { value: ink.page }), name: "values" },
        ],
    });
}

/* ------------------------------------------------------------- scatter */

/* Logarithmic where linear would press most points into a corner. */
function scatter_scale(name, values, range) {
    const low = least(values), high = most(values), log = low > 0 && high / low > 300;
    return { name, type: log ? "log" : "linear", domain: log ? [low, high] : [Math.min(0, low), high || 1], range, nice: true };
}

function scatter_spec(figure, width, theme, runs) {
    const rows = rows_of(figure, runs).filter((row) => known(row.at) && known(row.value)), crowd = rows.length > 400;
    const u = scatter_scale("u", rows.map((row) => row.at), "width");
    const v = scatter_scale("v", rows.map((row) => row.value).concat(figure.normalised_to ? [1] : []), "height");
    const bottom = { orient: "bottom", scale: "u", grid: true, domain: false, ticks: false, title: figure.x_title, tickCount: Math.floor(width / 90) };
    const values = mark("symbol", "drawn", {
        x: { scale: "u", field: "at" }, y: { scale: "v", field: "value" }, shape: { scale: "shape", field: "series" },
        fill: { scale: "colour", field: "series" }, stroke: { value: inks[theme].page }, strokeWidth: { value: 0.7 },
    }, {
        name: "values",
        update: { size: { value: crowd ? 24 : 62 }, fillOpacity: { value: crowd ? 0.6 : 0.9 } },
        hover: { size: { value: 130 }, fillOpacity: { value: 1 } },
    });
    return frame(figure, width, Math.round(Math.min(420, Math.max(250, width * 0.5))), theme, {
        data: [{ name: "drawn", values: rows }],
        scales: [u, v, colour_scale(figure, theme), shape_scale(figure)],
        axes: [
            { ...value_axis(figure, standing), ...(v.type === "log" ? { format: "~s" } : {}) },
            { ...bottom, ...(u.type === "log" ? { format: "~s", tickCount: 5 } : {}) },
        ],
        legends: legends(figure, figure.series, width, { fill: "colour", shape: "shape" }, false),
        marks: [...one_mark(figure, standing, theme), values],
    });
}

/* ------------------------------------------------------------- heat */

/* Around 1 two colours that differ for everyone, orange and blue, as strong for half as for double; else from the page's colour to blue. */
function heat_scale(figure, values, theme) {
    const low = least(values), high = most(values), far = Math.max(high, low > 0 ? 1 / low : 1, 1.01), dark = theme === "dark";
    const scale = { name: "colour", type: "linear", zero: false, interpolate: "lab" };
    if (figure.normalised_to)
        return { ...scale, domain: [low > 0 ? 1 / far : Math.min(low, 0), 1, far], range: dark ? ["#f08c3a", "#2a2d32", "#4da3e0"] : ["#d9710f", "#f4f4f2", "#1f6fb2"] };
    const from = high > low ? low : Math.min(0, low), to = high > from ? high : from + 1;
    return { ...scale, domain: [from, (from + to) / 2, to], range: dark ? ["#23282f", "#2f6f9f", "#a8dbff"] : ["#eef4f8", "#7db3d5", "#0a4a7c"] };
}

function heat_spec(figure, width, theme, runs) {
    const rows = rows_of(figure, runs).map((row) => ({ ...row, text: short_number(row.value) })), names = series_of(figure);
    const drawn = rows.filter((row) => known(row.value));
    const step = (width - Math.min(260, widest(names) + 16)) / Math.max(1, figure.xs.length), height = names.length * 27;
    const middle = {
        x: { scale: "u", field: "x", band: 0.5 }, y: { scale: "row", field: "series", band: 0.5 }, align: { value: "center" }, baseline: { value: "middle" },
    };
    const fields = mark("rect", "drawn", {
        x: { scale: "u", field: "x" }, width: { scale: "u", band: 1 }, y: { scale: "row", field: "series" }, height: { scale: "row", band: 1 },
        fill: { scale: "colour", field: "value" }, cornerRadius: { value: 2 },
    }, { name: "values", ...fades });
    const readable = { signal: "luminance(scale('colour', datum.value)) > 0.3 ? '#15171a' : '#ffffff'" };
    const numbers = mark("text", "drawn", { ...middle, text: { field: "text" }, fontSize: { value: 11 }, fill: readable }, { interactive: false });
    const missing = mark("text", "missing", { ...middle, text: { value: "×" }, fill: { value: inks[theme].faint } });
    return frame(figure, width, height, theme, {
        data: [{ name: "drawn", values: drawn }, { name: "missing", values: rows.filter((row) => !known(row.value)) }],
        scales: [
            { name: "u", type: "band", domain: x_labels(figure), range: "width", paddingInner: 0.03 },
            { name: "row", type: "band", domain: names, range: [0, height], paddingInner: 0.06 },
            heat_scale(figure, drawn.map((row) => row.value), theme),
        ],
        axes: [{ ...group_axis(figure, standing, step), domain: false }, { orient: "left", scale: "row", ticks: false, domain: false, labelPadding: 8 }],
        legends: [{
            fill: "colour", type: "gradient", orient: "top", direction: "horizontal", title: figure.y_title, offset: 10, tickCount: 4,
            gradientLength: Math.min(220, width * 0.5), gradientThickness: 9,
        }],
        marks: step >= 34 ? [fields, numbers, missing] : [fields, missing],
    });
}

/* ------------------------------------------------------------- which */

const kinds = { bars: bars_spec, stacked: stacked_spec, lines: lines_spec, scatter: scatter_spec, heat: heat_spec };
const figure_spec = (figure, width, theme, runs) => (kinds[figure.kind] || tornado_spec)(figure, Math.max(240, Math.floor(width)), theme, runs);

/* Whether it wants a whole row of the page, or half of one. */
function is_wide(figure) {
    if (figure.kind === "stacked" && figure.series.length > 1) return true;
    if (figure.kind === "bars" || figure.kind === "stacked") return figure.xs.length * series_of(figure).length > 30;
    if (over_cycles(figure)) return figure.xs.length > 100;
    return figure.kind === "heat" && figure.xs.length > 9;
}
