/* What all kinds of figures share: numbers as text, the width of labels, colours, tooltips, legends and axes.
 *
 * Colours are Okabe and Ito's on white, and Paul Tol's light set on dark. A label has the same colour in all figures of a page. */
"use strict";

const palettes = {
    light: ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#7F7F7F", "#F0E442", "#332288", "#882255", "#999933"],
    dark: ["#77AADD", "#EE8866", "#44BB99", "#FFAABB", "#99DDFF", "#BBCC33", "#BBBBBB", "#EEDD88", "#AA99DD", "#CC6688", "#AAAA00"],
};
const inks = {
    light: { page: "#fcfcfa", ink: "#1b1d21", soft: "#5c636d", faint: "#8b929b", line: "#e2e4e7", band: "#f0f0ec" },
    dark: { page: "#131518", ink: "#e9eaec", soft: "#a3aab4", faint: "#79818c", line: "#2c3036", band: "#1e2126" },
};
const shapes = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left"];
const chart_font = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

/* ------------------------------------------------------------- numbers and widths */

const known = (v) => typeof v === "number" && Number.isFinite(v);

/* Three digits, or all before the point. */
function short_number(v) {
    if (!known(v)) return "–";
    const size = Math.abs(v);
    if (size >= 99.95) return Math.round(v).toLocaleString("en");
    if (size === 0) return "0";
    if (size < 0.001) return v.toExponential(2);
    return v.toFixed(size >= 9.995 ? 1 : size >= 0.9995 ? 2 : size >= 0.09995 ? 3 : size >= 0.009995 ? 4 : 5);
}

function exact_number(v) {
    return known(v) ? v.toLocaleString("en", { maximumSignificantDigits: 9 }) : "no value";
}

function percent(ratio) {
    if (!known(ratio)) return "–";
    const sign = ratio > 0 ? "+" : ratio < 0 ? "−" : "±";
    return sign + (Math.abs(ratio) * 100).toFixed(Math.abs(ratio) < 0.0995 ? 1 : 0) + "%";
}

function deviation(cell) {
    return known(cell.value) && known(cell.published) && cell.published !== 0 ? cell.value / cell.published - 1 : null;
}

const least = (values) => values.reduce((a, b) => Math.min(a, b), Infinity);
const most = (values) => values.reduce((a, b) => Math.max(a, b), -Infinity);

/* The browser's own measure of the chart's font. */
const measure = document.createElement("canvas").getContext("2d");
function text_width(text, size) {
    if (!measure) return text.length * size * 0.58;
    measure.font = `${size}px ${chart_font}`;
    return measure.measureText(text).width;
}
const widest = (texts, size = 11) => most([0, ...texts.map((text) => text_width(String(text), size))]);

/* ------------------------------------------------------------- data */

const mean_labels = { arithmetic: "mean", geometric: "geo. mean", harmonic: "harm. mean" };
/* The last x may be a mean: its label says which. */
const x_label = (figure, x) => (figure.mean && x === "mean" ? mean_labels[figure.mean] : x);
const x_labels = (figure) => figure.xs.map((x) => x_label(figure, x));
const has_mean = (figure) => Boolean(figure.mean) && figure.xs.includes("mean");
const series_of = (figure) => (figure.series.length ? figure.series : [""]);
const has_published = (figure) => figure.cells.some((cell) => known(cell.published));
const has_data = (figure) => figure.cells.some((cell) => known(cell.value));

function tip(figure, cell, run) {
    const x = cell.x === undefined ? null : x_label(figure, cell.x);
    const rows = figure.kind === "scatter" ? [[figure.x_title, exact_number(cell.at)]] : [];
    rows.push([figure.y_title, exact_number(cell.value)]);
    if (known(cell.published)) rows.push(["published", exact_number(cell.published)]);
    if (known(deviation(cell))) rows.push(["deviation", percent(deviation(cell))]);
    if (cell.detail) rows.push([figure.kind === "scatter" ? "point" : figure.x === "pc" ? "instruction" : "best", cell.detail]);
    for (const name of run ? ["failure", "program", "arguments", "machine", "scheduler", "l1", "divergence", "sets"] : [])
        if (run[name]) rows.push([name, run[name]]);
    if (run && known(run.cycles)) rows.push(["cycles", exact_number(run.cycles)]);
    const title = [x, figure.series.length > 1 ? cell.series : null, cell.part].filter(Boolean).join(" · ");
    return { title: title || cell.detail || figure.title, rows };
}

/* Rows for Vega: labels as they are shown, and the tooltip. */
function rows_of(figure, runs) {
    return figure.cells.map((cell) => ({
        ...cell,
        x: cell.x === undefined ? null : x_label(figure, cell.x),
        series: cell.series || "",
        tip: tip(figure, cell, runs.get(cell.run)),
    }));
}

/* From zero for bars; else from zero where that does not hide the differences. */
function value_domain(figure, from_zero) {
    const values = figure.cells.flatMap((cell) => [cell.value, cell.published]).filter(known);
    if (figure.normalised_to) values.push(1);
    if (!values.length) return [0, 1];
    let low = least(values), high = most(values);
    if (from_zero || (low >= 0 && low < 0.7 * high)) low = Math.min(0, low);
    if (low === high) high = low + (Math.abs(low) || 1);
    if (low !== 0) low -= 0.05 * (high - low);
    return [low, high > 0 ? high + 0.04 * (high - low) : 0];
}

/* ------------------------------------------------------------- colours */

const colour_numbers = new Map(); /* of an axis: of a label, over the whole page */

function colours_of(axis, labels, theme) {
    const palette = palettes[theme];
    if (!colour_numbers.has(axis)) colour_numbers.set(axis, new Map());
    const numbers = colour_numbers.get(axis);
    for (const label of labels) if (!numbers.has(label)) numbers.set(label, numbers.size);
    const shared = labels.every((label) => numbers.get(label) < palette.length);
    return labels.map((label, i) => palette[(shared ? numbers.get(label) : i) % palette.length]);
}

function colour_scale(figure, theme) {
    const labels = figure.kind === "stacked" ? figure.parts : series_of(figure);
    const several = figure.kind === "bars" && figure.y.length > 1; /* each of them a series: labels of its own */
    const axis = figure.kind === "stacked" ? "parts of " + figure.parts.join() : (figure.series_axis || "") + (several ? " by " + figure.y.join() : "");
    return { name: "colour", type: "ordinal", domain: labels, range: colours_of(axis, labels, theme) };
}

const shape_scale = (figure) => ({ name: "shape", type: "ordinal", domain: series_of(figure), range: shapes });
const published_scale = (theme) => ({ name: "published", type: "ordinal", domain: ["published"], range: [inks[theme].ink] });

/* ------------------------------------------------------------- guides */

function config(theme) {
    const ink = inks[theme];
    return {
        axis: {
            labelFont: chart_font, labelFontSize: 11, labelColor: ink.soft, labelPadding: 4, labelLimit: 260,
            titleFont: chart_font, titleFontSize: 11.5, titleFontWeight: 500, titleColor: ink.ink, titlePadding: 8,
            gridColor: ink.line, gridWidth: 0.8, domainColor: ink.faint, domainWidth: 0.8, tickColor: ink.faint, tickWidth: 0.8,
        },
        legend: {
            labelFont: chart_font, labelFontSize: 11.5, labelColor: ink.ink, labelLimit: 220,
            titleFont: chart_font, titleFontSize: 11, titleFontWeight: 500, titleColor: ink.soft, symbolSize: 90, rowPadding: 4, columnPadding: 14,
        },
        text: { font: chart_font },
    };
}

/* The symbols of a legend, in as many columns as fit, and one more for published values: a tick across the bar, or a hollow point. */
function legends(figure, labels, width, symbol, with_published) {
    const common = { orient: "top", direction: "horizontal", offset: 8 }, list = [];
    const room = width - (with_published ? 120 : 10), columns = Math.floor(room / (widest(labels, 11.5) + 36));
    if (labels.length > 1) list.push({ ...common, ...symbol, columns: Math.max(1, Math.min(labels.length, columns)), symbolLimit: 0 });
    const hollow = { stroke: "published", symbolType: "circle", symbolFillColor: "transparent", symbolStrokeWidth: 1.4, symbolSize: 60 };
    const tick = { fill: "published", symbolType: "M-1,-0.14H1V0.14H-1Z", symbolSize: 110 };
    if (with_published) list.push({ ...common, ...(figure.kind === "lines" ? hollow : tick) });
    return list;
}

/* Names of channels for bars that stand or lie: u runs along the groups, v along the values. */
const standing = { u: "x", u2: "x2", du: "width", v: "y", v2: "y2", vc: "yc", dv: "height", lying: false };
const lying = { u: "y", u2: "y2", du: "height", v: "x", v2: "x2", vc: "xc", dv: "width", lying: true };

function value_axis(figure, c) {
    return { orient: c.lying ? "bottom" : "left", scale: "v", grid: true, domain: false, ticks: false, tickCount: c.lying ? 5 : 6, title: figure.y_title };
}

/* Labels of groups are turned where they would touch. */
function group_axis(figure, c, step) {
    if (c.lying) return { orient: "left", scale: "u", ticks: false, domain: false, labelPadding: 8 };
    const axis = { orient: "bottom", scale: "u", ticks: false, labelPadding: 7, title: figure.x_title || null, labelOverlap: step < 11 ? "greedy" : false };
    if (widest(x_labels(figure)) + 8 <= step) return axis;
    return { ...axis, labelAngle: -40, labelAlign: "right", labelBaseline: "middle" };
}

/* Behind the bars, where the mean stands. */
function mean_mark(figure, c, theme) {
    if (!has_mean(figure)) return [];
    const at = `scale('u', '${mean_labels[figure.mean]}') - bandwidth('u') * 0.06`;
    return [mark("rect", null, {
        [c.u]: { signal: at }, [c.du]: { signal: "bandwidth('u') * 1.12" }, [c.v]: { value: 0 }, [c.v2]: { signal: c.dv },
        fill: { value: inks[theme].band }, cornerRadius: { value: 3 },
    }, { interactive: false })];
}

/* A line at 1, where values are relative to something. */
function one_mark(figure, c, theme) {
    if (!figure.normalised_to) return [];
    return [mark("rule", null, {
        [c.v]: { scale: "v", value: 1 }, [c.u]: { value: 0 }, [c.u2]: { signal: c.du }, stroke: { value: inks[theme].soft }, strokeDash: { value: [4, 3] },
    }, { interactive: false })];
}

/* A mark; what is drawn from data has a tooltip. */
function mark(type, data, enter, more) {
    const tooltip = data ? { tooltip: { field: "tip" } } : {};
    const { update, hover, ...rest } = more || {};
    return { type, ...(data ? { from: { data } } : {}), encode: { enter: { ...enter, ...tooltip }, update: update || {}, hover: hover || {} }, ...rest };
}
const fades = { update: { fillOpacity: { value: 1 } }, hover: { fillOpacity: { value: 0.78 } } };

function frame(figure, width, height, theme, parts) {
    return { description: figure.title, width, height, padding: 2, autosize: { type: "fit-x", contains: "padding" }, config: config(theme), ...parts };
}
