/* A picture of one divergent branch: which lanes of a block's warps are active on one of its paths, and which warps
 * compaction forms of them, with lanes as they are and with lanes permuted (SIMD lane permutation, Rhu and Erez, ISCA
 * 2013). Written as SVG when the program has ended.
 *
 * Of the divergent branches that the parameters allow, the first one is drawn at which the permutation needs fewer
 * warps than lanes as they are; if there is none, the first one. Of its two paths, the one with something to execute;
 * of two such, the one with which the permutation saves more.
 *
 * Warps are formed as thread block compaction forms them (heddle/block_stack.h). Left out: launches and blocks that do
 * not run in lockstep. */
#include "heddle/block_stack.h"
#include "heddle/whole_file.h"

#include <inttypes.h>

enum { FILE_NAME, PERMUTATION, KERNEL, PC, OCCURRENCE };

struct lanes {
    const char *file, *only_kernel;
    int64_t only_pc, only_occurrence; /* -1: any */
    enum heddle_permutation permutation;
    struct heddle_lanes as_they_are, permuted;
    uint64_t seen;             /* divergent branches that the parameters allow */
    bool left, found, settled; /* something did not run in lockstep; a branch is here; it stays */
    /* The branch, and its path: */
    char kernel[96]; /* its name, cut if longer: a PTX identifier has nothing to escape */
    uint32_t pc, line, homes, threads, masks[HEDDLE_HOMES];
    bool taken;
};

static bool init(void *state, const struct heddle_setup *setup)
{
    struct lanes *s = state;
    s->file = setup->values[FILE_NAME].text;
    s->permutation = (enum heddle_permutation)setup->values[PERMUTATION].integer;
    s->only_kernel = setup->values[KERNEL].text;
    s->only_pc = setup->values[PC].integer;
    s->only_occurrence = setup->values[OCCURRENCE].integer;
    heddle_lanes_make(&s->as_they_are, HEDDLE_PERMUTE_NONE);
    heddle_lanes_make(&s->permuted, s->permutation);
    return *s->file || heddle_refuse(setup, "it needs the name of the file to write: file=NAME.svg");
}

/* ---------------------------------------------------------------- the branch */

static uint32_t saved(const struct lanes *s, const uint32_t *masks, uint32_t homes)
{
    uint32_t before = heddle_warps_compacted(&s->as_they_are, masks, homes);
    uint32_t after = heddle_warps_compacted(&s->permuted, masks, homes);
    return after < before ? before - after : 0;
}

static bool shows_taken(const struct lanes *s, const struct heddle_program *p, const struct heddle_block_branch *e)
{
    bool idle = heddle_path_is_empty(p, e->target, e->reconvergence);
    bool other_idle = heddle_path_is_empty(p, e->fall_through, e->reconvergence);
    return idle == other_idle ? saved(s, e->taken, e->warps) >= saved(s, e->not_taken, e->warps) : other_idle;
}

static void keep(struct lanes *s, const struct heddle_program *p, const struct heddle_block_branch *e, bool taken)
{
    snprintf(s->kernel, sizeof s->kernel, "%s", p->kernel);
    s->pc = e->pc;
    s->line = p->instructions[e->pc].line;
    s->homes = e->warps;
    s->threads = e->threads;
    s->taken = taken;
    memcpy(s->masks, taken ? e->taken : e->not_taken, e->warps * sizeof *s->masks);
    s->found = true;
}

static void branch(void *state, const struct heddle_core *core, const struct heddle_block_branch *e)
{
    struct lanes *s = state;
    const struct heddle_program *p = core->program;
    if (s->settled || !e->divergent || (s->only_pc >= 0 && s->only_pc != e->pc) || !strstr(p->kernel, s->only_kernel))
        return;
    bool taken = shows_taken(s, p, e);
    if (s->only_occurrence < 0) {
        s->settled = saved(s, taken ? e->taken : e->not_taken, e->warps) > 0;
        if (s->settled || !s->found)
            keep(s, p, e, taken);
    } else if ((int64_t)s->seen == s->only_occurrence) {
        s->settled = true;
        keep(s, p, e, taken);
    }
    s->seen++;
}

static void left(void *state, const struct heddle_core *core, bool whole_launch)
{
    struct lanes *s = state;
    (void)core, (void)whole_launch;
    s->left = true;
}

/* ---------------------------------------------------------------- the picture */

/* Pixels. A column of the page holds the grid of threads, an arrow, and the grid of warps. */
enum {
    WIDTH = 900,
    MARGIN = 30,
    COLUMN = 438, /* from one to the next */
    GRID_X = 60,
    GRID_Y = 158,
    CELL = 12,
    ROW = 15,       /* a lane, a warp, with the gap to the next */
    LONG_NAME = 32, /* letters of a kernel's name in the title */
    ARROW = 98,     /* height between the grids */
    COUNT = 42,
    TEXT = 76,
    END = 126, /* below the grids */
};

/* Neighbours, which compaction most often puts together, are a dark one and a light one; digits on them are white and
 * black. */
static const char colours[HEDDLE_HOMES][8] = {
    "#1d4fd7", "#f7b500", "#14783c", "#f78fc4", "#6a28d4", "#3fcbe0", "#b81c1c", "#a3d43a",
    "#0b3a75", "#ff9d5c", "#3f5f10", "#c9a7ff", "#7d1479", "#7fe0b8", "#7a3d0c", "#e6d24a",
    "#155e75", "#ffb3a7", "#4b5563", "#9ecbff", "#94104f", "#b9e68c", "#3730a3", "#f2c48d",
    "#0f5f4f", "#f0a6e8", "#5c4700", "#a9b8ff", "#6b1d2a", "#86d6d6", "#254d24", "#d9c2a0",
};
static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUV";

/* Lanes of a row, in one colour. The outline has it too, and rounds the corners. */
static void draw_lanes(FILE *f, const char *colour, uint32_t x, uint32_t y, uint32_t lanes)
{
    if (!lanes)
        return;
    fprintf(f, "<path fill=\"%s\" stroke=\"%s\" d=\"", colour, colour);
    for (; lanes; lanes &= lanes - 1)
        fprintf(f, "M%" PRIu32 " %" PRIu32 "h8v10h-8z", x + CELL * (uint32_t)__builtin_ctz(lanes) + 2, y + 2);
    fputs("\"/>\n", f);
}

/* Threads of a home warp: its colour, and its number in each. */
static void draw_threads(FILE *f, uint32_t home, uint32_t x, uint32_t y, uint32_t lanes)
{
    draw_lanes(f, colours[home], x, y, lanes);
    if (!lanes)
        return;
    fprintf(f, "<text font-size=\"8\" text-anchor=\"middle\" fill=\"%s\" y=\"%" PRIu32 "\" x=\"",
            home & 1 ? "#111827" : "#fff", y + 10);
    for (uint32_t left = lanes; left; left &= left - 1)
        fprintf(f, "%" PRIu32 " ", x + CELL * (uint32_t)__builtin_ctz(left) + CELL / 2);
    fputs("\">", f);
    for (int i = __builtin_popcount(lanes); i > 0; i--)
        fputc(digits[home], f);
    fputs("</text>\n", f);
}

static void draw_lane_numbers(FILE *f, uint32_t x, uint32_t y)
{
    static const uint32_t lanes[] = {0, 8, 16, 24, 31};
    fprintf(f,
            "<g font-size=\"11\" fill=\"#64748b\"><text text-anchor=\"end\" x=\"%" PRIu32 "\" y=\"%" PRIu32
            "\">lane</text>",
            x - 6, y);
    for (uint32_t i = 0; i < sizeof lanes / sizeof *lanes; i++)
        fprintf(f, "<text text-anchor=\"middle\" x=\"%" PRIu32 "\" y=\"%" PRIu32 "\">%" PRIu32 "</text>",
                x + CELL * lanes[i] + CELL / 2, y, lanes[i]);
    fputs("</g>\n", f);
}

static void draw_row_name(FILE *f, const char *prefix, uint32_t number, uint32_t x, uint32_t y)
{
    fprintf(f,
            "<text font-size=\"11\" text-anchor=\"end\" fill=\"#334155\" x=\"%" PRIu32 "\" y=\"%" PRIu32 "\">%s%" PRIu32
            "</text>\n",
            x - 6, y + 11, prefix, number);
}

static void draw_text(FILE *f, uint32_t size, const char *more, uint32_t x, uint32_t y, const char *text)
{
    fprintf(f, "<text font-size=\"%" PRIu32 "\"%s x=\"%" PRIu32 "\" y=\"%" PRIu32 "\">%s</text>\n", size, more, x, y,
            text);
}

#define BOLD   " font-weight=\"700\""
#define GREY   " fill=\"#475569\""
#define MIDDLE " text-anchor=\"middle\""
#define BEFORE "<tspan" BOLD ">Before</tspan>"
#define AFTER  "<tspan" BOLD ">After</tspan>"

static const char *plural(uint32_t count) { return count == 1 ? "" : "s"; }

/* The first lane that holds as many threads as there are warps to form. */
static uint32_t fullest_lane(const struct heddle_lanes *l, const struct lanes *s, uint32_t warps)
{
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint32_t threads = 0;
        for (uint32_t home = 0; home < s->homes; home++)
            threads += heddle_lanes_physical(l, home, s->masks[home]) >> lane & 1;
        if (threads == warps)
            return lane;
    }
    return 0;
}

static void draw_frame_of_lane(FILE *f, uint32_t lane, uint32_t x, uint32_t y, uint32_t rows)
{
    fprintf(f,
            "<rect x=\"%" PRIu32 "\" y=\"%" PRIu32 "\" width=\"14\" height=\"%" PRIu32
            "\" rx=\"4\" fill=\"none\" stroke=\"#0f172a\"/>\n",
            x + CELL * lane - 1, y - 2, ROW * rows + 3);
}

static void draw_arrow(FILE *f, uint32_t lane, uint32_t threads, uint32_t x, uint32_t y)
{
    char text[96];
    fprintf(f,
            "<path fill=\"none\" stroke=\"#0f172a\" stroke-width=\"2.5\" stroke-linecap=\"round\" "
            "stroke-linejoin=\"round\" d=\"M%" PRIu32 " %" PRIu32 "v38m-7 -8l7 8l7 -8\"/>\n",
            x + 120, y + 14);
    draw_text(f, 14, BOLD, x + 140, y + 31, "compaction");
    snprintf(text, sizeof text, "framed lane %" PRIu32 " holds %" PRIu32 " thread%s", lane, threads, plural(threads));
    draw_text(f, 12, GREY, x + 140, y + 48, text);
}

/* Rows that lanes as they are need, or the permutation, and this one does not. */
static void draw_saved(FILE *f, uint32_t x, uint32_t y, uint32_t rows)
{
    char text[64];
    if (!rows)
        return;
    fprintf(f,
            "<rect x=\"%" PRIu32 "\" y=\"%" PRIu32 "\" width=\"384\" height=\"%" PRIu32
            "\" rx=\"6\" fill=\"#ecfdf3\" stroke=\"#15803d\" stroke-dasharray=\"4 4\"/>\n",
            x, y + 2, ROW * rows - 3);
    snprintf(text, sizeof text, "%" PRIu32 " warp%s fewer to issue", rows, plural(rows));
    draw_text(f, rows > 1 ? 13 : 10, BOLD MIDDLE " fill=\"#166534\"", x + 192, y + ROW * rows / 2 + 4 + (rows > 1),
              text);
}

/* One way to place threads in lanes: before, after, and how many warps. `most`: rows that are kept free for `after`. */
static void draw_column(FILE *f, const struct lanes *s, const struct heddle_lanes *l, uint32_t x, uint32_t most)
{
    uint32_t formed = heddle_warps_compacted(l, s->masks, s->homes), lane = fullest_lane(l, s, formed);
    uint32_t apart = heddle_warps_apart(s->masks, s->homes), ideal = heddle_warps_ideal(s->masks, s->homes);
    uint32_t left_over[HEDDLE_HOMES] = {0}, y = GRID_Y;
    struct heddle_block_stacks stacks = {.lanes = *l};
    char text[96];
    draw_lane_numbers(f, x, y - 8);
    for (uint32_t home = 0; home < s->homes; home++, y += ROW) {
        left_over[home] = heddle_lanes_physical(l, home, s->masks[home]);
        draw_row_name(f, "W", home, x, y);
        draw_lanes(f, "#e8edf3", x, y, ~left_over[home]);
        draw_threads(f, home, x, y, left_over[home]);
    }
    draw_frame_of_lane(f, lane, x, GRID_Y, s->homes);
    draw_arrow(f, lane, formed, x, y);
    y += ARROW;
    draw_text(f, 13, GREY, x, y - 10, AFTER ": the warps that execute the path");
    for (uint32_t i = 0; i < formed; i++) {
        struct heddle_piece pieces[HEDDLE_PIECES];
        uint32_t threads, idle = UINT32_MAX, row = y + ROW * i;
        uint32_t count = heddle_block_stacks_next_warp(&stacks, s->homes, left_over, pieces, &threads);
        draw_row_name(f, "", i + 1, x, row);
        for (uint32_t k = 0; k < count; k++) {
            uint32_t lanes = heddle_lanes_physical(l, pieces[k].home, pieces[k].mask);
            draw_threads(f, pieces[k].home, x, row, lanes);
            idle &= ~lanes;
        }
        draw_lanes(f, "#e8edf3", x, row, idle);
    }
    draw_frame_of_lane(f, lane, x, y, formed);
    draw_saved(f, x, y + ROW * formed, most - formed);
    snprintf(text, sizeof text, "%" PRIu32 " warp%s \xe2\x86\x92 %" PRIu32 " warp%s, ideal %" PRIu32, apart,
             plural(apart), formed, plural(formed), ideal);
    draw_text(f, 20,
              formed == ideal  ? BOLD MIDDLE " fill=\"#166534\""
              : formed < apart ? BOLD MIDDLE " fill=\"#8a4b00\""
                               : BOLD MIDDLE " fill=\"#b42318\"",
              x + 192, y + ROW * most + COUNT, text);
}

static void draw_head(FILE *f, const struct lanes *s, uint32_t active)
{
    char text[192];
    bool is_long = strlen(s->kernel) > LONG_NAME;
    snprintf(text, sizeof text, "%.*s%s: a block at one divergent branch", LONG_NAME, s->kernel,
             is_long ? "\xe2\x80\xa6" : "");
    draw_text(f, 22, BOLD, MARGIN, 42, text);
    snprintf(text, sizeof text,
             "PTX line %" PRIu32 " (pc %" PRIu32 "), path %s: %" PRIu32 " of %" PRIu32 " threads are active. "
             "Colour and digit: home warp.",
             s->line, s->pc, s->taken ? "taken" : "not taken", active, s->threads);
    draw_text(f, 14, GREY, MARGIN, 66, text);
    draw_text(f, 17, BOLD, GRID_X, 104, "Lanes as they are");
    draw_text(f, 13, GREY, GRID_X, 124, BEFORE ": thread i of every warp sits in lane i");
    snprintf(text, sizeof text, "Lanes permuted: %s", heddle_permutation_names[s->permutation]);
    draw_text(f, 17, BOLD, GRID_X + COLUMN, 104, text);
    draw_text(f, 13, GREY, GRID_X + COLUMN, 124, BEFORE ": warps differ in the order of their lanes");
}

static void draw(FILE *f, const struct lanes *s)
{
    uint32_t none = heddle_warps_compacted(&s->as_they_are, s->masks, s->homes), active = 0;
    uint32_t other = heddle_warps_compacted(&s->permuted, s->masks, s->homes), most = none > other ? none : other;
    uint32_t bottom = GRID_Y + ROW * (s->homes + most) + ARROW, height = bottom + END;
    char text[192];
    for (uint32_t home = 0; home < s->homes; home++)
        active += (uint32_t)__builtin_popcount(s->masks[home]);
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%" PRIu32 "\" viewBox=\"0 0 %d %" PRIu32
            "\" role=\"img\" font-family=\"system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, "
            "sans-serif\" fill=\"#0f172a\">\n",
            WIDTH, height, WIDTH, height);
    fprintf(f, "<title>%s: %" PRIu32 " warps with lanes as they are, %" PRIu32 " with %s</title>\n", s->kernel, none,
            other, heddle_permutation_names[s->permutation]);
    fprintf(f, "<desc>heddle run --functional --probe lanes; kernel=%s, pc=%" PRIu32 ", its path %s</desc>\n",
            s->kernel, s->pc, s->taken ? "taken" : "not taken");
    fprintf(f,
            "<rect x=\".5\" y=\".5\" width=\"%d\" height=\"%" PRIu32 "\" rx=\"12\" fill=\"#fff\" "
            "stroke=\"#cbd5e1\"/>\n<g stroke-width=\"2\" stroke-linejoin=\"round\">\n",
            WIDTH - 1, height - 1);
    draw_head(f, s, active);
    draw_column(f, s, &s->as_they_are, GRID_X, most);
    draw_column(f, s, &s->permuted, GRID_X + COLUMN, most);
    draw_text(f, 13, GREY MIDDLE, WIDTH / 2, bottom + TEXT,
              "Compaction moves threads to other warps, never to other "
              "lanes: a path needs as many warps as its fullest lane has threads.");
    snprintf(text, sizeof text,
             "Here that is %" PRIu32 " with lanes as they are, and %" PRIu32
             " with lanes permuted. In any lanes, %" PRIu32 " thread%s would fit into %" PRIu32 ".",
             none, other, active, plural(active), heddle_warps_ideal(s->masks, s->homes));
    draw_text(f, 13, GREY MIDDLE, WIDTH / 2, bottom + TEXT + 20, text);
    fputs("</g>\n</svg>\n", f);
}

static bool write_picture(void *state, const char **why)
{
    const struct lanes *s = state;
    struct heddle_whole_file f;
    if (!s->found) {
        bool any = s->only_pc < 0 && s->only_occurrence < 0 && !*s->only_kernel;
        *why = s->left ? "no divergent branch to draw: some blocks could not run in lockstep"
               : any   ? "no divergent branch to draw: in every warp, all threads went the same way"
                       : "no divergent branch to draw: none with this kernel, pc and occurrence";
        return false;
    }
    if (!heddle_whole_file_open(&f, s->file, why))
        return false;
    draw(f.file, s);
    return heddle_whole_file_close(&f, why);
}

static const struct heddle_param params[] = {
    [FILE_NAME] = {.name = "file", .type = HEDDLE_TEXT, .default_value = "", .help = "the SVG to write; required"},
    [PERMUTATION] = {.name = "permutation",
                     .type = HEDDLE_CHOICE,
                     .default_value = "balanced",
                     .choices = heddle_permutation_names,
                     .help = "drawn beside lanes as they are"},
    [KERNEL] = {.name = "kernel",
                .type = HEDDLE_TEXT,
                .default_value = "",
                .help = "branches of kernels with this in their name; all, if empty"},
    [PC] = {.name = "pc",
            .type = HEDDLE_INTEGER,
            .default_value = "-1",
            .least = -1,
            .most = 1e9,
            .help = "the branch with this pc; -1: any"},
    [OCCURRENCE] = {.name = "occurrence",
                    .type = HEDDLE_INTEGER,
                    .default_value = "-1",
                    .least = -1,
                    .most = 1e9,
                    .help = "which of these divergent branches, from 0; -1: the first with fewer warps permuted"},
    {0},
};

const struct heddle_probe probe_lanes = {
    .policy =
        {
            .abi = HEDDLE_POLICY_ABI,
            .name = "lanes",
            .help = "draws the active lanes of a block at one divergent branch, before and after compaction; needs "
                    "--functional (SLP)",
            .params = params,
            .state_bytes = sizeof(struct lanes),
            .init = init,
        },
    .blocks = {.branch = branch, .left = left, .write = write_picture},
};
