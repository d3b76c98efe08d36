/* What becomes of the batches: the states of their tasks out of squeue, and what to do about those that ended without a
 * record.
 *
 * squeue shows tasks that have ended, too, for as long as the controller remembers them (MinJobAge, minutes). Of later
 * ones only the accounting data base knows, where there is one. Neither is needed for the results, which come through
 * the spool; they say which runs will never come. */
#include "sweep/slurm.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_LOSSES = 3 /* then a run is given up */, ASK_SECONDS = 30, WORDS_A_CALL = 100 };

/* How long after its end a record may still turn up: renamed on the node that ran it, a network file system shows it
 * here some time later. A run that was ended has most likely none. */
static const double completed_grace_seconds = 45, ended_grace_seconds = 3;

static void idle(void *context) { slurm_tick(context); }

bool slurm_ask_words(struct slurm_engine *g, const char *const *words, int output, double limit_seconds,
                     struct slurm_answer *a, struct error *e)
{
    return slurm_ask(
        &(struct slurm_command){
            .words = words, .output = output, .limit_seconds = limit_seconds, .idle = idle, .context = g},
        a, e);
}

struct slurm_batch *slurm_add_batch(struct slurm_engine *g)
{
    if (g->batch_count == g->batch_capacity) {
        struct slurm_batch *old = g->batches;
        g->batch_capacity = 2 * g->batch_capacity + 8;
        g->batches = arena_array(g->arena, struct slurm_batch, g->batch_capacity);
        if (g->batch_count)
            memcpy(g->batches, old, g->batch_count * sizeof *old);
    }
    return &g->batches[g->batch_count++];
}

uint32_t slurm_alive_count(const struct slurm_batch *b)
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < b->task_count; t++)
        count += slurm_alive(b->tasks[t].state);
    return count;
}

/* "17,18": the arrays that are asked for. NULL: none. */
static const char *numbers(struct slurm_engine *g, struct arena *a)
{
    const char *list = NULL;
    for (uint32_t b = 0; b < g->batch_count; b++)
        if (g->batches[b].number)
            list = arena_printf(a, "%s%s%llu", list ? list : "", list ? "," : "",
                                (unsigned long long)g->batches[b].number);
    return list;
}

static struct slurm_task *find_task(struct slurm_engine *g, const struct slurm_line *line, bool by_name)
{
    for (uint32_t b = 0; b < g->batch_count; b++) {
        struct slurm_batch *batch = &g->batches[b];
        if (batch->number != line->array || (by_name && strcmp(batch->name, line->name)))
            continue; /* a name that is not ours: the cluster has begun to count again */
        return line->task <= batch->task_count ? &batch->tasks[line->task - 1] : NULL;
    }
    return NULL;
}

static void take_states(struct slurm_engine *g, const char *text)
{
    struct slurm_line line;
    size_t length;
    for (uint32_t b = 0; b < g->batch_count; b++)
        for (uint32_t t = 0; t < g->batches[b].task_count; t++)
            g->batches[b].tasks[t] =
                (struct slurm_task){.key = g->batches[b].tasks[t].key, .job = g->batches[b].tasks[t].job};
    g->waits_for[0] = '\0';
    g->answered_at = slurm_now();
    for (const char *at; (at = slurm_next_line(&text, &length));) {
        struct slurm_task *task = slurm_queue_line(at, length, &line) ? find_task(g, &line, true) : NULL;
        if (!task)
            continue;
        if (line.state == SLURM_PENDING && !g->waits_for[0])
            memcpy(g->waits_for, line.reason, sizeof g->waits_for);
        task->state = line.state;
        memcpy(task->word, line.word, sizeof task->word);
    }
}

/* squeue does not know any of the jobs: an answer, too. */
static bool is_answer(const struct slurm_answer *a)
{
    return !a->timed_out && (a->status == 0 || strstr(a->err, "Invalid job id"));
}

bool slurm_look(struct slurm_engine *g, bool *answered, struct error *e)
{
    struct arena scratch = {0};
    struct slurm_answer a;
    const char *list = numbers(g, &scratch);
    *answered = true;
    if (!list) {
        arena_free(&scratch);
        return true;
    }
    const char *words[] = {"squeue", "-h", "-r", "-t", "all", "-j", list, "-o", SLURM_QUEUE_FORMAT, NULL};
    bool good = slurm_ask_words(g, words, -1, ASK_SECONDS, &a, e);
    if (good) {
        *answered = is_answer(&a);
        if (*answered)
            take_states(g, a.status == 0 ? a.out : "");
        slurm_answer_free(&a);
    }
    arena_free(&scratch);
    return good;
}

bool slurm_find_by_name(struct slurm_engine *g, const char *name, uint64_t *number, bool *answered, struct error *e)
{
    struct slurm_answer a;
    const char *words[] = {"squeue", "-h", "-t", "all", "-n", name, "-o", "%F", NULL};
    *number = 0;
    if (!slurm_ask_words(g, words, -1, ASK_SECONDS, &a, e))
        return false;
    *answered = is_answer(&a);
    if (*answered)
        *number = slurm_job_number(a.out);
    slurm_answer_free(&a);
    return true;
}

/* Fills in from the accounting data base how tasks ended that the controller has forgotten. Where there is none, sacct
 * says so, and nothing is filled in. */
static bool ask_accounting(struct slurm_engine *g, struct error *e)
{
    struct arena scratch = {0};
    struct slurm_answer a;
    struct slurm_line line;
    size_t length;
    const char *words[] = {"sacct", "-n", "-X", "-P", "-j", numbers(g, &scratch), "-o", "JobID,State", NULL};
    bool good = !slurm_in_path("sacct") || slurm_ask_words(g, words, -1, ASK_SECONDS, &a, e);
    if (good && slurm_in_path("sacct")) {
        const char *text = a.status == 0 ? a.out : "";
        for (const char *at; (at = slurm_next_line(&text, &length));) {
            struct slurm_task *task = slurm_accounting_line(at, length, &line) ? find_task(g, &line, false) : NULL;
            if (task && task->state == SLURM_GONE && !slurm_alive(line.state))
                memcpy(task->word, line.word, sizeof task->word);
        }
        slurm_answer_free(&a);
    }
    arena_free(&scratch);
    return good;
}

/* Takes tasks out of the queue. That it may fail (one of them has just ended) does not matter: they are looked at
 * again. */
static bool cancel(struct slurm_engine *g, bool (*which)(const struct slurm_engine *, const struct slurm_task *),
                   struct error *e)
{
    struct arena scratch = {0};
    const char *words[WORDS_A_CALL + 2] = {"scancel"};
    int n = 1;
    for (uint32_t b = 0; b < g->batch_count; b++)
        for (uint32_t t = 0; t < g->batches[b].task_count && n <= WORDS_A_CALL; t++)
            if (which(g, &g->batches[b].tasks[t]))
                words[n++] = arena_printf(&scratch, "%llu_%u", (unsigned long long)g->batches[b].number, t + 1);
    struct slurm_answer a;
    bool good = n == 1 || slurm_ask_words(g, words, -1, ASK_SECONDS, &a, e);
    if (n > 1 && good)
        slurm_answer_free(&a);
    arena_free(&scratch);
    return good;
}

static bool is_stuck(const struct slurm_engine *g, const struct slurm_task *t)
{
    (void)g;
    return t->state == SLURM_STUCK && t->job != SLURM_NO_JOB;
}

/* Slurm puts a task back into the queue whose node died after the record was written. */
static bool is_needless(const struct slurm_engine *g, const struct slurm_task *t)
{
    return t->state == SLURM_PENDING && t->job != SLURM_NO_JOB && g->runs[t->job].where == RUN_SETTLED;
}

/* A record that says so, taken in like any other; what the task printed becomes the run's log. */
static bool give_up(struct slurm_engine *g, uint32_t job, const struct slurm_batch *b, uint32_t task, struct error *e)
{
    const struct job *j = &g->sweep->jobs[job];
    const char *how = b->tasks[task].word[0] ? b->tasks[task].word : "no longer known to Slurm";
    const char *why =
        arena_printf(g->arena, "Slurm ended it %u times without a record, last: %s", g->runs[job].lost, how);
    const char *from = slurm_task_log(b, task, g->arena);
    struct stat printed;
    bool found;
    if (stat(from, &printed) == 0 && printed.st_size > 0)
        rename(from, arena_printf(g->arena, "%s/%s.log", g->sweep->spool, j->key)); /* no loss where it fails */
    slurm_settled(g, job);
    return job_record_failure(j, g->sweep->spool, why, 1, e) && sweep_collect(g->sweep, j, &found, e);
}

/* One run that has ended, for all that Slurm says. */
static bool settle_ended(struct slurm_engine *g, uint32_t job, struct error *e)
{
    struct slurm_run_state *run = &g->runs[job];
    const struct slurm_batch *b = &g->batches[run->batch];
    bool found;
    if (!sweep_collect(g->sweep, &g->sweep->jobs[job], &found, e))
        return false;
    if (found) {
        slurm_settled(g, job);
    } else if (++run->lost > MOST_LOSSES) {
        return give_up(g, job, b, run->task, e);
    } else {
        run->where = RUN_UNSENT;
        run->ended_since = 0;
        g->unsent++;
    }
    return true;
}

static double grace_seconds(enum slurm_state state)
{
    return state == SLURM_STUCK ? 0 : state == SLURM_ENDED ? ended_grace_seconds : completed_grace_seconds;
}

bool slurm_settle_lost(struct slurm_engine *g, struct error *e)
{
    double now = slurm_now();
    bool asked = false;
    if (!cancel(g, is_stuck, e) || !cancel(g, is_needless, e))
        return false;
    for (uint32_t j = 0; j < g->sweep->job_count; j++) {
        struct slurm_run_state *run = &g->runs[j];
        const struct slurm_task *task = run->where == RUN_QUEUED ? &g->batches[run->batch].tasks[run->task] : NULL;
        if (!task)
            continue;
        if (task->state == SLURM_PENDING || task->state == SLURM_RUNNING) {
            run->ended_since = 0;
            continue;
        }
        if (run->ended_since == 0)
            run->ended_since = now;
        if (now - run->ended_since < grace_seconds(task->state)) {
            g->look_soon = true;
            continue;
        }
        if (task->state == SLURM_GONE && !asked && !ask_accounting(g, e))
            return false;
        asked = asked || task->state == SLURM_GONE;
        if (!settle_ended(g, j, e))
            return false;
    }
    return true;
}
