/* Dominators by iteration to a fixed point over reverse postorder, after Cooper, Harvey and Kennedy, "A Simple, Fast
 * Dominance Algorithm": on the graphs compilers write it ends after two or three rounds. No recursion, since a kernel
 * may have tens of thousands of blocks in a row. */
#include "ptx/dominators.h"

#include <string.h>

static void fill_edges(struct arena *a, struct flow_edges *e, uint32_t node_count, const uint32_t (*pairs)[2],
                       uint32_t pair_count, int from)
{
    e->start = arena_array(a, uint32_t, node_count + 1);
    e->target = arena_array(a, uint32_t, pair_count + 1);
    uint32_t *next = arena_array(a, uint32_t, node_count + 1);
    for (uint32_t i = 0; i < pair_count; i++)
        e->start[pairs[i][from] + 1]++;
    for (uint32_t n = 0; n < node_count; n++)
        e->start[n + 1] += e->start[n];
    memcpy(next, e->start, sizeof *next * node_count);
    for (uint32_t i = 0; i < pair_count; i++)
        e->target[next[pairs[i][from]]++] = pairs[i][!from];
}

struct flow_graph *flow_graph_build(struct arena *a, uint32_t node_count, const uint32_t (*pairs)[2],
                                    uint32_t pair_count)
{
    struct flow_graph *g = arena_new(a, struct flow_graph);
    g->node_count = node_count;
    fill_edges(a, &g->out, node_count, pairs, pair_count, 0);
    fill_edges(a, &g->in, node_count, pairs, pair_count, 1);
    return g;
}

uint32_t flow_reverse_postorder(struct arena *a, uint32_t node_count, const struct flow_edges *out, uint32_t root,
                                uint32_t *order, uint32_t *position)
{
    uint32_t *stack = arena_array(a, uint32_t, node_count);
    uint32_t *next_edge = arena_array(a, uint32_t, node_count);
    uint32_t depth = 0, count = 0;
    for (uint32_t n = 0; n < node_count; n++)
        position[n] = FLOW_NO_NODE;
    position[root] = 0; /* for now: seen */
    next_edge[root] = out->start[root];
    stack[depth++] = root;
    while (depth) {
        uint32_t n = stack[depth - 1];
        if (next_edge[n] == out->start[n + 1]) {
            order[count++] = n;
            depth--;
            continue;
        }
        uint32_t to = out->target[next_edge[n]++];
        if (position[to] == FLOW_NO_NODE) {
            position[to] = 0;
            next_edge[to] = out->start[to];
            stack[depth++] = to;
        }
    }
    for (uint32_t i = 0; i < count / 2; i++) {
        uint32_t n = order[i];
        order[i] = order[count - 1 - i];
        order[count - 1 - i] = n;
    }
    for (uint32_t i = 0; i < count; i++)
        position[order[i]] = i;
    return count;
}

/* The nearest common ancestor in the tree so far; both are places in the order, ancestors have lower ones. */
static uint32_t common_dominator(const uint32_t *dominator, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (a > b)
            a = dominator[a];
        while (b > a)
            b = dominator[b];
    }
    return a;
}

/* One round over all nodes but the root; dominator[] is indexed by place in the order. Returns whether anything
 * changed. */
static int refine(const struct flow_edges *in, const uint32_t *order, const uint32_t *position, uint32_t count,
                  uint32_t *dominator)
{
    int changed = 0;
    for (uint32_t i = 1; i < count; i++) {
        uint32_t best = FLOW_NO_NODE;
        for (uint32_t e = in->start[order[i]]; e < in->start[order[i] + 1]; e++) {
            uint32_t p = position[in->target[e]];
            if (p == FLOW_NO_NODE || dominator[p] == FLOW_NO_NODE)
                continue;
            best = best == FLOW_NO_NODE ? p : common_dominator(dominator, best, p);
        }
        if (dominator[i] != best) {
            dominator[i] = best;
            changed = 1;
        }
    }
    return changed;
}

uint32_t *flow_dominators(struct arena *a, uint32_t node_count, const struct flow_edges *out,
                          const struct flow_edges *in, uint32_t root)
{
    uint32_t *idom = arena_array(a, uint32_t, node_count);
    struct arena scratch = {0};
    uint32_t *order = arena_array(&scratch, uint32_t, node_count);
    uint32_t *position = arena_array(&scratch, uint32_t, node_count);
    uint32_t *dominator = arena_array(&scratch, uint32_t, node_count);
    uint32_t count = flow_reverse_postorder(&scratch, node_count, out, root, order, position);
    for (uint32_t i = 0; i < count; i++)
        dominator[i] = FLOW_NO_NODE;
    dominator[0] = 0;
    while (refine(in, order, position, count, dominator))
        ;
    for (uint32_t n = 0; n < node_count; n++)
        idom[n] = n == root || position[n] == FLOW_NO_NODE ? FLOW_NO_NODE : order[dominator[position[n]]];
    arena_free(&scratch);
    return idom;
}
