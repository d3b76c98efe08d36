/* Races: two accesses to the same bytes by different threads of a launch, at least one of them a write, that nothing
 * puts in order (PTX ISA 8: memory consistency model). `heddle run --races`; docs/races.md has the rules in words.
 *
 * A launch that is checked runs by race_run in place of exec_run. Nothing is asked where none is: exec_cta.race is
 * NULL, and only barriers and the few instructions that make several accesses look at it.
 *
 * race.c: from instructions to accesses, and what was found. race_clock.c: what is in order. race_shadow.c: who
 * accessed what last. */
#ifndef HEDDLE_EXEC_RACE_H
#define HEDDLE_EXEC_RACE_H

#include "exec/exec.h"

struct races; /* of a device: what was found, and the shadow of its memory */
struct race_launch;
struct race_block; /* of a block that is resident: exec_cta.race */

enum race_kind { RACE_WRITE_WRITE, RACE_READ_AFTER_WRITE, RACE_WRITE_AFTER_READ, RACE_KINDS };

struct race_party {
    uint32_t instruction /* see race_launch_begin */, block[3], thread[3];
};

/* A pair of instructions, with the threads that were seen first. */
struct race_pair {
    const void *program;
    const char *kernel;
    struct race_party earlier, later; /* as they were executed here */
    enum race_kind kind;
    bool shared;
    uint64_t address; /* shared: in the block's shared memory */
    char where[320];  /* "16 bytes into shared variable 'counts'", "... a 4096-byte allocation ..." */
    uint64_t count;   /* times seen: per thread and 4 bytes */
};

struct races *races_create(void);
void races_destroy(struct races *r);
const struct race_pair *races_pairs(const struct races *r, uint32_t *count); /* in the order in which they were found */
uint64_t races_dropped(const struct races *r);  /* races of pairs beyond those that are kept */
uint64_t races_launches(const struct races *r); /* that were checked */

/* program: what instructions are numbered in, the same for each launch of a kernel; first: by exec_function.index, the
 * number of the first instruction of each function that may run. Both outlive *r. count: of all instructions. */
struct race_launch *race_launch_begin(struct races *r, const struct exec_launch *l, const void *program,
                                      const uint32_t *first, uint32_t count);
void race_launch_end(struct race_launch *l);

void race_block_start(struct exec_cta *cta, struct race_launch *l); /* after exec_cta_start */
void race_block_destroy(struct race_block *b);

void race_step(struct exec_warp *w);                     /* as exec_step */
uint32_t race_run(struct exec_warp *w, uint32_t budget); /* as exec_run */

/* Reported by those that do it, where exec_cta.race is there and the warp is not only watched (spin.c): */
void race_barrier_arrive(struct exec_warp *w, uint32_t id);
void race_barrier_open(struct exec_cta *cta, uint32_t id); /* all have arrived; those that waited pass now */
void race_barrier_pass(struct exec_warp *w);
void race_warp_done(struct exec_warp *w);
void race_warp_sync(struct exec_warp *w, uint32_t lanes);
void race_access(struct exec_warp *w); /* w->access, of an instruction that makes several */
void race_allocated(struct exec_warp *w, uint64_t address,
                    uint64_t bytes); /* malloc of a kernel: who had it before does not matter */

static inline bool race_is_watching(const struct exec_warp *w) { return w->cta->race && !w->launch->watched; }
static inline void race_note_access(struct exec_warp *w)
{
    if (race_is_watching(w))
        race_access(w);
}

#endif
