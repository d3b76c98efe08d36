/*
 * What lanes and threads do together: votes, matches, shuffles, reductions, barriers, exchange through shared memory,
 * and leaving together. Only placed where all live lanes come along. %live holds the mask of lanes that have not left;
 * a shuffle only asks lanes that
 * exist. */
#include "random.h"

static int full_warps(const struct generator *g) { return g->kernel->block_threads % 32 == 0 && !g->lanes_left; }

static const char *pick_text(struct generator *g, const char *const *texts, unsigned count)
{
    return texts[rng_below(&g->rng, count)];
}
#define PICK(g, array) pick_text(g, array, sizeof array / sizeof array[0])

static void vote(struct generator *g)
{
    static const char *const modes[] = {"all", "any", "uni"};
    const char *negate = rng_percent(&g->rng, 30) ? "!" : "", *source = register_pick(g, 'p');
    if (rng_percent(&g->rng, 50)) {
        const char *d = register_pick(g, 'w');
        text_add(&g->body, "    vote.sync.ballot.b32 %s, %s%s, %%live;\n", d, negate, source);
        trace(g, 'w', d);
        return;
    }
    const char *d = register_pick(g, 'p');
    text_add(&g->body, "    vote.sync.%s.pred %s, %s%s, %%live;\n", PICK(g, modes), d, negate, source);
    trace(g, 'p', d);
}

static void match(struct generator *g)
{
    const char *d = register_pick(g, 'w'), *p = register_pick(g, 'p');
    int wide = rng_percent(&g->rng, 30), all = rng_percent(&g->rng, 40), few = rng_percent(&g->rng, 70);
    int t = masked_value(g, few ? 3 : 0xffffffff), a = temporary(g);
    if (wide)
        text_add(&g->body, "    cvt.s64.s32 %%a%d, %%t%d;\n", a, t);
    text_add(&g->body, "    match.%s.sync.b%d %s%s%s, %%%s%d, %%live;\n", all ? "all" : "any", wide ? 64 : 32, d,
             all ? "|" : "", all ? p : "", wide ? "a" : "t", wide ? a : t);
    trace(g, 'w', d);
    if (all)
        trace(g, 'p', p);
}

static void reduce(struct generator *g)
{
    static const char *const ops[] = {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32",
                                      "max.s32", "and.b32", "or.b32",  "xor.b32"};
    const char *op = PICK(g, ops), *d = register_pick(g, 'w');
    text_add(&g->body, "    redux.sync.%s %s, %s, %%live;\n", op, d, register_pick(g, 'w'));
    trace(g, 'w', d);
}

/* From a lane that is alive, picked by the data. */
static void shuffle_from_live(struct generator *g)
{
    int t = temporary(g), q = temporary(g);
    const char *d = register_pick(g, 'b'), *source = register_pick(g, 'b');
    text_add(&g->body, "    and.b32 %%t%d, %s, %%live;\n    setp.eq.u32 %%q%d, %%t%d, 0;\n", t, register_pick(g, 'w'),
             q, t);
    text_add(&g->body, "    selp.b32 %%t%d, %%live, %%t%d, %%q%d;\n    bfind.u32 %%t%d, %%t%d;\n", t, t, q, t, t);
    text_add(&g->body, "    shfl.sync.idx.b32 %s, %s, %%t%d, 31, %%live;\n", d, source, t);
    trace(g, 'b', d);
}

static void shuffle(struct generator *g)
{
    static const char *const modes[] = {"up", "down", "bfly", "idx"};
    if (g->lanes_left || g->kernel->block_threads % 2) {
        shuffle_from_live(g);
        return;
    }
    unsigned mode = rng_below(&g->rng, 4), width = 32;
    while (g->kernel->block_threads % width)
        width /= 2;
    if (rng_percent(&g->rng, 50) && width > 2)
        width /= 2;
    unsigned clamp = (32 - width) << 8 | (mode == 0 ? 0 : 31);
    if (full_warps(g) && rng_percent(&g->rng, 30))
        clamp = rng_below(&g->rng, 1 << 13);
    const char *d = register_pick(g, 'b'), *source = register_pick(g, 'b'), *p = register_pick(g, 'p');
    int valid = rng_percent(&g->rng, 50);
    char distance[32];
    if (rng_percent(&g->rng, 50))
        sprintf(distance, "%u", rng_below(&g->rng, 33));
    else
        sprintf(distance, "%%t%d", masked_value(g, mode == 3 ? 255 : 31));
    text_add(&g->body, "    shfl.sync.%s.b32 %s%s%s, %s, %s, %u, %%live;\n", modes[mode], d, valid ? "|" : "",
             valid ? p : "", source, distance, clamp);
    trace(g, 'b', d);
    if (valid)
        trace(g, 'p', p);
}

static void elect(struct generator *g)
{
    const char *d = register_pick(g, 'w'), *p = register_pick(g, 'p');
    text_add(&g->body, "    elect.sync %s|%s, %%live;\n", d, p);
    trace(g, 'w', d);
    trace(g, 'p', p);
}

static void barrier(struct generator *g)
{
    static const char *const forms[] = {
        "bar.sync 0", "bar.sync 0", "barrier.sync 0", "barrier.sync.aligned 3", "bar.cta.sync 7", "barrier.cta.sync 1"};
    static const char *const of_the_block[] = {"bar.sync 0", "barrier.sync 0", "bar.cta.sync 0"};
    if (g->mixable) {
        text_add(&g->body, "    %s;\n", PICK(g, of_the_block));
        return;
    }
    text_add(&g->body, "    %s", PICK(g, forms));
    if (full_warps(g) && rng_percent(&g->rng, 20))
        text_add(&g->body, ", %u", g->kernel->block_threads);
    text_add(&g->body, ";\n");
}

static void barrier_reduce(struct generator *g)
{
    const char *negate = rng_percent(&g->rng, 30) ? "!" : "", *source = register_pick(g, 'p');
    unsigned mode = rng_below(&g->rng, 3);
    char class = mode ? 'p' : 'w';
    const char *d = register_pick(g, class);
    text_add(&g->body, "    %s.%s %s, %u, %s%s;\n", rng_percent(&g->rng, 50) ? "bar.red" : "barrier.cta.red",
             mode == 0   ? "popc.u32"
             : mode == 1 ? "and.pred"
                         : "or.pred",
             d, mode, negate, source);
    trace(g, class, d);
}

struct shape {
    const char *type;
    int bytes, count;
    char class;
};

static const struct shape shapes[] = {
    {"u32", 4, 1, 'w'},    {"f32", 4, 1, 'f'},     {"b32", 4, 1, 'b'},     {"u64", 8, 1, 'l'},     {"f64", 8, 1, 'd'},
    {"v2.u32", 8, 2, 'w'}, {"v4.u32", 16, 4, 'w'}, {"v4.f32", 16, 4, 'f'}, {"v2.f64", 16, 2, 'd'}, {"u8", 1, 1, 'h'},
    {"s8", 1, 1, 'w'},     {"u16", 2, 1, 'h'},     {"s16", 2, 1, 'w'},     {"v4.u8", 4, 4, 'w'},
};

static void add_shape(struct generator *g, const struct shape *shape, const char **names)
{
    text_add(&g->body, "%s", shape->count > 1 ? "{" : "");
    for (int i = 0; i < shape->count; i++)
        text_add(&g->body, "%s%s", i ? ", " : "", names[i]);
    text_add(&g->body, "%s", shape->count > 1 ? "}" : "");
}

static void exchange(struct generator *g)
{
    const struct shape *stored = &shapes[rng_below(&g->rng, sizeof shapes / sizeof shapes[0])];
    const struct shape *loaded = &shapes[rng_below(&g->rng, sizeof shapes / sizeof shapes[0])];
    const char *names[4];
    for (int i = 0; i < stored->count; i++)
        names[i] = register_pick(g, stored->class);
    barrier(g);
    const char *guard = rng_percent(&g->rng, 15) ? predicate_guard(g) : "";
    unsigned offset = rng_below(&g->rng, (unsigned)(EXCHANGE_BYTES / stored->bytes)) * (unsigned)stored->bytes;
    text_add(&g->body, "    %sst.shared.%s [%%exch+%u], ", guard, stored->type, offset);
    add_shape(g, stored, names);
    text_add(&g->body, ";\n");
    barrier(g);
    int t = temporary(g);
    unsigned factor = 1 + rng_below(&g->rng, 8), plus = rng_below(&g->rng, 64);
    if (rng_percent(&g->rng, 30))
        text_add(&g->body, "    mad.lo.u32 %%t%d, %s, %u, %u;\n", t, register_pick(g, 'w'), factor, plus);
    else
        text_add(&g->body, "    mad.lo.u32 %%t%d, %%thread, %u, %u;\n", t, factor, plus);
    text_add(&g->body, "    rem.u32 %%t%d, %%t%d, %u;\n    mad.lo.u32 %%t%d, %%t%d, %d, %%exchange;\n", t, t,
             g->kernel->block_threads, t, t, EXCHANGE_BYTES);
    registers_pick_distinct(g, loaded->class, names, loaded->count);
    offset = rng_below(&g->rng, (unsigned)(EXCHANGE_BYTES / loaded->bytes)) * (unsigned)loaded->bytes;
    text_add(&g->body, "    ld.shared.%s ", loaded->type);
    add_shape(g, loaded, names);
    text_add(&g->body, ", [%%t%d+%u];\n", t, offset);
    for (int i = 0; i < loaded->count; i++)
        trace(g, loaded->class, names[i]);
}

static void leave(struct generator *g)
{
    int t = masked_value(g, 7), q = temporary(g);
    unsigned which = rng_below(&g->rng, 8);
    text_add(&g->body, "    setp.eq.u32 %%q%d, %%t%d, %u;\n", q, t, which);
    if (!g->mixable)
        text_add(&g->body, "    vote.sync.ballot.b32 %%live, !%%q%d, %%live;\n", q);
    text_add(&g->body, "    @%%q%d %s;\n", q, rng_percent(&g->rng, 50) ? "exit" : "ret");
    g->lanes_left = 1;
}

static void fence(struct generator *g)
{
    static const char *const forms[] = {"membar.cta",   "membar.gl",         "membar.sys",         "fence.acq_rel.cta",
                                        "fence.sc.gpu", "fence.acq_rel.sys", "bar.warp.sync %live"};
    text_add(&g->body, "    %s;\n", pick_text(g, forms, sizeof forms / sizeof forms[0] - (g->mixable ? 1 : 0)));
}

/* Eight-bit integers, so that the sums are exact. */
static void matrix(struct generator *g)
{
    static const char *const types[] = {"s32.s8.s8.s32", "s32.u8.u8.s32", "s32.s8.u8.s32"};
    const char *d[4], *s[10];
    if (!full_warps(g))
        return;
    registers_pick_distinct(g, 'w', d, 4);
    for (int i = 0; i < 10; i++)
        s[i] = register_pick(g, 'w');
    text_add(
        &g->body,
        "    mma.sync.aligned.m16n8k32.row.col.%s {%s, %s, %s, %s}, {%s, %s, %s, %s}, {%s, %s}, {%s, %s, %s, %s};\n",
        PICK(g, types), d[0], d[1], d[2], d[3], s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9]);
    for (int i = 0; i < 4; i++)
        trace(g, 'w', d[i]);
}

void warp_statement(struct generator *g)
{
    static void (*const kinds[])(struct generator *) = {
        vote,  vote,    match,          reduce,   reduce,   shuffle,  shuffle, shuffle, shuffle_from_live,
        elect, barrier, barrier_reduce, exchange, exchange, exchange, fence,   matrix};
    unsigned leaves = g->loop_depth == 0 && g->budget < 25 ? 6 : 0;
    static void (*const of_the_block[])(struct generator *) = {barrier, exchange, exchange, exchange, fence};
    if (rng_percent(&g->rng, leaves))
        leave(g);
    else if (g->mixable)
        of_the_block[rng_below(&g->rng, sizeof of_the_block / sizeof of_the_block[0])](g);
    else
        kinds[rng_below(&g->rng, sizeof kinds / sizeof kinds[0])](g);
}
