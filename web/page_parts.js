/* Pieces of the page: elements, commands to copy, files to save, plain tables. Text from the data is only ever set as text, never as HTML. */

/* node("p", { class: "soft", click: listener }, "text", child, ...); null children are left out. */
function node(name, attributes, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {}))
        if (typeof value === "function") element.addEventListener(key, value);
        else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
}
const button = (text, click, more) => node("button", { type: "button", click, ...more }, text);

const count_of = (n, one, many) => `${n.toLocaleString("en")} ${n === 1 ? one : many || one + "s"}`;
const day = (text) => (text ? text.replace("T", " ").replace(/:\d\dZ$/, " UTC") : "");
const anchor = (text) => text.replace(/[^A-Za-z0-9]+/g, "-");

/* A policy of one's own is named by its file: ./here/mine.so:limit=4 is mine:limit=4. Where two would be the same they stay paths. */
const short_policy = (text) => text.replace(/(^|[\s=])[^\s=:]*\/([^\s\/:]+)\.so(?=[\s:]|$)/g, "$1$2").replace(/(^|\s)([^\s\/:]+)\.so(?=[\s:]|$)/g, "$1$2");
function short_policies(texts) {
    const all = [...new Set(texts.filter(Boolean))], counts = new Map();
    for (const text of all) counts.set(short_policy(text), (counts.get(short_policy(text)) || 0) + 1);
    return new Map(all.map((text) => [text, counts.get(short_policy(text)) === 1 ? short_policy(text) : text]));
}

function save(name, type, content) {
    const url = content.startsWith("data:") ? content : URL.createObjectURL(new Blob([content], { type }));
    const link = node("a", { href: url, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    if (url !== content) setTimeout(() => URL.revokeObjectURL(url), 10000);
}

async function copy(text, from) {
    try {
        await navigator.clipboard.writeText(text);
    } catch (_) { /* a page opened from a file may not: the older way */
        const area = node("textarea", { style: "position:fixed;opacity:0" });
        area.value = text;
        document.body.append(area);
        area.select();
        document.execCommand("copy");
        area.remove();
    }
    from.textContent = "copied";
    setTimeout(() => (from.textContent = "copy"), 1500);
}

function command(text) {
    return node("div", { class: "command" }, node("code", {}, text), button("copy", (event) => copy(text, event.target)));
}

/* heads and rows: [text, class] for each cell. */
function table(heads, rows) {
    const line = (tag, cells) => node("tr", {}, ...cells.map(([text, kind]) => node(tag, { class: kind, scope: tag === "th" ? "col" : null }, text)));
    const whole = node("table", {}, node("thead", {}, line("th", heads)), node("tbody", {}, ...rows.map((row) => line("td", row))));
    return node("div", { class: "scroll", tabindex: "0" }, whole);
}
