/* Basic blocks and edges of a PTX function, its dominators and post-dominators, and where the paths of a branch meet
 * again.
 *
 * A virtual exit node follows every ret, exit, trap, call of a function that does not return, and the function's
 * end. A cycle that reaches none of them would have no post-dominator, so the blocks that close it get an edge to the
 * exit that exists only here. The reconvergence point of a branch is the first instruction of its block's immediate
 * post-dominator. Calls do not end a block (one that never returns does): what happens in the callee is the callee's
 * graph. */
#include "ptx/cfg_internal.h"

#include <string.h>

/* Edges as (from, to) pairs, growing. */
struct edge_list {
    uint32_t (*pairs)[2];
    uint32_t count, capacity;
    struct arena *arena;
};

static void add_edge(struct edge_list *l, uint32_t from, uint32_t to)
{
    if (l->count == l->capacity) {
        l->capacity = l->capacity ? l->capacity * 2 : 64;
        uint32_t(*grown)[2] = arena_alloc(l->arena, sizeof *grown * l->capacity);
        if (l->count)
            memcpy(grown, l->pairs, sizeof *grown * l->count);
        l->pairs = grown;
    }
    l->pairs[l->count][0] = from;
    l->pairs[l->count][1] = to;
    l->count++;
}

bool ptx_is_conditional_branch(const struct ptx_inst *in)
{
    return (ptx_flags(in) & PTX_F_BRANCH) && (in->guard || in->opcode == PTX_OP_brx);
}

/* A direct call of a function declared .noreturn. */
static bool call_never_returns(const struct ptx_inst *in)
{
    if (!(ptx_flags(in) & PTX_F_CALL))
        return false;
    for (uint32_t i = 0; i < in->operand_count; i++)
        if (in->operands[i].kind == PTX_OPERAND_FUNCTION)
            return in->operands[i].function->noreturn;
    return false;
}

static bool leaves_function(const struct ptx_inst *in)
{
    return (ptx_flags(in) & (PTX_F_EXIT | PTX_F_RET)) || call_never_returns(in);
}

static bool ends_block(const struct ptx_inst *in) { return (ptx_flags(in) & PTX_F_BRANCH) || leaves_function(in); }

/* Whether execution can go on with the next instruction. */
bool ptx_falls_through(const struct ptx_inst *in) { return in->guard || !ends_block(in); }

/* bra has a label, brx a table of them. */
static void visit_operand_targets(const struct ptx_operand *o, ptx_target_visitor *visit, void *context)
{
    if (o->kind == PTX_OPERAND_LABEL)
        visit(context, o->target);
    else if (o->kind == PTX_OPERAND_TABLE && o->table->kind == PTX_TABLE_BRANCH)
        for (uint32_t i = 0; i < o->table->count; i++)
            visit(context, o->table->targets[i]);
    else if (o->kind == PTX_OPERAND_VECTOR || o->kind == PTX_OPERAND_LIST)
        for (uint32_t i = 0; i < o->element_count; i++)
            visit_operand_targets(&o->elements[i], visit, context);
}

void ptx_visit_targets(const struct ptx_inst *in, ptx_target_visitor *visit, void *context)
{
    if (!(ptx_flags(in) & PTX_F_BRANCH))
        return;
    for (uint32_t i = 0; i < in->operand_count; i++)
        visit_operand_targets(&in->operands[i], visit, context);
}

/* Leaders: the first instruction, every branch target, and what follows an instruction that ends a block. One
 * entry more than instructions, since a label may stand at the function's end. */
static void mark_leader(void *leaders, uint32_t target) { ((bool *)leaders)[target] = true; }

static void split_blocks(struct arena *a, struct arena *scratch, struct ptx_cfg *cfg, const struct ptx_function *f)
{
    bool *leader = arena_array(scratch, bool, f->inst_count + 1);
    leader[0] = true;
    for (uint32_t i = 0; i < f->inst_count; i++) {
        ptx_visit_targets(&f->insts[i], mark_leader, leader);
        if (ends_block(&f->insts[i]))
            leader[i + 1] = true;
    }
    for (uint32_t i = 0; i < f->inst_count; i++)
        cfg->block_count += leader[i];
    cfg->blocks = arena_array(a, struct ptx_block, cfg->block_count);
    cfg->block_of_inst = arena_array(a, uint32_t, f->inst_count);
    uint32_t b = 0;
    for (uint32_t i = 0; i < f->inst_count; i++) {
        if (leader[i] && i) {
            cfg->blocks[b++].end = i;
            cfg->blocks[b].first = i;
        }
        cfg->block_of_inst[i] = b;
    }
    cfg->blocks[b].end = f->inst_count;
}

/* Collects the edges of one block at a time; last_seen[n] is one more than the last block that had an edge to node
 * n. */
struct edge_collector {
    const struct ptx_cfg *cfg;
    const struct ptx_function *f;
    struct edge_list *edges;
    uint32_t *last_seen;
    uint32_t block;
};

static void collect_edge(void *context, uint32_t target)
{
    struct edge_collector *c = context;
    uint32_t to = target < c->f->inst_count ? c->cfg->block_of_inst[target] : c->cfg->block_count;
    if (c->last_seen[to] == c->block + 1)
        return;
    c->last_seen[to] = c->block + 1;
    add_edge(c->edges, c->block, to);
}

static void collect_edges(struct arena *scratch, struct ptx_cfg *cfg, const struct ptx_function *f,
                          struct edge_list *edges)
{
    struct edge_collector c = {.cfg = cfg, .f = f, .edges = edges};
    c.last_seen = arena_array(scratch, uint32_t, cfg->block_count + 1);
    for (c.block = 0; c.block < cfg->block_count; c.block++) {
        uint32_t end = cfg->blocks[c.block].end;
        const struct ptx_inst *last = &f->insts[end - 1];
        if (ptx_falls_through(last))
            collect_edge(&c, end);
        ptx_visit_targets(last, collect_edge, &c);
        if (leaves_function(last))
            collect_edge(&c, f->inst_count);
    }
}

/* Copies a node's edges into a block's list, leaving out the virtual exit. */
static uint32_t *copy_edges(struct arena *a, const struct flow_edges *e, uint32_t node, uint32_t exit_node,
                            uint32_t *count)
{
    uint32_t *list = arena_array(a, uint32_t, e->start[node + 1] - e->start[node]);
    *count = 0;
    for (uint32_t i = e->start[node]; i < e->start[node + 1]; i++)
        if (e->target[i] != exit_node)
            list[(*count)++] = e->target[i];
    return list;
}

static void link_blocks(struct arena *a, struct ptx_cfg *cfg, const struct flow_graph *g)
{
    uint32_t exit_node = cfg->block_count;
    for (uint32_t n = 0; n < cfg->block_count; n++) {
        struct ptx_block *b = &cfg->blocks[n];
        b->succs = copy_edges(a, &g->out, n, exit_node, &b->succ_count);
        b->preds = copy_edges(a, &g->in, n, exit_node, &b->pred_count);
        b->exits = b->succ_count < g->out.start[n + 1] - g->out.start[n];
    }
}

/* Marks all nodes from which `from` is reached along the edges (given as the in edges), skipping marked ones. */
static void flood(const struct flow_edges *e, uint32_t from, bool *mark, uint32_t *stack)
{
    uint32_t depth = 0;
    mark[from] = true;
    stack[depth++] = from;
    while (depth) {
        uint32_t n = stack[--depth];
        for (uint32_t i = e->start[n]; i < e->start[n + 1]; i++) {
            uint32_t to = e->target[i];
            if (!mark[to]) {
                mark[to] = true;
                stack[depth++] = to;
            }
        }
    }
}

/* State of the search for cycles that never reach the exit. */
struct endless {
    const struct flow_graph *g;
    bool *reaches_exit;
    uint32_t *component; /* 0: none yet; else number of the strongly connected component */
    uint32_t *finish;    /* blocks in the order in which a walk against the edges finishes them */
    uint32_t finish_count;
    uint32_t *stack, *next_edge;
};

/* Depth-first against the edges from one block, noting finishing order. */
static void finish_walk(struct endless *s, uint32_t from, bool *seen)
{
    const struct flow_edges *in = &s->g->in;
    uint32_t depth = 0;
    seen[from] = true;
    s->next_edge[from] = in->start[from];
    s->stack[depth++] = from;
    while (depth) {
        uint32_t n = s->stack[depth - 1];
        if (s->next_edge[n] == in->start[n + 1]) {
            s->finish[s->finish_count++] = n;
            depth--;
            continue;
        }
        uint32_t to = in->target[s->next_edge[n]++];
        if (!seen[to] && !s->reaches_exit[to]) {
            seen[to] = true;
            s->next_edge[to] = in->start[to];
            s->stack[depth++] = to;
        }
    }
}

/* Collects the component of `from`: what it reaches along the edges and is in no component yet. Returns true when no
 * edge leaves it, with the members in members[]. */
static bool collect_component(struct endless *s, uint32_t from, uint32_t number, uint32_t *members,
                              uint32_t *member_count)
{
    const struct flow_edges *out = &s->g->out;
    uint32_t depth = 0;
    bool closed = true;
    *member_count = 0;
    s->component[from] = number;
    s->stack[depth++] = from;
    while (depth) {
        uint32_t n = s->stack[--depth];
        members[(*member_count)++] = n;
        for (uint32_t i = out->start[n]; i < out->start[n + 1]; i++) {
            uint32_t to = out->target[i];
            if (!s->component[to]) {
                s->component[to] = number;
                s->stack[depth++] = to;
            } else if (s->component[to] != number) {
                closed = false;
            }
        }
    }
    return closed;
}

/* The member where control enters: the first in reverse postorder from the entry, or the first in the text where it is
 * never entered. */
static uint32_t component_header(const uint32_t *members, uint32_t count, const uint32_t *position)
{
    uint32_t best = members[0];
    for (uint32_t i = 1; i < count; i++) {
        uint32_t m = members[i];
        if (position[m] < position[best] || (position[m] == position[best] && m < best))
            best = m;
    }
    return best;
}

/* Gives each cycle that nothing leaves an edge to the exit from the blocks that close it. Taking those rather than the
 * header keeps the paths inside the body meeting at the body's end. */
static bool close_endless_cycles(struct arena *scratch, const struct ptx_cfg *cfg, const struct flow_graph *g,
                                 struct edge_list *edges)
{
    uint32_t n = cfg->block_count, exit_node = n;
    struct endless s = {.g = g};
    s.reaches_exit = arena_array(scratch, bool, n + 1);
    s.stack = arena_array(scratch, uint32_t, n + 1);
    flood(&g->in, exit_node, s.reaches_exit, s.stack);
    bool any = false;
    for (uint32_t b = 0; b < n; b++)
        any |= !s.reaches_exit[b];
    if (!any)
        return false;

    bool *seen = arena_array(scratch, bool, n + 1);
    uint32_t *members = arena_array(scratch, uint32_t, n), *order = arena_array(scratch, uint32_t, n + 1);
    uint32_t *position = arena_array(scratch, uint32_t, n + 1);
    s.component = arena_array(scratch, uint32_t, n + 1);
    s.finish = arena_array(scratch, uint32_t, n);
    s.next_edge = arena_array(scratch, uint32_t, n + 1);
    flow_reverse_postorder(scratch, n + 1, &g->out, 0, order, position);
    for (uint32_t b = 0; b < n; b++)
        if (!s.reaches_exit[b] && !seen[b])
            finish_walk(&s, b, seen);
    uint32_t number = 0, member_count;
    for (uint32_t i = s.finish_count; i-- > 0;) {
        uint32_t from = s.finish[i];
        if (s.component[from] || !collect_component(&s, from, ++number, members, &member_count))
            continue;
        uint32_t header = component_header(members, member_count, position);
        for (uint32_t e = g->in.start[header]; e < g->in.start[header + 1]; e++)
            if (s.component[g->in.target[e]] == s.component[header])
                add_edge(edges, g->in.target[e], exit_node);
    }
    return true;
}

static void find_dominators(struct arena *a, struct ptx_cfg *cfg, const struct flow_graph *g)
{
    cfg->idom = flow_dominators(a, g->node_count, &g->out, &g->in, 0);
    for (uint32_t b = 0; b < cfg->block_count; b++)
        cfg->blocks[b].reachable = b == 0 || cfg->idom[b] != FLOW_NO_NODE;
}

static void find_post_dominators(struct arena *a, struct arena *scratch, struct ptx_cfg *cfg,
                                 const struct flow_graph *g, struct edge_list *edges)
{
    if (close_endless_cycles(scratch, cfg, g, edges))
        g = flow_graph_build(scratch, g->node_count, (const uint32_t(*)[2])edges->pairs, edges->count);
    uint32_t exit_node = cfg->block_count;
    cfg->ipdom = flow_dominators(a, g->node_count, &g->in, &g->out, exit_node);
    for (uint32_t b = 0; b < cfg->block_count; b++)
        if (cfg->ipdom[b] == exit_node)
            cfg->ipdom[b] = PTX_NO_BLOCK;
}

static void find_reconvergence(struct arena *a, struct ptx_cfg *cfg, const struct ptx_function *f)
{
    cfg->reconvergence = arena_array(a, uint32_t, f->inst_count);
    for (uint32_t i = 0; i < f->inst_count; i++) {
        uint32_t meet = PTX_NO_BLOCK;
        if (ptx_is_conditional_branch(&f->insts[i]))
            meet = cfg->ipdom[cfg->block_of_inst[i]];
        cfg->reconvergence[i] = meet == PTX_NO_BLOCK ? PTX_NO_RECONVERGENCE : cfg->blocks[meet].first;
    }
}

struct ptx_cfg *ptx_cfg_build(struct arena *a, const struct ptx_function *f)
{
    struct ptx_cfg *cfg = arena_new(a, struct ptx_cfg);
    cfg->reducible = true;
    if (!f->inst_count)
        return cfg;
    struct arena scratch = {0};
    struct edge_list edges = {.arena = &scratch};
    split_blocks(a, &scratch, cfg, f);
    collect_edges(&scratch, cfg, f, &edges);
    struct flow_graph *g =
        flow_graph_build(&scratch, cfg->block_count + 1, (const uint32_t(*)[2])edges.pairs, edges.count);
    link_blocks(a, cfg, g);
    find_dominators(a, cfg, g);
    ptx_cfg_find_loops(a, cfg, g);
    find_post_dominators(a, &scratch, cfg, g, &edges);
    find_reconvergence(a, cfg, f);
    arena_free(&scratch);
    return cfg;
}

static bool is_ancestor(const uint32_t *tree, uint32_t block, uint32_t other)
{
    while (other != PTX_NO_BLOCK && other != block)
        other = tree[other];
    return other == block;
}

bool ptx_cfg_dominates(const struct ptx_cfg *cfg, uint32_t block, uint32_t other)
{
    return is_ancestor(cfg->idom, block, other);
}

bool ptx_cfg_post_dominates(const struct ptx_cfg *cfg, uint32_t block, uint32_t other)
{
    return is_ancestor(cfg->ipdom, block, other);
}
