/* Two runs beside each other: the parts of their cycles, and what happened in words. The tables of parts and causes are data (src/compare/*.def), which this interprets as src/compare/ does; a test compares the two. */

/* ------------------------------------------------------------- expressions */

/* Numbers, names, + - * / and parentheses, as a function of a look-up; what is not there is NaN, and so is a division by 0. */
const parsed_expressions = new Map();
function parse_expression(text) {
    if (parsed_expressions.has(text)) return parsed_expressions.get(text);
    const tokens = text.match(/[0-9.]+|[A-Za-z_][A-Za-z0-9_.]*|[-+*/()]/g) || [];
    let at = 0;
    const operators = {
        "+": (x, y) => (look) => x(look) + y(look), "-": (x, y) => (look) => x(look) - y(look), "*": (x, y) => (look) => x(look) * y(look),
        "/": (x, y) => (look) => { const by = y(look); return by === 0 ? NaN : x(look) / by; },
    };
    const chain = (next, signs) => {
        let left = next();
        while (signs.includes(tokens[at])) {
            const make = operators[tokens[at++]];
            left = make(left, next());
        }
        return left;
    };
    const factor = () => {
        const token = tokens[at++];
        if (token === "(") {
            const inner = sum();
            at++;
            return inner;
        }
        if (token === "-") {
            const inner = factor();
            return (look) => -inner(look);
        }
        return /^[0-9.]/.test(token) ? () => Number(token) : (look) => look(token);
    };
    const product = () => chain(factor, ["*", "/"]), sum = () => chain(product, ["+", "-"]);
    const whole = sum(), value = (look) => { const v = whole(look); return Number.isFinite(v) ? v : NaN; };
    parsed_expressions.set(text, value);
    return value;
}

const condition_holds = (look, text) => {
    const sign = text.search(/[<>]/), left = parse_expression(text.slice(0, sign))(look), right = parse_expression(text.slice(sign + 1))(look);
    return text[sign] === "<" ? left < right : left > right;
};
const all_hold = (look, when) => when.split(";").filter((text) => text.trim()).every((text) => condition_holds(look, text));

/* ------------------------------------------------------------- sentences */

const grouped_number = (value) => String(Math.floor(value + 0.5)).replace(/\B(?=(\d{3})+$)/g, ",");
function decimal_number(value, digits) {
    const scale = digits === 1 ? 10 : 100, scaled = Math.floor(Math.abs(value) * scale + 0.5);
    return `${value < 0 ? "-" : ""}${Math.floor(scaled / scale)}.${String(scaled % scale).padStart(digits, "0")}`;
}
/* Nearly all is not all, and nearly nothing has a digit after the point. */
function percent_number(share) {
    const whole = Math.floor(Math.abs(share) * 100 + 0.5);
    if (share !== 0 && Math.abs(share) < 0.0005) return "under 0.1%";
    if (Math.abs(share) < 0.0995) return decimal_number(share * 100, 1) + "%";
    return `${share < 0 ? "-" : ""}${whole === 100 && Math.abs(share) < 1 ? 99 : whole}%`;
}
function formatted_number(value, format) {
    if (Number.isNaN(value)) return "?";
    return format === "%" ? percent_number(value) : format === "n" ? grouped_number(value) : decimal_number(value, Number(format));
}

/* words: what is text and no number. */
function fill_sentence(sentence, look, words) {
    return sentence.replace(/\{([^}]*)\}/g, (_, place) => {
        if (place in words) return words[place];
        const colon = place.indexOf(":");
        return formatted_number(parse_expression(place.slice(0, colon))(look), place.slice(colon + 1));
    });
}

/* ------------------------------------------------------------- names */

/* As src/compare/label.c: by what differs. */
const own_words = (text, other, separator) => text.split(separator).filter((word) => word && !other.split(separator).includes(word)).join(separator);
const base_name = (path) => path.slice(path.lastIndexOf("/") + 1);
function split_spec(spec) {
    const colon = spec.indexOf(":"), path = colon < 0 ? spec : spec.slice(0, colon);
    return [base_name(path), colon < 0 ? "" : spec.slice(colon + 1)];
}
function own_spec(spec, other) {
    const [name, values] = split_spec(spec), [other_name, other_values] = split_spec(other), own = own_words(values, other_values, ",");
    return name !== other_name || !own ? name : `${name}:${own}`;
}
function own_label(x, y) {
    const words = [], text = (run, field) => run[field] || "", sets = own_words(text(x, "sets"), text(y, "sets"), " ");
    if (base_name(x.program) !== base_name(y.program)) words.push(base_name(x.program));
    if (text(x, "arguments") !== text(y, "arguments")) words.push(own_words(text(x, "arguments"), text(y, "arguments"), " "));
    if (base_name(x.machine) !== base_name(y.machine)) words.push(base_name(x.machine));
    else if (sets || own_words(text(y, "sets"), text(x, "sets"), " ")) words.push(sets || base_name(x.machine));
    for (const field of ["scheduler", "l1", "divergence"])
        if (text(x, field) !== text(y, field)) words.push(own_spec(text(x, field), text(y, field)));
    return words.filter(Boolean).join(" ");
}
function run_labels(a, b) {
    const labels = [own_label(a, b), own_label(b, a)];
    return !labels[0] || !labels[1] || labels[0] === labels[1] ? ["A", "B"] : labels;
}

/* ------------------------------------------------------------- two runs */

/* The counters of a run by name; null: the page does not have them. */
function counters_of(rules, run) {
    const { columns, zero, runs } = rules.counters, row = runs[run.key];
    if (!row || row.every((value) => value === null)) return null;
    const values = new Map(zero.map((name) => [name, 0]));
    columns.forEach((column, i) => values.set(column.name, row[i] === null ? NaN : row[i]));
    return values;
}

/* Cycles by what they were spent on, by the names of parts. */
function spend_cycles(rules, values) {
    const count = (name) => (values.has(name) && !Number.isNaN(values.get(name)) ? values.get(name) : 0);
    const cycles = count("cycles"), slots = count("issue.slots"), per_slot = slots > 0 ? cycles / slots : 0;
    const own_count = (part) => count(part.metric) - count(part.less);
    const waited = rules.parts.reduce((sum, part) => sum + (part.kind === "wait" ? own_count(part) : 0), 0);
    const per_wait = waited > 0 ? (count("issue.no_ready") * per_slot) / waited : 0;
    const rates = { slots: per_slot, wait: per_wait, rest: 0 }, spent = {};
    for (const part of rules.parts) spent[part.name] = own_count(part) * rates[part.kind];
    const left = Object.values(spent).reduce((sum, value) => sum - value, cycles);
    for (const part of rules.parts) if (part.kind === "rest" && Math.abs(left) > 1e-6 * cycles) spent[part.name] = left;
    return spent;
}

/* Where few cores have work, the others are idle as long as it takes: that is no cause. */
function idle_share(run) {
    const slots = run.values.get("issue.slots"), idle = run.values.get("issue.idle");
    return slots > 0 && idle > 0 ? idle / slots : 0;
}

function look_up(rules, fast, slow, difference, differs) {
    const saved = (name) => slow.spent[name] - fast.spent[name];
    const own_saved = (part) => (part.metric === "issue.idle" ? fast.values.get("cycles") * (idle_share(slow) - idle_share(fast)) : saved(part.name));
    const most = rules.parts.reduce((best, part) => (own_saved(part) > own_saved(best) ? part : best));
    const look = (name) => {
        if (name === "difference") return difference;
        if (name === "most") return own_saved(most);
        const dot = name.indexOf("."), first = name.slice(0, dot), rest = name.slice(dot + 1);
        if (first === "saved") return saved(rest);
        if (first === "differs") return differs[rest] ? 1 : 0;
        const run = first === "fast" ? fast : slow;
        if (rest === "resident") return [...run.values].reduce((sum, [metric, value]) => sum + (metric.startsWith("stalls.") && !Number.isNaN(value) ? value : 0), 0) / run.values.get("cycles");
        if (rest.startsWith("spent.")) return run.spent[rest.slice(6)];
        return run.values.has(rest) ? run.values.get(rest) : NaN;
    };
    return { look, most };
}

/* The causes that speak: of a group the first, those that carry most, at most three. */
function causes_of(rules, look, words, to_explain) {
    const spoken = new Set(), found = [];
    for (const cause of rules.causes) {
        const cycles = parse_expression(cause.carries)(look);
        if (spoken.has(cause.group) || (cause.group === "last" && found.length) || !(cycles >= cause.least * to_explain) || !all_hold(look, cause.when)) continue;
        spoken.add(cause.group);
        found.push({ cause: cause.name, text: fill_sentence(cause.sentence, look, words), cycles });
    }
    return found.sort((x, y) => y.cycles - x.cycles).slice(0, rules.most_causes);
}

function compared_metrics(rules, a, b) {
    const work = Math.max(a.get("warp_instructions"), b.get("warp_instructions"));
    return rules.counters.columns.filter((column) => column.kind !== "other").map((column) => {
        const x = a.get(column.name), y = b.get(column.name), larger = Math.max(Math.abs(x), Math.abs(y));
        return { name: column.name, unit: column.unit, a: x, b: y, kind: column.kind, larger, change: Math.abs(y - x) / larger };
    }).filter((m) => m.change > 0 && (m.kind === "share" || m.larger >= rules.least_events * work))
        .sort((x, y) => y.change - x.change || (x.name < y.name ? -1 : 1));
}

/* null: the page has not got the counters of both. */
function compare_pair(rules, a, b) {
    const values = [counters_of(rules, a), counters_of(rules, b)];
    if (!values[0] || !values[1]) return null;
    const labels = run_labels(a, b), sides = values.map((v, i) => ({ label: labels[i], values: v, spent: spend_cycles(rules, v) }));
    const cycles = values.map((v) => v.get("cycles")), [fast, slow] = cycles[1] < cycles[0] ? [sides[1], sides[0]] : sides;
    const difference = Math.abs(cycles[0] - cycles[1]), equal = (x, y) => x === y || (Number.isNaN(x) && Number.isNaN(y));
    const same = [...values[0]].every(([name, value]) => equal(value, values[1].get(name)));
    const sets = (x, y) => own_words(x.sets || "", y.sets || "", " ");
    const differs = { scheduler: (a.scheduler || "") !== (b.scheduler || ""), machine: base_name(a.machine) !== base_name(b.machine) || Boolean(sets(a, b) || sets(b, a)) };
    const { look, most } = look_up(rules, fast, slow, difference, differs);
    const words = {
        fast: fast.label, slow: slow.label, part: most.title, "a.program": base_name(a.program), "b.program": base_name(b.program),
        "a.arguments": a.arguments || "", "b.arguments": b.arguments || "",
    };
    const say = (name) => ({ cause: "", text: fill_sentence(rules.texts[name], look, words), cycles: 0 });
    let sentences;
    if (same || difference <= 0) sentences = [say(same ? "same" : "equal")];
    else if (difference < rules.least_difference * slow.values.get("cycles")) sentences = [say("lead"), say("little")];
    else {
        const causes = causes_of(rules, look, words, difference * (1 - idle_share(slow)));
        sentences = [say("lead"), ...(causes.length ? causes : [say("unclear")])];
    }
    const notes = [];
    if (words["a.program"] !== words["b.program"]) notes.push("programs");
    else if (words["a.arguments"] !== words["b.arguments"]) notes.push("arguments");
    if (base_name(a.machine) !== base_name(b.machine)) notes.push("machines");
    if (a.epoch !== b.epoch) notes.push("epochs");
    return {
        labels, same, sentences, notes: notes.map((name) => say(name).text), cycles,
        parts: rules.parts.map((part) => ({ name: part.name, title: part.title, a: sides[0].spent[part.name], b: sides[1].spent[part.name] })),
        stalls: [...values[0].keys()].filter((name) => name.startsWith("stalls.")).map((name) => ({ name: name.slice(7), a: values[0].get(name), b: values[1].get(name) })),
        metrics: compared_metrics(rules, values[0], values[1]),
    };
}
