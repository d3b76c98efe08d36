/* Does `lanes` draw what the masks of a branch say, and the branch that was asked for? Pictures are read back: every
 * cell has its place, its colour and its warp; counts are those of heddle/compaction.h. */
#include "lockstep_run.h"

#include "heddle/compaction.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64], name[80];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/heddle-lanes-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    snprintf(name, sizeof name, "%s/p.svg", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(name);
    return rmdir(folder);
}

static char *read_text(const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f)
        fail_msg("no file %s", path);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return text;
}

static void open_probe(struct kernel_run *k, const char *ptx, const char *more)
{
    char spec[160];
    snprintf(spec, sizeof spec, "lanes:file=%s%s", name, more);
    lockstep_open(k, ptx, spec, NULL);
    if (!k->image)
        fail_msg("%s", k->error.text);
}

/* The picture, in memory of the caller's; the machine is gone. */
static char *picture_of(struct kernel_run *k)
{
    if (!gpu_write_probes(k->gpu, &k->error))
        fail_msg("%s", k->error.text);
    kernel_close(k);
    char unfinished[96];
    struct stat there;
    snprintf(unfinished, sizeof unfinished, "%s.unfinished", name);
    assert_int_not_equal(stat(unfinished, &there), 0);
    return read_text(name);
}

/* Tags are closed in the order in which they were opened, values are quoted, and there is one outermost element. */
static void is_well_formed(const char *svg)
{
    char open[16][16];
    uint32_t depth = 0, roots = 0;
    for (const char *at = svg; *at;) {
        if (*at == '&')
            assert_true(!strncmp(at, "&lt;", 4) || !strncmp(at, "&gt;", 4) || !strncmp(at, "&amp;", 5));
        assert_true(*at != '>');
        if (*at++ != '<')
            continue;
        bool closes = *at == '/';
        at += closes;
        size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz");
        assert_in_range(length, 1, 15);
        if (closes) {
            assert_true(depth > 0 && !strncmp(open[--depth], at, length) && !open[depth][length] && at[length] == '>');
            at += length + 1;
            continue;
        }
        roots += !depth;
        snprintf(open[depth], sizeof *open, "%.*s", (int)length, at);
        at += length;
        while (*at == ' ') {
            at += 1 + strcspn(at + 1, "= \"<>");
            assert_true(at[0] == '=' && at[1] == '"');
            at += 2 + strcspn(at + 2, "\"<>");
            assert_true(*at++ == '"');
        }
        bool empty = *at == '/';
        at += empty;
        assert_true(*at++ == '>');
        depth += !empty;
        assert_in_range(depth, 0, 15);
    }
    assert_int_equal(depth, 0);
    assert_int_equal(roots, 1);
}

/* Cells of the picture, by row of the page and lane of the grid: number of the colour, 0 for idle ones, or -1. */
enum { ROWS = 64, IDLE = 0 };
struct grid {
    uint32_t rows, y[ROWS];
    int cell[ROWS][32];
};
struct cells {
    struct grid grid[2];
    char colours[40][8];
    uint32_t colour_count;
};

static int colour_number(struct cells *c, const char *colour)
{
    for (uint32_t i = 0; i < c->colour_count; i++)
        if (!strncmp(c->colours[i], colour, 7))
            return (int)i;
    assert_in_range(c->colour_count, 0, 39);
    snprintf(c->colours[c->colour_count], 8, "%s", colour);
    return (int)c->colour_count++;
}

static int *cell_at(struct cells *c, uint32_t x, uint32_t y)
{
    struct grid *g = &c->grid[x > 450];
    uint32_t lane = (x - (x > 450 ? 438 : 0) - 62) / 12, row = 0;
    assert_in_range(lane, 0, 31);
    while (row < g->rows && g->y[row] != y)
        row++;
    if (row == g->rows) {
        assert_in_range(g->rows, 0, ROWS - 1);
        g->y[g->rows++] = y;
        memset(g->cell[row], -1, sizeof g->cell[row]);
    }
    return &g->cell[row][lane];
}

static void read_cells(const char *svg, struct cells *c)
{
    memset(c, 0, sizeof *c);
    colour_number(c, "#e8edf3");
    for (const char *at = svg; (at = strstr(at, "<path fill=\"#")); at++) {
        int colour = colour_number(c, at + 12);
        const char *end = strstr(at, "/>");
        for (const char *m = at; (m = strchr(m, 'M')) && m < end; m++) {
            unsigned x, y;
            assert_int_equal(sscanf(m, "M%u %uh8v10h-8z", &x, &y), 2);
            int *cell = cell_at(c, x, y);
            assert_int_equal(*cell, -1); /* nothing is drawn twice */
            *cell = colour;
        }
    }
}

/* Grid `which`: the threads of the path in their lanes, then warps, in each lane the lowest home warp first. Which
 * colour a home warp has is learned from the rows of `before`. */
static void expect_grid(const struct cells *c, int which, enum heddle_permutation how, const uint32_t *masks,
                        uint32_t homes)
{
    const struct grid *g = &c->grid[which];
    struct heddle_lanes l;
    heddle_lanes_make(&l, how);
    uint32_t formed = heddle_warps_compacted(&l, masks, homes), in_lane[32] = {0};
    int after[HEDDLE_HOMES][32] = {{0}}, colours[HEDDLE_HOMES] = {0};
    assert_int_equal(g->rows, homes + formed);
    for (uint32_t home = 0; home < homes; home++)
        for (uint32_t lane = 0; lane < 32; lane++) {
            uint32_t physical = l.physical[home][lane];
            int there = g->cell[home][physical];
            if (!(masks[home] >> lane & 1)) {
                assert_int_equal(there, IDLE);
                continue;
            }
            assert_true(there > IDLE && (!colours[home] || colours[home] == there));
            colours[home] = there;
            after[in_lane[physical]++][physical] = there;
        }
    for (uint32_t a = 0; a < homes; a++)
        for (uint32_t b = 0; b < a; b++)
            assert_true(!colours[a] || colours[a] != colours[b]);
    for (uint32_t warp = 0; warp < formed; warp++)
        assert_memory_equal(g->cell[homes + warp], after[warp], sizeof after[warp]);
}

static void expect_text(const char *svg, const char *format, ...)
{
    char text[160];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (!strstr(svg, text))
        fail_msg("the picture does not say '%s'", text);
}

static void expect_picture(char *svg, enum heddle_permutation how, const uint32_t *masks, uint32_t homes)
{
    enum heddle_permutation ways[2] = {HEDDLE_PERMUTE_NONE, how};
    struct cells cells;
    is_well_formed(svg);
    read_cells(svg, &cells);
    for (int i = 0; i < 2; i++) {
        struct heddle_lanes l;
        heddle_lanes_make(&l, ways[i]);
        expect_grid(&cells, i, ways[i], masks, homes);
        uint32_t apart = heddle_warps_apart(masks, homes), formed = heddle_warps_compacted(&l, masks, homes);
        expect_text(svg, ">%u warp%s \xe2\x86\x92 %u warp%s, ideal %u<", apart, apart == 1 ? "" : "s", formed,
                    formed == 1 ? "" : "s", heddle_warps_ideal(masks, homes));
    }
    expect_text(svg, "Lanes permuted: %s<", heddle_permutation_names[how]);
    free(svg);
}

/* Bitonic */

static char *bitonic_picture(const char *more)
{
    struct kernel_run k;
    char *text = read_text("workloads/bitonic/bitonic.ptx");
    open_probe(&k, text, more);
    free(text);
    for (uint32_t i = 0; i < 512; i++)
        k.words[i] = i * 2654435761u;
    uint64_t keys = (uint64_t)(uintptr_t)k.words;
    struct gpu_launch launch = {.kernel = exec_image_function(k.image, "bitonic"),
                                .grid = {2, 1, 1},
                                .block = {256, 1, 1},
                                .params = &keys,
                                .params_bytes = 8};
    if (!gpu_launch(k.gpu, &launch, &k.error))
        fail_msg("%s", k.error.text);
    return picture_of(&k);
}

/* Half of the lanes, the same in each of 8 warps: the threads whose partner, at distance 1, is above them. */
static void bitonic(void **state)
{
    (void)state;
    uint32_t even[8], quarter[8];
    for (int i = 0; i < 8; i++)
        even[i] = 0x55555555, quarter[i] = 0x44444444;
    char *svg = bitonic_picture("");
    expect_text(svg, ">bitonic: a block at one divergent branch<");
    expect_text(svg, "path not taken: 128 of 256 threads are active");
    expect_text(svg, ">8 warps \xe2\x86\x92 8 warps, ideal 4<");
    expect_text(svg, ">8 warps \xe2\x86\x92 4 warps, ideal 4<");
    expect_text(svg, ">4 warps fewer to issue<");
    expect_picture(svg, HEDDLE_PERMUTE_BALANCED, even, 8);
    for (int how = 0; how < HEDDLE_PERMUTATIONS; how++) {
        char more[64];
        snprintf(more, sizeof more, ",permutation=%s,occurrence=0", heddle_permutation_names[how]);
        expect_picture(bitonic_picture(more), (enum heddle_permutation)how, even, 8);
    }
    svg = bitonic_picture(",kernel=ton,occurrence=1"); /* of those, the threads that sort downwards */
    expect_text(svg, "64 of 256 threads are active");
    expect_picture(svg, HEDDLE_PERMUTE_BALANCED, quarter, 8);
}

/* Own kernels */

#define THREAD "mov.u32 %r0, %tid.x;\nand.b32 %r1, %r0, 31;\nmov.u32 %r2, 1;\n"

static char *picture(const char *ptx, const char *more, uint32_t threads)
{
    struct kernel_run k;
    open_probe(&k, ptx, more);
    if (!kernel_launch(&k, 1, threads))
        fail_msg("%s", k.error.text);
    return picture_of(&k);
}

/* Three branches: lanes 0 and 1 of every warp; lane 5 of warp 0 alone; lane w of warp w. */
static const char three[] = PTX_HEADER KERNEL_HEAD THREAD
    "setp.gt.u32 %p0, %r1, 1;\n@%p0 bra A;\nadd.u32 %r2, %r2, 1;\nA: setp.ne.u32 %p1, %r0, 5;\n@%p1 bra B;\n"
    "add.u32 %r2, %r2, 1;\nB: shr.u32 %r3, %r0, 5;\nsetp.eq.u32 %p2, %r3, %r1;\n@%p2 bra C;\nbra D;\n"
    "C: add.u32 %r2, %r2, 1;\nD: st.global.u32 [%rd0], %r2;\nret;\n}\n";

static void which_branch(void **state)
{
    (void)state;
    uint32_t two[32], five[32] = {1 << 5}, diagonal[32];
    for (uint32_t i = 0; i < 32; i++)
        two[i] = 3, diagonal[i] = 1u << i;
    expect_picture(picture(three, "", 1024), HEDDLE_PERMUTE_BALANCED, two, 32);
    char *svg = picture(three, ",occurrence=1", 1024);
    expect_text(svg, ">1 warp \xe2\x86\x92 1 warp, ideal 1<");
    expect_text(svg, "In any lanes, 1 thread would fit into 1.");
    expect_picture(svg, HEDDLE_PERMUTE_BALANCED, five, 32);
    svg = picture(three, ",pc=8", 1024); /* the second one: nothing to save, but it is what was asked for */
    expect_picture(svg, HEDDLE_PERMUTE_BALANCED, five, 32);
    svg = picture(three, ",occurrence=2", 1024); /* the other path only jumps */
    expect_text(svg, "path taken: 32 of 1024 threads");
    expect_picture(svg, HEDDLE_PERMUTE_BALANCED, diagonal, 32);
}

/* Lane 5 of warp 0, where there is nothing to save; lanes 0 and 1 of every warp; lanes 0 to 3. */
static void the_first_that_saves(void **state)
{
    (void)state;
    static const char ptx[] = PTX_HEADER KERNEL_HEAD THREAD
        "setp.ne.u32 %p0, %r0, 5;\n@%p0 bra A;\nadd.u32 %r2, %r2, 1;\nA: setp.gt.u32 %p1, %r1, 1;\n@%p1 bra B;\n"
        "add.u32 %r2, %r2, 1;\nB: setp.gt.u32 %p2, %r1, 3;\n@%p2 bra C;\nadd.u32 %r2, %r2, 1;\nC: ret;\n}\n";
    const uint32_t five[2] = {1 << 5}, two[2] = {3, 3};
    expect_picture(picture(ptx, "", 64), HEDDLE_PERMUTE_BALANCED, two, 2);
    expect_picture(picture(ptx, ",permutation=none", 64), HEDDLE_PERMUTE_NONE, five, 2); /* none does: the first */
}

static void long_names(void **state)
{
    (void)state;
    struct kernel_run k;
    open_probe(&k,
               PTX_HEADER ".visible .entry abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqrstuvwxyz() {\n"
                          ".reg .pred %p<8>; .reg .b32 %r<16>;\n" THREAD
                          "setp.ne.u32 %p0, %r1, 0;\n@%p0 bra A;\nadd.u32 %r2, %r2, 1;\nA: ret;\n}\n",
               "");
    struct gpu_launch launch = {
        .kernel = exec_image_function(k.image, "abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqrstuvwxyz"),
        .grid = {1, 1, 1},
        .block = {64, 1, 1}};
    assert_true(gpu_launch(k.gpu, &launch, &k.error));
    char *svg = picture_of(&k);
    expect_text(svg, ">abcdefghijklmnopqrstuvwxyz_abcde\xe2\x80\xa6: a block");
    expect_text(svg, "<title>abcdefghijklmnopqrstuvwxyz_abcdefghijklmnopqrstuvwxyz: 2 warps with lanes as they are,");
    expect_picture(svg, HEDDLE_PERMUTE_BALANCED, (const uint32_t[]){1, 1}, 2);
}

static void draws_nothing(const char *ptx, const char *more, uint32_t launches, const char *why)
{
    struct kernel_run k;
    struct stat there;
    unlink(name);
    open_probe(&k, ptx, more);
    for (uint32_t i = 0; i < launches; i++)
        if (!kernel_launch(&k, 1, 64))
            fail_msg("%s", k.error.text);
    assert_false(gpu_write_probes(k.gpu, &k.error));
    if (!strstr(k.error.text, why))
        fail_msg("not '%s': %s", why, k.error.text);
    assert_int_not_equal(stat(name, &there), 0);
    kernel_close(&k);
}

static void nothing_to_draw(void **state)
{
    (void)state;
    static const char uniform[] =
        PTX_HEADER KERNEL_HEAD THREAD "setp.gt.u32 %p0, %r0, 31;\n@%p0 bra A;\nadd.u32 %r2, %r2, 1;\nA: ret;\n}\n";
    static const char indexed[] = PTX_HEADER KERNEL_HEAD THREAD
        "and.b32 %r1, %r1, 1;\nT: .branchtargets A, B;\nbrx.idx %r1, T;\nA: add.u32 %r2, %r2, 1;\nB: ret;\n}\n";
    draws_nothing(uniform, "", 1, "no divergent branch to draw: in every warp, all threads went the same way");
    draws_nothing(uniform, "", 0, "no divergent branch to draw");
    draws_nothing(three, ",pc=7", 1, "none with this kernel, pc and occurrence");
    draws_nothing(three, ",kernel=other", 1, "none with this kernel, pc and occurrence");
    draws_nothing(three, ",occurrence=3", 1, "none with this kernel, pc and occurrence");
    draws_nothing(indexed, "", 1, "could not run in lockstep");
}

static void no_file(void **state)
{
    (void)state;
    char kept[sizeof name];
    strcpy(kept, name);
    snprintf(name, sizeof name, "%s/no/p.svg", folder);
    draws_nothing(three, "", 1, "probe lanes could not write its results: No such file or directory");
    strcpy(name, kept);
    extern const struct heddle_probe probe_lanes;
    const union heddle_value values[] = {{.text = ""}, {.integer = 8}, {.text = ""}, {.integer = -1}, {.integer = -1}};
    const char *why = NULL;
    void *instance = calloc(1, probe_lanes.policy.state_bytes);
    assert_non_null(instance);
    assert_false(probe_lanes.policy.init(instance, &(struct heddle_setup){.values = values, .why = &why}));
    assert_string_equal(why, "it needs the name of the file to write: file=NAME.svg");
    free(instance);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bitonic),    cmocka_unit_test(which_branch),    cmocka_unit_test(the_first_that_saves),
        cmocka_unit_test(long_names), cmocka_unit_test(nothing_to_draw), cmocka_unit_test(no_file),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
