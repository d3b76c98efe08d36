/* The Slurm engine without Slurm: the script and the manifest, what is read out of Slurm's answers, and, with programs
 * of Slurm's names that answer from a file, which runs are taken up from an earlier sweep, which are sent again, and
 * which are given up. tests/lab/slurm.sh has the real daemons. */
#include "base/shell_quote.h"
#include "sweep/slurm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { JOBS = 4 };

struct world {
    char folder[64], spool[96];
    char *path; /* PATH before */
    struct arena arena;
    struct job jobs[JOBS];
    const char *words[3], *none[1];
    struct sweep_options options;
    struct sweep_result result;
    struct places places;
    struct sweep sweep;
    struct slurm_engine engine;
    uint32_t failures;
    char failure[200];
};

static void listen(void *context, enum sweep_event event, const struct sweep_progress *p)
{
    struct world *w = context;
    if (event != SWEEP_FAILED)
        return;
    w->failures++;
    snprintf(w->failure, sizeof w->failure, "%s: %s", p->label, p->failure);
}

static void write_text(const char *folder, const char *name, const char *text, mode_t mode)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    chmod(path, mode);
}

static bool exists(const char *folder, const char *name)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

/* squeue answers from a file, and scancel and sbatch write down what they were asked. */
static void make_programs(struct world *w)
{
    char bin[100], text[400], path[4096];
    snprintf(bin, sizeof bin, "%s/bin", w->folder);
    mkdir(bin, 0700);
    snprintf(text, sizeof text,
             "#!/bin/sh\ncase \" $* \" in *' -n '*) cat '%s/by-name'; exit 0 ;; esac\ncat '%s/queue'\n[ ! -s "
             "'%s/refusal' ] || { cat '%s/refusal' >&2; exit 1; }\n",
             w->folder, w->folder, w->folder, w->folder);
    write_text(bin, "squeue", text, 0700);
    snprintf(text, sizeof text, "#!/bin/sh\necho \"$*\" >>'%s/cancelled'\n", w->folder);
    write_text(bin, "scancel", text, 0700);
    write_text(bin, "sacct", "#!/bin/sh\necho 'Slurm accounting storage is disabled' >&2\nexit 1\n", 0700);
    snprintf(path, sizeof path, "%s:%.3900s", bin, w->path);
    setenv("PATH", path, 1);
    write_text(w->folder, "queue", "", 0600);
    write_text(w->folder, "by-name", "", 0600);
}

static void make_engine(struct world *w)
{
    arena_free(&w->arena);
    strmap_free(&w->engine.keys);
    w->engine = (struct slurm_engine){.sweep = &w->sweep, .arena = &w->arena, .unsent = JOBS, .array_limit = 1000};
    w->engine.runs = arena_array(&w->arena, struct slurm_run_state, JOBS);
    for (uint32_t j = 0; j < JOBS; j++)
        strmap_put(&w->engine.keys, w->jobs[j].key, KEY_BYTES - 1, (void *)(uintptr_t)(j + 1));
}

static int set_up(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    strcpy(w->folder, "/tmp/heddle-slurm-XXXXXX");
    assert_non_null(mkdtemp(w->folder));
    snprintf(w->spool, sizeof w->spool, "%s/a 'spool'", w->folder);
    assert_int_equal(mkdir(w->spool, 0700), 0);
    w->path = strdup(getenv("PATH"));
    w->words[0] = "bfs";
    w->words[1] = "a \"b\"\n";
    for (int j = 0; j < JOBS; j++) {
        w->jobs[j] = (struct job){.program = "bfs",
                                  .path = "/bin/bfs",
                                  .words = w->words,
                                  .machine = "gtx480",
                                  .scheduler = "gto",
                                  .l1 = "",
                                  .divergence = "",
                                  .sets = w->none,
                                  .label = "bfs gto"};
        snprintf(w->jobs[j].key, KEY_BYTES, "%032x", j + 1);
    }
    w->options = (struct sweep_options){
        .experiment = "experiments/quick.ini", .listener = listen, .context = w, .engine = ENGINE_SLURM};
    w->sweep = (struct sweep){.options = &w->options,
                              .places = &w->places,
                              .spool = w->spool,
                              .jobs = w->jobs,
                              .job_count = JOBS,
                              .result = &w->result};
    make_programs(w);
    make_engine(w);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    char command[100];
    setenv("PATH", w->path, 1);
    snprintf(command, sizeof command, "rm -rf '%s'", w->folder);
    assert_int_equal(system(command), 0);
    strmap_free(&w->engine.keys);
    arena_free(&w->arena);
    free(w->path);
    free(w);
    return 0;
}

/* A batch of all jobs, as a sweep that was killed leaves it. */
static struct slurm_batch leave_batch(struct world *w, uint64_t number)
{
    struct error e = {0};
    struct slurm_batch b = {.folder = slurm_next_folder(w->spool, &w->arena),
                            .name = "heddle-quick-0123456789abcdef",
                            .number = number,
                            .task_count = JOBS};
    b.tasks = arena_array(&w->arena, struct slurm_task, JOBS);
    for (uint32_t t = 0; t < JOBS; t++)
        b.tasks[t] = (struct slurm_task){.key = w->jobs[t].key, .job = t};
    assert_true(slurm_batch_write(&b, "#!/bin/sh\n", w->jobs, &e));
    if (number)
        assert_true(slurm_batch_set_number(&b, &e));
    return b;
}

/* ------------------------------------------------------------- what Slurm is given */

static void words_are_quoted_for_a_shell(void **state)
{
    struct world *w = *state;
    assert_string_equal(shell_quote("/usr/bin/heddle", &w->arena), "/usr/bin/heddle");
    assert_string_equal(shell_quote("", &w->arena), "''");
    assert_string_equal(shell_quote("a b", &w->arena), "'a b'");
    assert_string_equal(shell_quote("a'$b", &w->arena), "'a'\\''$b'");
}

static void script_says_all_that_was_asked_for(void **state)
{
    struct world *w = *state;
    struct slurm_request r = {.name = "heddle-quick-01",
                              .heddle = "/opt/my heddle/bin/heddle",
                              .folder = "/s/100%/slurm-1",
                              .spool = "/s/100%",
                              .tasks = 24,
                              .throttle = 6,
                              .partition = "short",
                              .account = "physics",
                              .time = "10:00",
                              .memory = "2G"};
    assert_string_equal(
        slurm_script(&r, &w->arena),
        "#!/bin/sh\n# One run of an experiment a task; written by heddle sweep.\n"
        "#SBATCH --job-name=heddle-quick-01\n#SBATCH --array=1-24%6\n#SBATCH --requeue\n#SBATCH --ntasks=1\n#SBATCH "
        "--export=ALL\n"
        "#SBATCH --output=/s/100%%/slurm-1/log/%a.txt\n#SBATCH --open-mode=append\n"
        "#SBATCH --partition=short\n#SBATCH --account=physics\n#SBATCH --time=10:00\n#SBATCH --mem=2G\n"
        "exec '/opt/my heddle/bin/heddle' task /s/100%/slurm-1/manifest \"$SLURM_ARRAY_TASK_ID\" /s/100%\n");
    r.throttle = 0;
    r.partition = r.account = r.time = r.memory = NULL;
    const char *plain = slurm_script(&r, &w->arena);
    assert_non_null(strstr(plain, "--array=1-24\n"));
    assert_null(strstr(plain, "--partition"));
    assert_null(strstr(plain, "--mem"));
}

/* What a shell makes of the script: the program is called with the words that were meant. */
static void script_runs_in_a_shell(void **state)
{
    struct world *w = *state;
    char heddle[200], command[600], line[600] = "", expected[600];
    snprintf(heddle, sizeof heddle, "%s/it's heddle", w->folder);
    write_text(w->folder, "it's heddle", "#!/bin/sh\nprintf '%s|' \"$@\"\n", 0700);
    struct slurm_request r = {.name = "heddle-x-1",
                              .heddle = heddle,
                              .folder = arena_printf(&w->arena, "%s/slurm-1", w->spool),
                              .spool = w->spool,
                              .tasks = 3};
    write_text(w->folder, "script", slurm_script(&r, &w->arena), 0600);
    snprintf(command, sizeof command, "SLURM_ARRAY_TASK_ID=2 sh %s/script", w->folder);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    assert_int_equal(pclose(f), 0);
    snprintf(expected, sizeof expected, "task|%s/slurm-1/manifest|2|%s|", w->spool, w->spool);
    assert_string_equal(line, expected);
}

static void names_differ_and_have_no_blanks(void **state)
{
    struct world *w = *state;
    const char *a = slurm_name("some where/my exp.ini", "/s/slurm-1", &w->arena),
               *b = slurm_name("some where/my exp.ini", "/s/slurm-2", &w->arena);
    assert_int_equal(strncmp(a, "heddle-my_exp-", 14), 0);
    assert_string_not_equal(a, b);
    assert_null(strchr(a, ' '));
}

static void manifest_is_read_back(void **state)
{
    struct world *w = *state;
    struct slurm_batch b = leave_batch(w, 17), back;
    assert_true(slurm_batch_read(&back, b.folder, &w->arena));
    assert_int_equal(back.number, 17);
    assert_int_equal(back.task_count, JOBS);
    assert_string_equal(back.name, b.name);
    for (int t = 0; t < JOBS; t++)
        assert_string_equal(back.tasks[t].key, w->jobs[t].key);
    char *manifest = arena_printf(&w->arena, "%s/manifest", b.folder);
    json_t *line = json_load_file(manifest, JSON_DISABLE_EOF_CHECK, NULL);
    assert_string_equal(json_string_value(json_object_get(line, "key")), w->jobs[0].key);
    json_decref(line);
    assert_int_equal(truncate(manifest, 40), 0); /* a disk that was full, a power cut */
    assert_false(slurm_batch_read(&back, b.folder, &w->arena));
    slurm_batch_remove(b.folder);
    assert_false(exists(w->spool, "slurm-1"));
}

static void folders_are_counted_on(void **state)
{
    struct world *w = *state;
    static const char *const names[] = {"slurm-2", "slurm-10", "slurm-x", "slurm-", "other"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        mkdir(arena_printf(&w->arena, "%s/%s", w->spool, names[i]), 0700);
    uint32_t count;
    const char **folders = slurm_folders(w->spool, &w->arena, &count);
    assert_int_equal(count, 2);
    assert_string_equal(strrchr(folders[0], '/'), "/slurm-2");
    assert_string_equal(strrchr(slurm_next_folder(w->spool, &w->arena), '/'), "/slurm-11");
    assert_string_equal(slurm_next_folder("/no/such/folder", &w->arena), "/no/such/folder/slurm-1");
}

/* ------------------------------------------------------------- what Slurm answers */

static void lines_of_the_queue(void **state)
{
    (void)state;
    struct slurm_line l;
    static const struct {
        const char *line;
        bool task;
        uint64_t array;
        uint32_t number;
        enum slurm_state state;
    } cases[] = {
        {"17_3 RUNNING heddle-q-1 None", true, 17, 3, SLURM_RUNNING},
        {"17_12 PENDING heddle-q-1 JobArrayTaskLimit", true, 17, 12, SLURM_PENDING},
        {"17_1 PENDING heddle-q-1 launch failed requeued held", true, 17, 1, SLURM_STUCK},
        {"17_1 NODE_FAIL heddle-q-1 None", true, 17, 1, SLURM_ENDED},
        {"17_1 COMPLETED heddle-q-1 None", true, 17, 1, SLURM_COMPLETED},
        {"17_1 COMPLETING heddle-q-1 NonZeroExitCode", true, 17, 1, SLURM_RUNNING},
        {"17_1 OUT_OF_MEMORY heddle-q-1 OutOfMemory", true, 17, 1, SLURM_ENDED},
        {"17_1 REQUEUED heddle-q-1 None", true, 17, 1, SLURM_RUNNING},
        {"17_[4-9] PENDING heddle-q-1 Resources", false, 0, 0, SLURM_GONE},
        {"17 RUNNING other None", false, 0, 0, SLURM_GONE},
        {"slurm_load_jobs error: Socket timed out", false, 0, 0, SLURM_GONE},
        {"17_3", false, 0, 0, SLURM_GONE},
        {"17_0 RUNNING x None", false, 0, 0, SLURM_GONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(slurm_queue_line(cases[i].line, strlen(cases[i].line), &l), cases[i].task);
        if (!cases[i].task)
            continue;
        assert_int_equal(l.array, cases[i].array);
        assert_int_equal(l.task, cases[i].number);
        assert_int_equal(l.state, cases[i].state);
        assert_string_equal(l.name, "heddle-q-1");
    }
}

static void lines_of_the_accounting(void **state)
{
    (void)state;
    struct slurm_line l;
    assert_true(slurm_accounting_line("17_3|CANCELLED by 0", 19, &l));
    assert_string_equal(l.word, "CANCELLED");
    assert_int_equal(l.state, SLURM_ENDED);
    assert_true(slurm_accounting_line("17_3|TIMEOUT", 12, &l));
    assert_string_equal(l.word, "TIMEOUT");
    assert_false(slurm_accounting_line("17_[4-8]|PENDING", 16, &l));
}

static void numbers_and_limits(void **state)
{
    (void)state;
    assert_int_equal(slurm_job_number("17\n"), 17);
    assert_int_equal(slurm_job_number("17;north\n"), 17);
    assert_int_equal(slurm_job_number(""), 0);
    assert_int_equal(slurm_job_number("sbatch: error\n"), 0);
    assert_int_equal(slurm_job_number("17 apples"), 0);
    assert_int_equal(slurm_array_limit("MailProg = x\nMaxArraySize            = 1001\nMaxJobCount = 5\n"), 1000);
    assert_int_equal(slurm_array_limit("MaxJobCount = 5\n"), 0);
    assert_int_equal(slurm_array_limit("MaxArraySize = 0\n"), 0);
}

/* ------------------------------------------------------------- Slurm's programs */

static void a_program_that_hangs_is_ended(void **state)
{
    (void)state;
    struct slurm_answer a;
    struct error e = {0};
    double start = slurm_now();
    assert_true(
        slurm_ask(&(struct slurm_command){.words = (const char *const[]){"sh", "-c", "echo begun; sleep 60", NULL},
                                          .output = -1,
                                          .limit_seconds = 0.5},
                  &a, &e));
    assert_true(a.timed_out);
    assert_string_equal(a.out, "begun\n");
    assert_true(slurm_now() - start < 20);
    slurm_answer_free(&a);
}

static void both_streams_are_kept(void **state)
{
    (void)state;
    struct slurm_answer a;
    struct error e = {0};
    const char *words[] = {"sh", "-c",
                           "i=0; while [ $i -lt 20000 ]; do echo $i; i=$((i + 1)); done; echo bad >&2; exit 3", NULL};
    assert_true(slurm_ask(&(struct slurm_command){.words = words, .output = -1, .limit_seconds = 60}, &a, &e));
    assert_false(a.timed_out);
    assert_int_equal(a.status, 3);
    assert_string_equal(a.err, "bad\n");
    assert_non_null(strstr(a.out, "\n19999\n"));
    slurm_answer_free(&a);
}

static void settings_of_the_user_are_not_seen(void **state)
{
    (void)state;
    struct slurm_answer a;
    struct error e = {0};
    setenv("SQUEUE_USERS", "nobody", 1);
    setenv("SQUEUE_PARTITION", "other", 1);
    assert_true(slurm_ask(
        &(struct slurm_command){
            .words = (const char *const[]){"sh", "-c", "echo \"[$SQUEUE_USERS$SQUEUE_PARTITION]\"", NULL},
            .output = -1,
            .limit_seconds = 60},
        &a, &e));
    assert_string_equal(a.out, "[]\n");
    slurm_answer_free(&a);
    unsetenv("SQUEUE_USERS");
    unsetenv("SQUEUE_PARTITION");
}

/* ------------------------------------------------------------- what becomes of the batches */

static void what_is_queued_is_taken_up(void **state)
{
    struct world *w = *state;
    struct error e = {0};
    leave_batch(w, 17);
    write_text(w->folder, "queue",
               "17_1 RUNNING heddle-quick-0123456789abcdef None\n17_2 COMPLETED heddle-quick-0123456789abcdef "
               "None\n17_4 PENDING heddle-quick-0123456789abcdef Resources\n",
               0600);
    assert_true(slurm_adopt(&w->engine, &e));
    assert_int_equal(w->engine.batch_count, 1);
    assert_int_equal(w->engine.unsent, 2);
    assert_int_equal(w->engine.runs[0].where, RUN_QUEUED);
    assert_int_equal(w->engine.runs[1].where, RUN_UNSENT);
    assert_int_equal(w->engine.runs[2].where, RUN_UNSENT);
    assert_int_equal(w->engine.runs[3].where, RUN_QUEUED);
}

static void a_batch_that_has_ended_is_cleared_away(void **state)
{
    struct world *w = *state;
    struct error e = {0};
    leave_batch(w, 17);
    write_text(w->folder, "refusal", "slurm_load_jobs error: Invalid job id specified\n", 0600);
    assert_true(slurm_adopt(&w->engine, &e));
    assert_int_equal(w->engine.batch_count, 0);
    assert_int_equal(w->engine.unsent, JOBS);
    assert_false(exists(w->spool, "slurm-1"));
}

static void another_job_of_the_same_number_is_not_ours(void **state)
{
    struct world *w = *state;
    struct error e = {0};
    leave_batch(w, 17);
    write_text(w->folder, "queue", "17_1 RUNNING somebody-else None\n", 0600);
    assert_true(slurm_adopt(&w->engine, &e));
    assert_int_equal(w->engine.batch_count, 0);
}

static void an_array_without_a_number_is_found_by_name(void **state)
{
    struct world *w = *state;
    struct error e = {0};
    struct slurm_batch back;
    leave_batch(w, 0);
    write_text(w->folder, "by-name", "23\n23\n", 0600);
    write_text(w->folder, "queue", "23_1 PENDING heddle-quick-0123456789abcdef Priority\n", 0600);
    assert_true(slurm_adopt(&w->engine, &e));
    assert_int_equal(w->engine.batch_count, 1);
    assert_int_equal(w->engine.batches[0].number, 23);
    assert_int_equal(w->engine.unsent, JOBS - 1);
    assert_true(slurm_batch_read(&back, w->engine.batches[0].folder, &w->arena)); /* and the next sweep need not look */
    assert_int_equal(back.number, 23);
}

static void an_array_that_was_never_submitted_is_cleared_away(void **state)
{
    struct world *w = *state;
    struct error e = {0};
    leave_batch(w, 0);
    assert_true(slurm_adopt(&w->engine, &e));
    assert_int_equal(w->engine.unsent, JOBS);
    assert_false(exists(w->spool, "slurm-1"));
}

static void without_an_answer_nothing_is_submitted(void **state)
{
    struct world *w = *state;
    struct error e = {0};
    int interrupt = 1; /* or it would be asked again for a while */
    w->options.interrupt = &interrupt;
    leave_batch(w, 17);
    write_text(w->folder, "refusal", "slurm_load_jobs error: Unable to contact slurm controller\n", 0600);
    assert_false(slurm_adopt(&w->engine, &e));
    assert_int_equal(e.kind, ERROR_IO);
    assert_true(exists(w->spool, "slurm-1"));
}

/* Puts all jobs into the queue as an array of this sweep, with these states. */
static void queue_all(struct world *w, const char *states)
{
    struct error e = {0};
    bool answered = false;
    struct slurm_batch b = leave_batch(w, 17);
    for (uint32_t t = 0; t < JOBS; t++)
        w->engine.runs[t] = (struct slurm_run_state){
            .where = RUN_QUEUED, .batch = w->engine.batch_count, .task = t, .lost = w->engine.runs[t].lost};
    w->engine.unsent = 0;
    *slurm_add_batch(&w->engine) = b;
    write_text(w->folder, "queue", states, 0600);
    assert_true(slurm_look(&w->engine, &answered, &e));
    assert_true(answered);
}

static void what_ended_without_a_record_is_sent_again(void **state)
{
    struct world *w = *state;
    struct error e = {0};
    queue_all(w, "17_1 NODE_FAIL heddle-quick-0123456789abcdef None\n17_2 RUNNING heddle-quick-0123456789abcdef "
                 "None\n17_3 COMPLETED heddle-quick-0123456789abcdef None\n"
                 "17_4 PENDING heddle-quick-0123456789abcdef launch failed requeued held\n");
    assert_true(slurm_settle_lost(&w->engine, &e));
    assert_true(w->engine.look_soon);
    assert_int_equal(w->engine.runs[0].where, RUN_QUEUED); /* its record may be on its way */
    assert_int_equal(w->engine.runs[3].where, RUN_UNSENT); /* held: it is not coming */
    assert_true(exists(w->folder, "cancelled"));
    w->engine.runs[0].ended_since -= 10;
    w->engine.runs[2].ended_since -= 10;
    assert_true(slurm_settle_lost(&w->engine, &e));
    assert_int_equal(w->engine.runs[0].where, RUN_UNSENT);
    assert_int_equal(w->engine.runs[0].lost, 1);
    assert_int_equal(w->engine.runs[1].where, RUN_QUEUED);
    assert_int_equal(w->engine.runs[2].where, RUN_QUEUED); /* it ended well: waited for longer */
    assert_int_equal(w->engine.unsent, 2);
    assert_int_equal(w->failures, 0);
}

static void what_is_lost_again_and_again_is_given_up(void **state)
{
    struct world *w = *state;
    struct error e = {0};
    w->sweep.store = store_open(arena_printf(&w->arena, "%s/results.db", w->folder), STORE_WRITE, &e);
    assert_non_null(w->sweep.store);
    w->engine.runs[0].lost = 3;
    queue_all(w, "17_1 OUT_OF_MEMORY heddle-quick-0123456789abcdef None\n17_2 RUNNING heddle-quick-0123456789abcdef "
                 "None\n17_3 RUNNING heddle-quick-0123456789abcdef None\n"
                 "17_4 RUNNING heddle-quick-0123456789abcdef None\n");
    w->engine.runs[0].ended_since = slurm_now() - 10;
    write_text(w->engine.batches[0].folder, "log/1.txt", "killed\n", 0600);
    assert_true(slurm_settle_lost(&w->engine, &e));
    assert_int_equal(w->engine.runs[0].where, RUN_SETTLED);
    assert_int_equal(w->engine.settled, 1);
    assert_int_equal(w->failures, 1);
    assert_int_equal(w->result.failed, 1);
    assert_string_equal(w->failure, "bfs gto: Slurm ended it 4 times without a record, last: OUT_OF_MEMORY");
    assert_true(exists(w->spool, "00000000000000000000000000000001.log"));
    struct store_run *runs;
    uint32_t count;
    assert_true(store_runs(w->sweep.store, &w->arena, &runs, &count, &e));
    assert_int_equal(count, 1);
    assert_non_null(strstr(runs[0].failure, "OUT_OF_MEMORY"));
    assert_false(store_has(w->sweep.store, w->jobs[0].key)); /* another sweep tries it again */
    store_close(w->sweep.store);
}

static void no_answer_changes_nothing(void **state)
{
    struct world *w = *state;
    struct error e = {0};
    bool answered = true;
    queue_all(w, "17_1 RUNNING heddle-quick-0123456789abcdef None\n");
    write_text(w->folder, "queue", "", 0600);
    write_text(w->folder, "refusal", "slurm_load_jobs error: Socket timed out on send/recv operation\n", 0600);
    assert_true(slurm_look(&w->engine, &answered, &e));
    assert_false(answered);
    assert_int_equal(w->engine.batches[0].tasks[0].state, SLURM_RUNNING);
}

/* A node that died between the record and the end of its task: Slurm queues the task once more. */
static void what_nobody_needs_is_cancelled(void **state)
{
    struct world *w = *state;
    struct error e = {0};
    char line[100] = "";
    queue_all(
        w,
        "17_1 PENDING heddle-quick-0123456789abcdef BeginTime\n17_2 PENDING heddle-quick-0123456789abcdef Priority\n");
    w->engine.runs[0].where = RUN_SETTLED;
    assert_true(slurm_settle_lost(&w->engine, &e));
    FILE *f = fopen(arena_printf(&w->arena, "%s/cancelled", w->folder), "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    fclose(f);
    assert_string_equal(line, "17_1\n");
}

static void dry_run_prints_the_script_and_changes_nothing(void **state)
{
    struct world *w = *state;
    struct error e = {0};
    char *text = NULL;
    size_t size;
    strcpy(w->places.heddle, "/opt/heddle");
    w->options.dry_run = true;
    w->options.throttle = 2;
    setenv("HEDDLE_SLURM_PARTITION", "night", 1);
    w->options.out = open_memstream(&text, &size);
    setenv("PATH", arena_printf(&w->arena, "%s/bin", w->folder), 1); /* a machine without Slurm */
    assert_true(slurm_run(&w->sweep, &e));
    fclose(w->options.out);
    unsetenv("HEDDLE_SLURM_PARTITION");
    assert_non_null(strstr(text, "#SBATCH --array=1-4%2\n"));
    assert_non_null(strstr(text, "#SBATCH --partition=night\n"));
    assert_non_null(strstr(text, "# 4 tasks. Nothing was submitted.\n"));
    assert_false(exists(w->spool, "slurm-1"));
    free(text);
}

static void without_sbatch_it_says_so(void **state)
{
    struct world *w = *state;
    struct error e = {0};
    setenv("PATH", "/no/such/folder", 1);
    assert_false(slurm_run(&w->sweep, &e));
    assert_int_equal(e.kind, ERROR_NOT_FOUND);
    assert_non_null(strstr(e.text, "sbatch is not in PATH"));
}

static void a_refusal_is_told_in_its_own_words(void **state)
{
    struct world *w = *state;
    struct error e = {0};
    char bin[100];
    snprintf(bin, sizeof bin, "%s/bin", w->folder);
    write_text(bin, "sbatch", "#!/bin/sh\necho 'sbatch: error: invalid partition specified: nosuch' >&2\nexit 1\n",
               0700);
    write_text(bin, "scontrol", "#!/bin/sh\necho 'MaxArraySize = 3'\n", 0700);
    assert_false(slurm_run(&w->sweep, &e));
    assert_int_equal(e.kind, ERROR_INVALID);
    assert_non_null(strstr(e.text, "the job array of 2 runs"));
    assert_non_null(strstr(e.text, "invalid partition specified: nosuch"));
    assert_false(exists(w->spool, "slurm-1"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(words_are_quoted_for_a_shell),
        TEST(script_says_all_that_was_asked_for),
        TEST(script_runs_in_a_shell),
        TEST(names_differ_and_have_no_blanks),
        TEST(manifest_is_read_back),
        TEST(folders_are_counted_on),
        TEST(lines_of_the_queue),
        TEST(lines_of_the_accounting),
        TEST(numbers_and_limits),
        TEST(a_program_that_hangs_is_ended),
        TEST(both_streams_are_kept),
        TEST(settings_of_the_user_are_not_seen),
        TEST(what_is_queued_is_taken_up),
        TEST(a_batch_that_has_ended_is_cleared_away),
        TEST(another_job_of_the_same_number_is_not_ours),
        TEST(an_array_without_a_number_is_found_by_name),
        TEST(an_array_that_was_never_submitted_is_cleared_away),
        TEST(without_an_answer_nothing_is_submitted),
        TEST(what_ended_without_a_record_is_sent_again),
        TEST(what_is_lost_again_and_again_is_given_up),
        TEST(no_answer_changes_nothing),
        TEST(what_nobody_needs_is_cancelled),
        TEST(dry_run_prints_the_script_and_changes_nothing),
        TEST(without_sbatch_it_says_so),
        TEST(a_refusal_is_told_in_its_own_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
