/* Takes up what an earlier sweep left in Slurm's queue. It may have been killed at any moment, so its batches are found
 * by their folders in the spool; one whose job number did not get there is looked for by its name, which no other array
 * has. Tasks of other experiments on the same store are left alone: their records are taken in by whichever sweep comes
 * next. */
#include "sweep/slurm.h"

enum { ADOPT_SECONDS = 90 };

bool slurm_insist(struct slurm_engine *g, const char *name, uint64_t *number, struct error *e)
{
    double until = slurm_now() + ADOPT_SECONDS;
    for (bool answered = false;;) {
        if (!(name ? slurm_find_by_name(g, name, number, &answered, e) : slurm_look(g, &answered, e)))
            return false;
        if (answered)
            return true;
        if (slurm_now() > until || slurm_interrupted(g))
            break;
        slurm_pause(g);
    }
    error_set(e, ERROR_IO, "squeue gives no answer: it is not known which runs are in Slurm's queue already");
    error_note(e, "nothing more was submitted; try again when the cluster's controller answers (scontrol ping)");
    return false;
}

/* Its tasks in the queue are runs of this sweep that need not be submitted. */
static void attach(struct slurm_engine *g, uint32_t index)
{
    struct slurm_batch *b = &g->batches[index];
    for (uint32_t t = 0; t < b->task_count; t++) {
        struct slurm_task *task = &b->tasks[t];
        uint32_t job = slurm_job_of(g, task->key);
        if (job == SLURM_NO_JOB || !slurm_alive(task->state) || g->runs[job].where != RUN_UNSENT)
            continue;
        task->job = job;
        g->runs[job] = (struct slurm_run_state){.where = RUN_QUEUED, .batch = index, .task = t};
        g->unsent--;
    }
}

static bool read_batches(struct slurm_engine *g, struct error *e)
{
    uint32_t count;
    const char **folders = slurm_folders(g->sweep->spool, g->arena, &count);
    for (uint32_t i = 0; i < count; i++) {
        struct slurm_batch b;
        bool whole = slurm_batch_read(&b, folders[i], g->arena);
        if (whole && !b.number) {
            if (!slurm_insist(g, b.name, &b.number, e) || (b.number && !slurm_batch_set_number(&b, e)))
                return false;
        }
        if (whole && b.number)
            *slurm_add_batch(g) = b;
        else
            slurm_batch_remove(folders[i]);
    }
    return true;
}

bool slurm_adopt(struct slurm_engine *g, struct error *e)
{
    if (!read_batches(g, e) || (g->batch_count && !slurm_insist(g, NULL, NULL, e)))
        return false;
    uint32_t kept = 0;
    for (uint32_t b = 0; b < g->batch_count; b++) {
        if (slurm_alive_count(&g->batches[b]))
            g->batches[kept++] = g->batches[b];
        else
            slurm_batch_remove(g->batches[b].folder);
    }
    g->batch_count = kept;
    for (uint32_t b = 0; b < kept; b++)
        attach(g, b);
    return true;
}
