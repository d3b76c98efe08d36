/* Graphs: nodes with their work, and what each comes after. */
#ifndef HEDDLE_CUDA_GRAPH_H
#define HEDDLE_CUDA_GRAPH_H

#include "cuda/work.h"

/* The value that decides what a conditional node does. Its handle is the address of the value, which kernels set;
 * graphs and their copies share it. */
struct condition {
    CUgraphConditionalHandle handle;
    unsigned int value, flags;
    uint32_t references;
};

struct edge {
    struct node *on;
    CUgraphEdgeData data;
};

struct node {
    struct object object;
    struct graph *graph;
    struct work work;
    struct edge *before; /* those it comes after */
    uint32_t before_count;
    uint32_t index;      /* in the graph */
    uint64_t id, origin; /* origin: the id of the node that it is a copy of */
    bool disabled;       /* of an instance */
};

struct held_object {
    struct user_object *user;
    uint64_t count;
};

struct graph {
    struct object object;
    struct node **nodes;
    uint32_t node_count;
    uint32_t *order; /* of an instance: the nodes in the order they run in */
    bool owned;      /* by a node: may not be destroyed by itself */
    struct condition **conditions;
    uint32_t condition_count;
    struct held_object *held;
    uint32_t held_count;
};

/* A graph made ready: a copy, in order. */
struct graph_exec {
    struct object object;
    struct graph *graph;
    unsigned long long flags;
    uint32_t running;
    bool doomed; /* destroyed while it ran: goes when it has run */
};

/* graph.c */
struct graph *graph_new(void);
CUresult graph_copy(const struct graph *from, struct graph **out);
CUresult graph_enter(CUgraph handle, const void *argument,
                     struct graph **g); /* api_enter; argument: must not be NULL */
CUresult node_enter(CUgraphNode handle, const void *argument, struct node **n);
/* Adds a node, which takes over what the work owns, also when it fails. edges: NULL, or one for each dependency. */
CUresult graph_add(struct graph *g, const CUgraphNode *dependencies, const CUgraphEdgeData *edges, size_t count,
                   struct work *w, struct node **out);
struct edge *graph_edge(const struct node *n, const struct node *on); /* NULL: there is none */
CUresult graph_depend(struct node *n, struct node *on, const CUgraphEdgeData *data);
void graph_forget_edge(struct node *n, const struct edge *e);
/* Puts the nodes in order, children and bodies too. CUDA_ERROR_INVALID_VALUE: there is a cycle, *culprit is a node of
 * it. */
CUresult graph_sort(struct graph *g, struct node **culprit);
struct node *graph_find_copy(const struct graph *g, uint64_t origin); /* in children and bodies too */
CUresult graph_each(const struct graph *g, CUresult (*visit)(struct node *n, void *user),
                    void *user); /* children and bodies too */

/* graph_nodes.c */
CUresult work_of_params(struct work *w, CUgraphNodeParams *p);

/* graph_exec.c */
CUresult graph_exec_run(struct graph_exec *x);
void graph_exec_hold(struct graph_exec *x); /* it is going to run: destroyed meanwhile, it stays until then */
void graph_exec_release(struct graph_exec *x);
CUresult exec_enter(CUgraphExec handle, enum api_need need, const void *argument, struct graph_exec **x);

/* graph_memory.c: the memory of alloc nodes. Its address is fixed when the node is made; the memory is there from the
 * node's run until it is freed. */
struct graph_block *graph_block_new(struct context *ctx, size_t bytes);
struct graph_block *graph_block_find(uint64_t address);
void graph_block_hold(struct graph_block *b);
void graph_block_drop(struct graph_block *b);
uint64_t graph_block_address(const struct graph_block *b);
bool graph_block_is_there(const struct graph_block *b);
CUresult graph_block_appear(struct graph_block *b);
CUresult graph_block_vanish(struct graph_block *b);

/* graph_condition.c */
void condition_hold(struct condition *c);
void condition_drop(struct condition *c);
CUresult work_condition(struct work *w, CUDA_CONDITIONAL_NODE_PARAMS *p);
unsigned int condition_value(CUgraphConditionalHandle handle);
void condition_start(const struct condition *c); /* at the start of a run */

/* user_object.c */
CUresult user_objects_copy(struct graph *to, const struct graph *from);
void user_objects_free(struct graph *g);
/* Outside the lock: calls the destructors of those that nobody holds any more. */
void user_objects_settle(void);

#endif
