/* Natural loops: a back edge is one whose target dominates its source; the loop is the target (the header) and
 * everything that reaches the source without passing the header. Back edges to one header make one loop. Two loops are
 * either nested or apart, so the blocks of all loops lie in one array in which each loop is a slice. An edge back to a
 * block that does not dominate its source makes the graph irreducible and belongs to no loop here. */
#include "ptx/cfg_internal.h"

#include <stdlib.h>

/* Loops while they are found: inner headers come first. */
struct loop_search {
    struct ptx_cfg *cfg;
    uint32_t *order, *position, reachable_count;
    struct ptx_loop *loops;
    uint32_t loop_count;
    uint32_t *stack;
};

/* Whether the edge from -> to is a back edge; *retreating where it goes back in the walk's order, back edge or not. */
static bool is_back_edge(const struct loop_search *s, uint32_t from, uint32_t to, bool *retreating)
{
    *retreating = s->position[to] <= s->position[from];
    if (!*retreating)
        return false;
    while (s->position[from] > s->position[to])
        from = s->cfg->idom[from];
    return from == to;
}

static uint32_t outermost_known(const struct loop_search *s, uint32_t loop)
{
    while (s->loops[loop].parent != PTX_NO_LOOP)
        loop = (uint32_t)s->loops[loop].parent;
    return loop;
}

/* Takes a block, or the whole outermost loop around it that is known so far, into a new loop. Returns the block whose
 * predecessors come next, or PTX_NO_BLOCK where there is nothing new. */
static uint32_t absorb(struct loop_search *s, uint32_t loop, uint32_t block)
{
    struct ptx_block *b = &s->cfg->blocks[block];
    if (b->loop == PTX_NO_LOOP) {
        b->loop = (int32_t)loop;
        return block;
    }
    uint32_t inner = outermost_known(s, (uint32_t)b->loop);
    if (inner == loop)
        return PTX_NO_BLOCK;
    s->loops[inner].parent = (int32_t)loop;
    return s->loops[inner].header_block;
}

static void grow_loop(struct loop_search *s, uint32_t loop)
{
    struct ptx_loop *l = &s->loops[loop];
    uint32_t depth = 0;
    absorb(s, loop, l->header_block);
    for (uint32_t i = 0; i < l->latch_count; i++) {
        uint32_t next = absorb(s, loop, l->latches[i]);
        if (next != PTX_NO_BLOCK)
            s->stack[depth++] = next;
    }
    while (depth) {
        const struct ptx_block *b = &s->cfg->blocks[s->stack[--depth]];
        for (uint32_t i = 0; i < b->pred_count; i++) {
            if (!s->cfg->blocks[b->preds[i]].reachable)
                continue;
            uint32_t next = absorb(s, loop, b->preds[i]);
            if (next != PTX_NO_BLOCK)
                s->stack[depth++] = next;
        }
    }
}

/* Makes the loop of a header where it has back edges. */
static void try_header(struct arena *a, struct loop_search *s, uint32_t header)
{
    const struct ptx_block *b = &s->cfg->blocks[header];
    uint32_t *latches = NULL, count = 0;
    for (uint32_t i = 0; i < b->pred_count; i++) {
        bool retreating;
        if (!s->cfg->blocks[b->preds[i]].reachable)
            continue;
        if (is_back_edge(s, b->preds[i], header, &retreating)) {
            if (!latches)
                latches = arena_array(a, uint32_t, b->pred_count);
            latches[count++] = b->preds[i];
        } else if (retreating) {
            s->cfg->reducible = false;
        }
    }
    if (!count)
        return;
    s->loops[s->loop_count] = (struct ptx_loop){.header_block = header, .parent = PTX_NO_LOOP};
    s->loops[s->loop_count].latches = latches;
    s->loops[s->loop_count].latch_count = count;
    grow_loop(s, s->loop_count++);
}

/* Sort key: begin ascending, then end descending, so that a loop follows the loops around it. */
static int compare_loops(const void *x, const void *y)
{
    const struct ptx_loop *a = *(struct ptx_loop *const *)x, *b = *(struct ptx_loop *const *)y;
    if (a->depth != b->depth && a->begin == b->begin && a->end == b->end)
        return a->depth < b->depth ? -1 : 1;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return a->header_block < b->header_block ? -1 : a->header_block > b->header_block;
}

/* Ranges and depths. Parents have higher numbers than their inner loops at this point. */
static void measure_loops(struct loop_search *s)
{
    for (uint32_t i = 0; i < s->loop_count; i++)
        s->loops[i].begin = UINT32_MAX;
    for (uint32_t n = 0; n < s->cfg->block_count; n++) {
        const struct ptx_block *b = &s->cfg->blocks[n];
        if (b->loop == PTX_NO_LOOP)
            continue;
        struct ptx_loop *l = &s->loops[b->loop];
        l->begin = b->first < l->begin ? b->first : l->begin;
        l->end = b->end > l->end ? b->end : l->end;
        l->block_count++;
    }
    for (uint32_t i = 0; i < s->loop_count; i++) {
        struct ptx_loop *l = &s->loops[i];
        if (l->parent == PTX_NO_LOOP)
            continue;
        struct ptx_loop *p = &s->loops[l->parent];
        p->begin = l->begin < p->begin ? l->begin : p->begin;
        p->end = l->end > p->end ? l->end : p->end;
        p->block_count += l->block_count;
    }
    for (uint32_t i = s->loop_count; i-- > 0;) {
        struct ptx_loop *l = &s->loops[i];
        l->depth = l->parent == PTX_NO_LOOP ? 1 : s->loops[l->parent].depth + 1;
    }
}

/* Puts the loops into their final order, and renames them in blocks and parents. */
static void sort_loops(struct arena *a, struct arena *scratch, struct loop_search *s)
{
    struct ptx_cfg *cfg = s->cfg;
    struct ptx_loop **sorted = arena_array(scratch, struct ptx_loop *, s->loop_count);
    int32_t *new_index = arena_array(scratch, int32_t, s->loop_count);
    for (uint32_t i = 0; i < s->loop_count; i++)
        sorted[i] = &s->loops[i];
    qsort(sorted, s->loop_count, sizeof *sorted, compare_loops);
    for (uint32_t i = 0; i < s->loop_count; i++)
        new_index[sorted[i] - s->loops] = (int32_t)i;
    cfg->loops = arena_array(a, struct ptx_loop, s->loop_count);
    cfg->loop_count = s->loop_count;
    for (uint32_t i = 0; i < s->loop_count; i++) {
        cfg->loops[i] = *sorted[i];
        if (cfg->loops[i].parent != PTX_NO_LOOP)
            cfg->loops[i].parent = new_index[cfg->loops[i].parent];
    }
    for (uint32_t b = 0; b < cfg->block_count; b++)
        if (cfg->blocks[b].loop != PTX_NO_LOOP)
            cfg->blocks[b].loop = new_index[cfg->blocks[b].loop];
}

/* Gives each loop its slice: first the blocks that are its own, then its inner loops' slices. */
static void slice_blocks(struct arena *a, struct arena *scratch, struct ptx_cfg *cfg)
{
    uint32_t total = 0;
    uint32_t *own = arena_array(scratch, uint32_t, cfg->loop_count),
             *place = arena_array(scratch, uint32_t, cfg->loop_count);
    uint32_t *next_inner = arena_array(scratch, uint32_t, cfg->loop_count);
    for (uint32_t b = 0; b < cfg->block_count; b++)
        if (cfg->blocks[b].loop != PTX_NO_LOOP) {
            own[cfg->blocks[b].loop]++;
            total++;
        }
    uint32_t *array = arena_array(a, uint32_t, total), next_outer = 0;
    for (uint32_t i = 0; i < cfg->loop_count; i++) { /* outer loops come first */
        struct ptx_loop *l = &cfg->loops[i];
        uint32_t *from = l->parent == PTX_NO_LOOP ? &next_outer : &next_inner[l->parent];
        place[i] = *from;
        *from += l->block_count;
        next_inner[i] = place[i] + own[i];
        l->blocks = array + place[i];
    }
    for (uint32_t b = 0; b < cfg->block_count; b++)
        if (cfg->blocks[b].loop != PTX_NO_LOOP)
            array[place[cfg->blocks[b].loop]++] = b;
}

void ptx_cfg_find_loops(struct arena *a, struct ptx_cfg *cfg, const struct flow_graph *g)
{
    struct arena scratch = {0};
    struct loop_search s = {.cfg = cfg};
    s.order = arena_array(&scratch, uint32_t, g->node_count);
    s.position = arena_array(&scratch, uint32_t, g->node_count);
    s.stack = arena_array(&scratch, uint32_t, g->node_count);
    s.loops = arena_array(&scratch, struct ptx_loop, cfg->block_count);
    s.reachable_count = flow_reverse_postorder(&scratch, g->node_count, &g->out, 0, s.order, s.position);
    for (uint32_t b = 0; b < cfg->block_count; b++)
        cfg->blocks[b].loop = PTX_NO_LOOP;
    for (uint32_t i = s.reachable_count; i-- > 0;)
        if (s.order[i] < cfg->block_count)
            try_header(a, &s, s.order[i]);
    measure_loops(&s);
    sort_loops(a, &scratch, &s);
    slice_blocks(a, &scratch, cfg);
    arena_free(&scratch);
}

bool ptx_loop_contains(const struct ptx_cfg *cfg, uint32_t loop, uint32_t block)
{
    int32_t l = cfg->blocks[block].loop;
    while (l > (int32_t)loop)
        l = cfg->loops[l].parent;
    return l == (int32_t)loop;
}
