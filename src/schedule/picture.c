/* Draws the picture: see picture.h. All is in one SVG without scripts; a pointer that rests on a bar shows whose it is,
 * which cycles, and the instruction, where single cycles can be seen. */
#include "schedule/picture.h"

#include "base/out_of_memory.h"
#include "sm/counters.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEFT = 132,
    RIGHT = 16,
    TOP = 34,
    WIDTH = 1200, /* of the cycles, at most */
    COLUMNS_MOST = 1200,
    ROW = 12,
    CELL_MOST = 12,
    AXIS = 30,
    LEGEND = 34,
    TICKS = 8,
};

static const char *const colours[STALL_COUNT] = {
    [STALL_ISSUED] = "#12284c",     [STALL_NOT_PICKED] = "#8fc1e3", [STALL_FETCH] = "#c9a0dc",
    [STALL_SCOREBOARD] = "#f6d55c", [STALL_MEMORY] = "#ed7d3a",     [STALL_PIPELINE] = "#7b5ea7",
    [STALL_BARRIER] = "#3caea3",    [STALL_FENCE] = "#1c6e5a",      [STALL_ATOMIC] = "#b5293b",
    [STALL_HELD] = "#f48fb1",       [STALL_DRAIN] = "#c9ccd1",
};

struct cell {
    uint32_t cycles[STALL_COUNT];
};

struct panel {
    struct cell *cells;       /* ISSUE_ORDER_SLOTS rows of `columns` */
    const char **texts;       /* of what was issued in a cell, where a column is one cycle; else NULL */
    struct order_warp *warps; /* in each cell, when it was last issued */
    uint64_t used;            /* slots with a warp in the window */
};

struct drawing {
    const struct picture *p;
    FILE *to;
    uint32_t columns;
    uint64_t cycles;
    double cell; /* width of a column */
    struct panel panels[2];
    uint64_t slots; /* of both */
    uint32_t seen;  /* reasons */
};

static struct cell *cell_at(const struct drawing *d, struct panel *n, uint32_t slot, uint64_t column)
{
    return &n->cells[(size_t)slot * d->columns + column];
}

static uint64_t column_of(const struct drawing *d, uint64_t cycle)
{
    return (cycle - d->p->from) * d->columns / d->cycles;
}

/* The first of a column. */
static uint64_t cycle_at(const struct drawing *d, uint64_t column)
{
    return d->p->from + (column * d->cycles + d->columns - 1) / d->columns;
}

/* Gathering */

static void add_cycles(struct drawing *d, struct panel *n, uint32_t slot, uint8_t reason, uint64_t from, uint64_t to)
{
    from = from > d->p->from ? from : d->p->from;
    to = to < d->p->to ? to : d->p->to;
    if (reason >= STALL_COUNT)
        return;
    if (from < to) {
        n->used |= 1ull << slot;
        d->seen |= 1u << reason;
    }
    for (uint64_t end; from < to; from = end) {
        uint64_t column = column_of(d, from);
        end = cycle_at(d, column + 1) < to ? cycle_at(d, column + 1) : to;
        cell_at(d, n, slot, column)->cycles[reason] += (uint32_t)(end - from);
    }
}

static bool gather_reasons(struct drawing *d, int which, struct error *e)
{
    struct order_stream *s = order_stream_open(d->p->files[which], d->p->core, ORDER_REASONS);
    struct order_change change, now[ISSUE_ORDER_SLOTS];
    struct error own = {0};
    for (uint32_t i = 0; i < ISSUE_ORDER_SLOTS; i++)
        now[i] = (struct order_change){0, i, ORDER_NO_REASON};
    while (order_next_change(s, &change, &own) && change.cycle < d->p->to) {
        add_cycles(d, &d->panels[which], change.slot, now[change.slot].reason, now[change.slot].cycle, change.cycle);
        now[change.slot] = change;
    }
    for (uint32_t i = 0; i < ISSUE_ORDER_SLOTS; i++)
        add_cycles(d, &d->panels[which], i, now[i].reason, now[i].cycle, d->p->to);
    order_stream_close(s);
    return own.kind == ERROR_NONE || error_set(e, own.kind, "%s", own.text);
}

static bool gather_issues(struct drawing *d, int which, struct error *e)
{
    struct order_stream *s = order_stream_open(d->p->files[which], d->p->core, ORDER_ISSUES);
    struct panel *n = &d->panels[which];
    struct order_issue i;
    struct error own = {0};
    while (order_next_issue(s, &i, &own) && i.cycle < d->p->to) {
        if (i.cycle < d->p->from)
            continue;
        size_t at = (size_t)i.slot * d->columns + column_of(d, i.cycle);
        n->warps[at] = i.warp;
        if (d->columns == d->cycles)
            n->texts[at] = order_text(d->p->files[which], i.warp.launch, i.pc);
    }
    order_stream_close(s);
    return own.kind == ERROR_NONE || error_set(e, own.kind, "%s", own.text);
}

/* Drawing */

static void put_escaped(FILE *to, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<': fputs("&lt;", to); break;
        case '>': fputs("&gt;", to); break;
        case '&': fputs("&amp;", to); break;
        case '"': fputs("&quot;", to); break;
        default: fputc((unsigned char)*text < ' ' || (unsigned char)*text > '~' ? '?' : *text, to);
        }
}

static int reason_of(const struct cell *c)
{
    int most = -1;
    for (int i = 0; i < STALL_COUNT; i++)
        if (c->cycles[i] && (most < 0 || c->cycles[i] > c->cycles[most]))
            most = i;
    return most;
}

static void put_bar(const struct drawing *d, const struct panel *n, uint32_t slot, int reason, uint32_t first,
                    uint32_t end, double y)
{
    const char *text = n->texts[(size_t)slot * d->columns + first];
    fprintf(d->to,
            "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\" fill=\"%s\"><title>slot %u: %s, cycles %" PRIu64
            " to %" PRIu64,
            LEFT + first * d->cell, y, (end - first) * d->cell, ROW - 1, colours[reason], slot, stall_names[reason],
            cycle_at(d, first), cycle_at(d, end) - 1);
    if (reason == STALL_ISSUED && text) {
        fputs(": ", d->to);
        put_escaped(d->to, text);
    }
    fputs("</title></rect>\n", d->to);
}

/* Equal columns in a row are one bar; an issue is a bar of its own where it can be seen. */
static void put_row(const struct drawing *d, struct panel *n, uint32_t slot, double y)
{
    for (uint32_t first = 0, end; first < d->columns; first = end) {
        int reason = reason_of(cell_at(d, n, slot, first));
        bool alone = reason == STALL_ISSUED && d->columns == d->cycles;
        for (end = first + 1; end < d->columns && !alone && reason_of(cell_at(d, n, slot, end)) == reason;)
            end++;
        if (reason >= 0)
            put_bar(d, n, slot, reason, first, end, y);
    }
}

/* The warp that issued first in the window says whose the slot is. */
static void put_label(const struct drawing *d, const struct panel *n, uint32_t slot, double y)
{
    const struct order_warp *w = NULL;
    bool more = false;
    for (uint32_t i = 0; i < d->columns; i++) {
        const struct order_warp *other = &n->warps[(size_t)slot * d->columns + i];
        more |=
            w && other->known && (other->block != w->block || other->index != w->index || other->launch != w->launch);
        w = w || !other->known ? w : other;
    }
    fprintf(d->to, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\" class=\"s\">", LEFT - 6, y + ROW - 3);
    if (w)
        fprintf(d->to, "block %" PRIu64 ", warp %u%s", w->block, w->index, more ? " ..." : "");
    else
        fprintf(d->to, "slot %u", slot);
    fputs("</text>\n", d->to);
}

static uint64_t step_of(uint64_t cycles)
{
    uint64_t step = 1;
    for (int turn = 0; step * TICKS < cycles; turn++)
        step = turn % 3 == 1 ? step / 2 * 5 : step * 2;
    return step;
}

static void put_axis(const struct drawing *d, double y)
{
    uint64_t step = step_of(d->cycles);
    for (uint64_t c = (d->p->from + step - 1) / step * step; c < d->p->to; c += step) {
        double x = LEFT + (double)(c - d->p->from) * d->cell * d->columns / (double)d->cycles;
        fprintf(d->to,
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#444\"/><text x=\"%.1f\" y=\"%.1f\" "
                "text-anchor=\"middle\" class=\"s\">%" PRIu64 "</text>\n",
                x, y, x, y + 4, x, y + 15, c);
    }
}

static void put_mark(const struct drawing *d, uint64_t cycle, double y, double height)
{
    if (cycle < d->p->from || cycle >= d->p->to)
        return;
    double x = LEFT + (double)(cycle - d->p->from) * d->cell * d->columns / (double)d->cycles;
    fprintf(d->to,
            "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#d00000\" stroke-width=\"1.5\" "
            "stroke-dasharray=\"4 2\"/><text x=\"%.1f\" y=\"%.1f\" class=\"m\">first difference: cycle %" PRIu64
            "</text>\n",
            x, y - 4, x, y + height, x + 4, y - 6, cycle);
}

static double put_panel(const struct drawing *d, int which, double y)
{
    struct panel *n = (struct panel *)&d->panels[which];
    fprintf(d->to, "<text x=\"%d\" y=\"%.1f\" class=\"t\">", 8, y - 8);
    put_escaped(d->to, d->p->names[which]);
    fputs("</text>\n", d->to);
    double at = y;
    for (uint32_t slot = 0; slot < ISSUE_ORDER_SLOTS; slot++) {
        if (!(d->slots >> slot & 1))
            continue;
        put_label(d, n, slot, at);
        put_row(d, n, slot, at);
        at += ROW;
    }
    put_mark(d, d->p->marks[which], y, at - y);
    put_axis(d, at);
    return at + AXIS;
}

static void put_legend(const struct drawing *d, double y)
{
    double x = LEFT;
    for (int i = 0; i < STALL_COUNT; i++) {
        if (!(d->seen >> i & 1))
            continue;
        fprintf(d->to,
                "<rect x=\"%.0f\" y=\"%.0f\" width=\"12\" height=\"12\" fill=\"%s\"/><text x=\"%.0f\" y=\"%.0f\" "
                "class=\"s\">%s</text>\n",
                x, y, colours[i], x + 16, y + 10, stall_names[i]);
        x += 24 + 6.2 * (double)strlen(stall_names[i]) + 12;
    }
}

static void draw(const struct drawing *d)
{
    uint32_t rows = (uint32_t)__builtin_popcountll(d->slots);
    double width = LEFT + d->columns * d->cell + RIGHT, height = 2.0 * (TOP + rows * ROW + AXIS) + LEGEND + 14;
    width = width < 820 ? 820 : width;
    fprintf(d->to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
            "shape-rendering=\"crispEdges\">\n"
            "<style>text{font-family:sans-serif;fill:#222}.s{font-size:10px}.t{font-size:13px;font-weight:bold}"
            ".m{font-size:11px;fill:#d00000}</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
            "<text x=\"%.0f\" y=\"14\" text-anchor=\"end\" class=\"s\">core %u, cycles %" PRIu64 " to %" PRIu64
            "</text>\n",
            width, height, width, height, width - RIGHT, d->p->core, d->p->from, d->p->to);
    double y = put_panel(d, 0, TOP + 10);
    y = put_panel(d, 1, y + TOP);
    put_legend(d, y + 6);
    fputs("</svg>\n", d->to);
}

bool picture_write(const struct picture *p, FILE *to, struct error *e)
{
    struct drawing d = {.p = p, .to = to, .cycles = p->to - p->from};
    bool ok = true;
    d.columns = d.cycles < COLUMNS_MOST ? (uint32_t)d.cycles : COLUMNS_MOST;
    d.cell = (double)WIDTH / d.columns < CELL_MOST ? (double)WIDTH / d.columns : CELL_MOST;
    for (int i = 0; i < 2; i++) {
        size_t cells = (size_t)ISSUE_ORDER_SLOTS * d.columns;
        struct panel *n = &d.panels[i];
        if (!(n->cells = calloc(cells, sizeof *n->cells)) || !(n->texts = calloc(cells, sizeof *n->texts)) ||
            !(n->warps = calloc(cells, sizeof *n->warps)))
            out_of_memory();
    }
    for (int i = 0; ok && i < 2; i++)
        ok = gather_reasons(&d, i, e) && gather_issues(&d, i, e);
    d.slots = d.panels[0].used | d.panels[1].used;
    if (ok)
        draw(&d);
    for (int i = 0; i < 2; i++) {
        free(d.panels[i].cells);
        free(d.panels[i].texts);
        free(d.panels[i].warps);
    }
    return ok;
}
