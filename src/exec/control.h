/* Control flow of a warp: the reconvergence stack, calls, barriers (exec/control.c, simt.c, call.c, barrier.c). */
#ifndef HEDDLE_EXEC_CONTROL_H
#define HEDDLE_EXEC_CONTROL_H

#include "base/likely.h"
#include "exec/exec.h"

#define NO_RPC UINT32_MAX /* paths that meet again only at the function's end */

/* simt.c */
void simt_start(struct exec_warp *w, uint32_t lanes);
void simt_take(struct exec_warp *w, const struct simt_entry *entries,
               uint32_t count);     /* its stack, the top last, from whoever ran it so far */
void simt_pop(struct exec_warp *w); /* the top has reached its reconvergence point, or has no lanes left */
void simt_branch(struct exec_warp *w, uint32_t taken, uint32_t target, uint32_t rpc);
/* The same where one of the ways leads to a place at which threads wait for others: with is_taken that of the branch,
 * else the other. */
void simt_branch_to_meeting(struct exec_warp *w, uint32_t taken, uint32_t target, uint32_t rpc, bool is_taken);
/* Splits the active lanes into paths (each with a pc and a mask, together the active mask) that meet at rpc; path 0
 * runs first. */
struct simt_path {
    uint32_t pc, mask;
};
void simt_split(struct exec_warp *w, const struct simt_path *paths, uint32_t count, uint32_t rpc);
void simt_push_call(struct exec_warp *w, uint32_t mask); /* new top at pc 0 of the callee */
void simt_retire(struct exec_warp *w, uint32_t lanes,
                 bool exit); /* lanes leave the function (ret) or the kernel (exit) */
/* The path that runs waits at a barrier (a value of simt_entry.barrier). Other paths of the warp run first; when all
 * that can run wait, barrier_gather. */
void simt_block(struct exec_warp *w, uint8_t barrier, uint32_t lanes);
void simt_save(struct exec_warp *w);   /* pc and mask of the path that runs, into its entry */
void simt_resume(struct exec_warp *w); /* after paths that waited may go on: finds the one to run */
static inline void simt_next(struct exec_warp *w)
{
    if (unlikely(++w->pc == w->rpc))
        simt_pop(w);
}

/* call.c */
void call_enter(struct exec_warp *w, const struct exec_inst *in, uint32_t mask, const struct exec_function *callee);
void call_leave(struct exec_warp *w);         /* back to the caller's frame; pc after the call */
bool call_prepare_frame(struct exec_warp *w); /* address registers of the frame at hand */

/* control.c */
void control_make_return(struct exec_inst *out);

/* barrier.c */
void barrier_gather(
    struct exec_warp *w); /* no path of the warp can run: it arrives at the barriers its paths wait at */
bool barrier_await_members(struct exec_warp *w, const struct exec_inst *in,
                           uint32_t mask);   /* true: the path waits for lanes on other paths */
void barrier_warp_done(struct exec_warp *w); /* a warp that ended no longer counts */
/* Lets the paths that arrived there go on from the barrier; whether there were any. */
bool barrier_release_paths(struct exec_warp *w, uint32_t id, const struct exec_barrier *complete);
void barrier_arrive(struct exec_warp *w, uint32_t ids); /* the warp as a whole, at those of the mask; it waits */
/* Called for warps that wait: which barrier, how many are missing; for messages. */
void barrier_describe(const struct exec_warp *w, char *out, uint32_t out_bytes);

/* let_go.c: lanes that have just come to where they are to meet the others; where those have spun before, they go on */
void let_go_at_once(struct exec_warp *w, uint32_t meet, uint32_t lanes);

/* registers.c: of one call of f, the values of some lanes */
void registers_copy_lanes(const struct exec_function *f, uint8_t *to, const uint8_t *from, uint32_t lanes);

/* device_calls.c: functions that the device runtime provides */
typedef void device_call_fn(struct exec_warp *w, uint32_t mask, const uint32_t *arguments, uint32_t result);
enum { DEVICE_CALL_ARGUMENTS = 5 };
/* Sizes are those that run reads and writes: what a call site names must be at least as large. */
struct device_call {
    const char *name;
    device_call_fn *run;
    uint8_t argument_count, result_bytes, argument_bytes[DEVICE_CALL_ARGUMENTS];
};
const struct device_call *device_call_find(const char *name);

const struct exec_function *exec_image_function_at(const struct exec_image *image, uint64_t address);

#endif
