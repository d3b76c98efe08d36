/* The Slurm engine: jobs are submitted as arrays, their records are gathered out of the spool, and what Slurm lost is
 * submitted again.
 *
 * The tasks write into the spool and nowhere else; this process alone has the store open. It may go away at any moment:
 * the arrays go on, and the next sweep takes them up (slurm_adopt.c). With a throttle there is one array at a time, as
 * the limit is one array's. Runs that read other runs' files are sent when all of these are made, as arrays of their
 * own. */
#include "sweep/slurm.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    USUAL_ARRAY_LIMIT = 1000 /* of a cluster that does not say */,
    CONFIG_SECONDS = 30,
    SUBMIT_SECONDS = 120,
    PAUSE_MS = 700
};
static const double first_look_seconds = 1, longest_look_seconds = 10, look_growth = 1.3, submit_again_seconds = 10,
                    look_soon_seconds = 2, silence_seconds = 30;

bool slurm_interrupted(const struct slurm_engine *g)
{
    return g->sweep->options->interrupt && *g->sweep->options->interrupt;
}

/* How many runs are in the queue, waiting or running. */
static void count_queued(const struct slurm_engine *g, uint32_t *running, uint32_t *waiting)
{
    *running = *waiting = 0;
    for (uint32_t j = 0; j < g->sweep->job_count; j++) {
        const struct slurm_run_state *run = &g->runs[j];
        enum slurm_state state = run->where == RUN_QUEUED ? g->batches[run->batch].tasks[run->task].state : SLURM_GONE;
        *running += state == SLURM_RUNNING;
        *waiting += run->where == RUN_UNSENT || state == SLURM_PENDING;
    }
}

/* As the runs so far came in, so will the others: it is not known how many nodes there will be. */
static double seconds_left(const struct sweep_progress *p)
{
    uint32_t ended = p->done + p->failed;
    return ended ? p->seconds / ended * (p->to_run - ended) : NAN;
}

void slurm_tick(struct slurm_engine *g)
{
    struct sweep_progress *p = &g->sweep->progress;
    double now = slurm_now();
    uint32_t waiting;
    char label[160];
    if (now - g->last_tick < 0.5)
        return;
    g->last_tick = now;
    count_queued(g, &p->running, &waiting);
    int length = snprintf(label, sizeof label, "%u running, %u waiting", p->running, waiting);
    if (g->answered_at > 0 && now - g->answered_at > silence_seconds)
        snprintf(label + length, sizeof label - (size_t)length, " (no answer from squeue for %.0f s)",
                 now - g->answered_at);
    else if (waiting && g->waits_for[0])
        snprintf(label + length, sizeof label - (size_t)length, " (%s)", g->waits_for);
    p->seconds_left = seconds_left(p);
    p->label = label;
    sweep_tell(g->sweep, SWEEP_TICK);
    p->label = NULL;
}

void slurm_pause(struct slurm_engine *g)
{
    if (!slurm_interrupted(g))
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
    slurm_tick(g);
}

uint32_t slurm_job_of(const struct slurm_engine *g, const char *key)
{
    uintptr_t index = (uintptr_t)strmap_get(&g->keys, key, strlen(key));
    return index ? (uint32_t)(index - 1) : SLURM_NO_JOB;
}

void slurm_settled(struct slurm_engine *g, uint32_t job)
{
    g->unsent -= g->runs[job].where == RUN_UNSENT;
    g->settled += g->runs[job].where != RUN_SETTLED;
    g->runs[job].where = RUN_SETTLED;
}

/* Takes in the records that lie in the spool. Reading the folder, and not asking for each file, also makes a network
 * file system look again. */
static bool gather(struct slurm_engine *g, struct error *e)
{
    struct names list = names_in(g->sweep->spool, ".json");
    bool good = true;
    for (size_t i = 0; i < list.count && good; i++) {
        uint32_t job = slurm_job_of(g, list.names[i]);
        bool found = false;
        if (job == SLURM_NO_JOB || g->runs[job].where == RUN_SETTLED)
            continue;
        good = sweep_collect(g->sweep, &g->sweep->jobs[job], &found, e);
        if (found)
            slurm_settled(g, job);
    }
    names_free(&list);
    return good;
}

static const char *or_environment(const char *given, const char *variable)
{
    const char *value = given ? given : getenv(variable);
    return value && *value ? value : NULL;
}

static struct slurm_request make_request(const struct sweep *s, const char *folder, uint32_t tasks, struct arena *a)
{
    const struct sweep_options *o = s->options;
    return (struct slurm_request){
        .name = slurm_name(o->experiment, folder, a),
        .heddle = s->places->heddle,
        .folder = folder,
        .spool = s->spool,
        .tasks = tasks,
        .throttle = o->throttle,
        .partition = or_environment(o->partition, "HEDDLE_SLURM_PARTITION"),
        .account = or_environment(o->account, "HEDDLE_SLURM_ACCOUNT"),
        .time = or_environment(o->slurm_time, "HEDDLE_SLURM_TIME"),
        .memory = or_environment(o->slurm_memory, "HEDDLE_SLURM_MEMORY"),
    };
}

static bool reads_files(const struct slurm_engine *g, uint32_t job)
{
    return g->sweep->outcomes && g->sweep->outcomes[job].needs;
}

/* Some file that others read is still to be made. */
static bool files_are_made(const struct slurm_engine *g)
{
    for (uint32_t j = 0; j < g->sweep->job_count && g->sweep->jobs[j].input; j++) /* they come first */
        if (g->runs[j].where != RUN_SETTLED)
            return false;
    return true;
}

/* How many runs may be sent now. */
static uint32_t sendable(const struct slurm_engine *g)
{
    uint32_t count = 0;
    if (files_are_made(g))
        return g->unsent;
    for (uint32_t j = 0; j < g->sweep->job_count; j++)
        count += g->runs[j].where == RUN_UNSENT && !reads_files(g, j);
    return count;
}

/* Runs whose input could not be made. */
static bool give_up_lost(struct slurm_engine *g, struct error *e)
{
    for (uint32_t j = 0; j < g->sweep->job_count; j++) {
        if (!reads_files(g, j) || g->runs[j].where != RUN_UNSENT || sweep_ready(g->sweep, j) != SWEEP_LOST)
            continue;
        slurm_settled(g, j);
        if (!sweep_give_up(g->sweep, j, e))
            return false;
    }
    return true;
}

/* The first unsent jobs, the longest ones, as a batch that is not written yet. */
static struct slurm_batch next_batch(struct slurm_engine *g)
{
    struct slurm_batch b = {.folder = slurm_next_folder(g->sweep->spool, g->arena)};
    bool made = files_are_made(g);
    uint32_t ready = sendable(g), most = ready < g->array_limit ? ready : g->array_limit;
    b.tasks = arena_array(g->arena, struct slurm_task, most);
    for (uint32_t j = 0; j < g->sweep->job_count && b.task_count < most; j++)
        if (g->runs[j].where == RUN_UNSENT && (made || !reads_files(g, j)))
            b.tasks[b.task_count++] =
                (struct slurm_task){.key = g->sweep->jobs[j].key, .job = j, .state = SLURM_PENDING, .word = "PENDING"};
    return b;
}

static void take_batch(struct slurm_engine *g, const struct slurm_batch *b)
{
    for (uint32_t t = 0; t < b->task_count; t++) {
        struct slurm_run_state *run = &g->runs[b->tasks[t].job];
        *run = (struct slurm_run_state){.where = RUN_QUEUED, .batch = g->batch_count, .task = t, .lost = run->lost};
    }
    g->unsent -= b->task_count;
    *slurm_add_batch(g) = *b;
    g->look_interval = first_look_seconds;
    g->next_look = slurm_now() + g->look_interval;
}

/* sbatch writes the number into the batch's folder itself. */
static bool run_sbatch(struct slurm_engine *g, struct slurm_batch *b, const struct slurm_request *r,
                       struct slurm_answer *a, struct error *e)
{
    enum { MOST_WORDS = 24 };
    const char *words[MOST_WORDS] = {"sbatch", "--parsable"}, *path = arena_printf(g->arena, "%s/number", b->folder);
    int n = 2;
    for (const char **option = slurm_options(r, g->arena); *option; option++)
        words[n++] = *option;
    words[n] = arena_printf(g->arena, "%s/script.sh", b->folder);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return error_set(e, ERROR_IO, "cannot write %s: %s", path, strerror(errno));
    bool good = slurm_ask_words(g, words, fd, SUBMIT_SECONDS, a, e);
    char text[64] = "";
    ssize_t length = good ? pread(fd, text, sizeof text - 1, 0) : 0;
    b->number = length > 0 ? slurm_job_number(text) : 0;
    fsync(fd);
    close(fd);
    return good;
}

static bool any_queued(const struct slurm_engine *g) { return g->settled + g->unsent < g->sweep->job_count; }

/* sbatch failed. It may have got through all the same (an answer that came too late). While other arrays are in the
 * queue it may be a limit that passes: later. */
static bool refused(struct slurm_engine *g, struct slurm_batch *b, const struct slurm_answer *a, struct error *e)
{
    if (!slurm_insist(g, b->name, &b->number, e))
        return false;
    if (b->number)
        return slurm_batch_set_number(b, e);
    slurm_batch_remove(b->folder);
    if (any_queued(g)) {
        g->next_submit = slurm_now() + submit_again_seconds;
        return true;
    }
    if (a->timed_out)
        return error_set(e, ERROR_IO, "sbatch gave no answer for %d s; is the cluster's controller up (scontrol ping)?",
                         SUBMIT_SECONDS);
    size_t length = strlen(a->err);
    while (length && a->err[length - 1] == '\n')
        length--;
    return error_set(e, ERROR_INVALID, "Slurm did not take the job array of %u runs:\n%.*s", b->task_count, (int)length,
                     a->err);
}

static bool submit_one(struct slurm_engine *g, struct error *e)
{
    struct slurm_answer a;
    struct slurm_batch b = next_batch(g);
    struct slurm_request r = make_request(g->sweep, b.folder, b.task_count, g->arena);
    b.name = r.name;
    if (!slurm_batch_write(&b, slurm_script(&r, g->arena), g->sweep->jobs, e) || !run_sbatch(g, &b, &r, &a, e))
        return false;
    bool good = (a.status == 0 && b.number) || refused(g, &b, &a, e);
    slurm_answer_free(&a);
    if (good && b.number)
        take_batch(g, &b);
    return good;
}

static bool submit(struct slurm_engine *g, struct error *e)
{
    if (!give_up_lost(g, e))
        return false;
    while (sendable(g) && slurm_now() >= g->next_submit && !slurm_interrupted(g)) {
        if (g->sweep->options->throttle && any_queued(g))
            return true;
        if (!submit_one(g, e))
            return false;
    }
    return true;
}

static bool look(struct slurm_engine *g, struct error *e)
{
    bool answered;
    if (slurm_now() < g->next_look)
        return true;
    g->look_soon = false;
    if (!slurm_look(g, &answered, e) || !gather(g, e) || (answered && !slurm_settle_lost(g, e)))
        return false;
    g->look_interval = fmin(g->look_interval * look_growth, longest_look_seconds);
    g->next_look = slurm_now() + (g->look_soon ? look_soon_seconds : g->look_interval);
    return true;
}

/* What goes on without us, and how to come back or to end it: the last lines of whatever ended the sweep before its
 * time. */
static void note_what_goes_on(struct slurm_engine *g, struct error *e)
{
    const char *numbers = "";
    for (uint32_t b = 0; b < g->batch_count; b++)
        if (slurm_alive_count(&g->batches[b]))
            numbers = arena_printf(g->arena, "%s %llu", numbers, (unsigned long long)g->batches[b].number);
    if (!*numbers)
        return;
    error_note(e, "%u runs are in Slurm's queue and go on there (job%s)", g->sweep->job_count - g->settled - g->unsent,
               numbers);
    error_note(e, "the same command again gathers their results; to cancel them: scancel%s", numbers);
}

static bool work(struct slurm_engine *g, struct error *e)
{
    while (gather(g, e) && g->settled < g->sweep->job_count) {
        if (slurm_interrupted(g)) {
            g->sweep->result->interrupted = true;
            return error_set(e, ERROR_INTERRUPTED, "interrupted");
        }
        if (!submit(g, e) || !look(g, e))
            return false;
        slurm_pause(g);
    }
    return g->settled == g->sweep->job_count;
}

/* Batches that are wholly done. Those with other experiments' runs stay for their sweeps. */
static void clear_away(const struct slurm_engine *g)
{
    for (uint32_t b = 0; b < g->batch_count; b++) {
        const struct slurm_batch *batch = &g->batches[b];
        bool done = true;
        for (uint32_t t = 0; t < batch->task_count && done; t++)
            done = batch->tasks[t].job != SLURM_NO_JOB || !slurm_alive(batch->tasks[t].state);
        if (done)
            slurm_batch_remove(batch->folder);
    }
}

static bool find_array_limit(struct slurm_engine *g, struct error *e)
{
    struct slurm_answer a;
    g->array_limit = USUAL_ARRAY_LIMIT;
    if (!slurm_in_path("scontrol"))
        return true;
    if (!slurm_ask_words(g, (const char *const[]){"scontrol", "show", "config", NULL}, -1, CONFIG_SECONDS, &a, e))
        return false;
    uint32_t most = a.status == 0 ? slurm_array_limit(a.out) : 0;
    g->array_limit = most ? most : USUAL_ARRAY_LIMIT;
    slurm_answer_free(&a);
    return true;
}

static bool dry_run(struct slurm_engine *g, struct error *e)
{
    const struct sweep *s = g->sweep;
    if (!find_array_limit(g, e))
        return false;
    FILE *out = s->options->out;
    uint32_t now = sendable(g), first = now < g->array_limit ? now : g->array_limit;
    struct slurm_request r = make_request(s, slurm_next_folder(s->spool, g->arena), first, g->arena);
    if (s->job_count)
        fputs(slurm_script(&r, g->arena), out);
    fprintf(out, "# %u tasks", s->job_count);
    if (now > first)
        fprintf(out, ", in %u arrays of up to %u; this is the first one's script", (now + first - 1) / first, first);
    if (s->job_count > now)
        fprintf(out, "%s %u of them follow when the files that they read are made", now > first ? ";" : ",",
                s->job_count - now);
    fprintf(out, ". Nothing was submitted.\n");
    return true;
}

bool slurm_run(struct sweep *s, struct error *e)
{
    struct arena arena = {0};
    struct slurm_engine g = {.sweep = s, .arena = &arena, .unsent = s->job_count, .look_interval = first_look_seconds};
    g.runs = arena_array(&arena, struct slurm_run_state, s->job_count + 1);
    for (uint32_t j = 0; j < s->job_count; j++)
        strmap_put(&g.keys, s->jobs[j].key, KEY_BYTES - 1, (void *)(uintptr_t)(j + 1));
    const struct slurm_request asked = make_request(s, s->spool, 1, &arena);
    bool good = slurm_check(&asked, e);
    if (!good || s->options->dry_run)
        good = good && dry_run(&g, e);
    else if (!slurm_in_path("sbatch"))
        good = error_set(e, ERROR_NOT_FOUND,
                         "sbatch is not in PATH: --engine slurm needs Slurm's commands on the machine that submits "
                         "(Debian: package slurm-client)");
    else
        good = find_array_limit(&g, e) && slurm_adopt(&g, e) && work(&g, e);
    if (good && !s->options->dry_run)
        clear_away(&g);
    if (!good)
        note_what_goes_on(&g, e);
    s->progress.running = 0;
    s->progress.seconds_left = NAN;
    strmap_free(&g.keys);
    arena_free(&arena);
    return good;
}
