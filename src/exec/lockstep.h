/* A block in lockstep: one stack of paths for all its threads, as thread block compaction without time runs it. Every
 * instruction of the path on top is executed by all warps that have lanes in it before the next one is; a branch is
 * evaluated for all of them, and splits the path of the block.
 *
 * What is executed is what warp by warp would be; the order is another one. Where threads of one path of a warp wait
 * for others of their warp or block that lockstep would never run, the block leaves it: its warps get the stacks that
 * they would have, and go on by themselves. */
#ifndef HEDDLE_EXEC_LOCKSTEP_H
#define HEDDLE_EXEC_LOCKSTEP_H

#include "exec/exec.h"

enum { LOCKSTEP_WARPS = 32 };

/* A conditional branch. Masks by warp of the block; all lanes of the path are in one of the two. */
struct lockstep_branch {
    uint32_t pc, target, fall_through, reconvergence /* UINT32_MAX: the end of the kernel */;
    bool divergent; /* lanes of one warp disagree */
    const uint32_t *taken, *not_taken;
};

/* What is reported while a block runs. */
struct lockstep_observer {
    void *context;
    void (*branch)(void *context, const struct exec_cta *cta, const struct lockstep_branch *b);
    /* So many instructions were executed by a path, one after the other. */
    void (*ran)(void *context, const struct exec_cta *cta, const uint32_t *masks, uint64_t instructions);
    void (*left)(void *context, const struct exec_cta *cta); /* of the rest of the block nothing is reported */
};

struct lockstep;

/* The first instruction of a kernel that has no meaning here, or NULL: calls, indexed branches, mbarriers, barriers
 * other than bar.sync of a whole block and bar.warp.sync. */
const struct ptx_inst *lockstep_obstacle(const struct exec_function *kernel);
struct lockstep *lockstep_create(void);
void lockstep_destroy(struct lockstep *b);
/* The block was started (exec_cta_start), and none of its instructions executed. */
void lockstep_start(struct lockstep *b, struct exec_cta *cta, const struct lockstep_observer *o);
/* About so many warp instructions, until the block has ended or left, a fault, or nanosleep. Returns how many were
 * executed. */
uint64_t lockstep_run(struct lockstep *b, uint64_t budget);
bool lockstep_has_left(const struct lockstep *b);
/* Gives the warps their stacks, for whoever looks at them; the block stays in lockstep. */
void lockstep_show(struct lockstep *b);
/* Leaves lockstep where the path on top spins while other threads of the block wait. After lockstep_show. */
void lockstep_leave_if_spinning(struct lockstep *b);

#endif
