/* Does a content key change with all that determines the results, and with nothing else? Do jobs survive the way to
 * another process, and do runs end as they must? */
#include "gpu/machine.h"
#include "replay/replay.h"
#include "sweep/job.h"
#include "sweep/job_record.h"
#include "sweep/key.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs those before it */
#include <cmocka.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *own_path; /* of this program, which is what the jobs run */

/* ------------------------------------------------------------- experiments by hand */

struct point_text {
    const char *program, *words[8], *machine, *scheduler, *l1, *divergence, *sets[8], *label;
    bool pcs;
    uint64_t interval_cycles;
    uint32_t replay;
    const char *launches, *build;
    const char *probes[4];
};
static const struct point_text usual = {
    .words = {"--one"}, .machine = "gtx480", .scheduler = "gto", .l1 = "lru", .divergence = "pdom", .label = "a"};
static const char text[] = "[programs]\nx\n[machines]\ngtx480\n[schedulers]\nname = gto\n";

struct made {
    struct arena arena;
    struct experiment x;
    struct lab_point point;
    struct lab_value values[AXIS_COUNT];
    struct lab_entry entries[AXIS_COUNT];
    const char *words[10];
};

static void make_experiment(struct made *m, const struct point_text *t)
{
    static const int lines[AXIS_COUNT] = {2, 4, 6, 0, 0, 0};
    const char *texts[AXIS_COUNT] = {
        t->program ? t->program : own_path, t->machine, t->scheduler, t->l1, t->divergence, ""};
    *m = (struct made){.x = {.name = "hand",
                             .folder = "",
                             .text = text,
                             .text_bytes = sizeof text - 1,
                             .points = &m->point,
                             .point_count = 1,
                             .pcs = t->pcs,
                             .interval_cycles = t->interval_cycles,
                             .replay = t->replay,
                             .launches = t->launches,
                             .build = t->build}};
    for (int axis = 0; axis < AXIS_COUNT; axis++) {
        m->values[axis] = (struct lab_value){.label = t->label, .text = texts[axis]};
        m->entries[axis] = (struct lab_entry){.label = t->label, .first = 0, .count = 1, .line = lines[axis]};
        m->x.axes[axis] = (struct lab_axis_values){&m->values[axis], 1, &m->entries[axis], 1};
    }
    m->words[0] = texts[AXIS_PROGRAM];
    for (int i = 0; t->words[i]; i++)
        m->words[i + 1] = t->words[i];
    m->point = (struct lab_point){
        .words = m->words, .sets = (const char **)(uintptr_t)t->sets, .probes = (const char **)(uintptr_t)t->probes};
}

/* The key of one point; fails with the message where there is none. */
static void key_of(const struct point_text *t, char key[KEY_BYTES])
{
    struct made m;
    struct job *jobs;
    struct error e = {0};
    static struct places places;
    make_experiment(&m, t);
    if (!jobs_make(&m.x, &places, &m.arena, &jobs, &e))
        fail_msg("%s", e.text);
    memcpy(key, jobs[0].key, KEY_BYTES);
    arena_free(&m.arena);
}

static void same(const struct point_text *a, const struct point_text *b)
{
    char first[KEY_BYTES], second[KEY_BYTES];
    key_of(a, first);
    key_of(b, second);
    assert_string_equal(first, second);
}

static void different(const struct point_text *a, const struct point_text *b)
{
    char first[KEY_BYTES], second[KEY_BYTES];
    key_of(a, first);
    key_of(b, second);
    assert_string_not_equal(first, second);
}

/* ------------------------------------------------------------- files */

static char folder[] = "/tmp/test_job_XXXXXX";

static const char *path_of(const char *name)
{
    static char paths[4][PATH_MAX];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, PATH_MAX, "%s/%s", folder, name);
    return path;
}

static char *read_whole(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, f), *size);
    bytes[*size] = '\0';
    fclose(f);
    return bytes;
}

static void write_whole(const char *path, const char *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, 0755), 0);
}

static const char *script(const char *name, const char *lines)
{
    const char *path = path_of(name);
    char whole[2000];
    int size = snprintf(whole, sizeof whole, "#!/bin/sh\n%s", lines);
    write_whole(path, whole, (size_t)size);
    return path;
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    struct names names = names_in(folder, "");
    for (size_t i = 0; i < names.count; i++)
        unlink(path_of(names.names[i]));
    names_free(&names);
    return rmdir(folder);
}

/* ------------------------------------------------------------- keys */

static void what_changes_the_key(void **state)
{
    (void)state;
    enum { CHANGES = 22 };
    struct point_text t[CHANGES];
    for (int i = 0; i < CHANGES; i++)
        t[i] = usual;
    t[0].words[0] = "--two";
    t[1].words[1] = "more";
    t[2].words[0] = NULL;
    t[3].machine = "ccws";
    t[4].scheduler = "lrr";
    t[5].scheduler = "sticky:level=block";
    t[6].l1 = "srrip";
    t[7].l1 = "srrip:bits=3";
    t[8].sets[0] = "l1d.ways=4";
    t[9].sets[0] = "machine.seed=7";
    t[10].sets[0] = "l1d.ways=4", t[10].sets[1] = "l1d.ways=8"; /* the last one counts */
    t[11].program = "/bin/sh";
    t[12].pcs = true; /* asked for later, they have to be run for */
    t[13].interval_cycles = 1000;
    t[14].interval_cycles = 10000;
    t[15].pcs = true, t[15].interval_cycles = 1000;
    t[16].replay = 1 << REPLAY_LRU;
    t[17].replay = 1 << REPLAY_LRU | 1 << REPLAY_BELADY;
    t[18].launches = "0-79";
    t[19].launches = "0-80";
    t[20].build = "0-79";
    t[21].build = "another";
    for (int i = 0; i < CHANGES; i++) {
        different(&usual, &t[i]);
        for (int k = 0; k < i; k++)
            different(&t[k], &t[i]);
    }
}

static void probes_are_part_of_the_key(void **state)
{
    (void)state;
    struct point_text with = usual, other = usual;
    with.probes[0] = "loads";
    different(&usual, &with);
    other.probes[0] = "trips";
    different(&with, &other);
    with.probes[1] = "trips";
    different(&with, &other);
    other.probes[1] = "loads";
    same(&with, &other); /* in whatever order */
    with.probes[2] = "lost:vta_entries=32";
    other.probes[2] = "lost:vta_entries=16";
    different(&with, &other);
    with.probes[2] = "lost";
    same(&with, &other); /* defaults written out */
}

static void words_are_not_run_together(void **state)
{
    (void)state;
    struct point_text a = usual, b = usual, c = usual;
    a.words[0] = "ab", a.words[1] = "c";
    b.words[0] = "a", b.words[1] = "bc";
    c.words[0] = "abc";
    different(&a, &b);
    different(&a, &c);
}

static void what_does_not_change_the_key(void **state)
{
    (void)state;
    struct point_text a = usual, b = usual;
    same(&a, &b);
    b.label = "another";
    same(&a, &b);
    a.sets[0] = b.sets[1] = "l1d.ways=4";
    a.sets[1] = b.sets[0] = "core.warps=24";
    same(&a, &b);
    a = b = usual;
    a.sets[0] = "l1d.ways=4", a.sets[1] = "l1d.ways=8";
    b.sets[0] = "l1d.ways=8";
    same(&a, &b);
    a = b = usual;
    a.l1 = "srrip", b.l1 = "srrip:insert=long,bits=2"; /* the defaults */
    same(&a, &b);
    a = b = usual;
    a.scheduler = "", b.scheduler = "lrr"; /* what gtx480 names */
    same(&a, &b);
}

static void name_of_a_machine(void **state)
{
    (void)state;
    struct machine *m = calloc(1, sizeof *m);
    struct error e = {0};
    assert_true(machine_load(m, "gtx480", NULL, 0, &e));
    struct point_text other = usual;
    other.machine = path_of("renamed.ini");
    FILE *f = fopen(other.machine, "w");
    assert_non_null(f);
    machine_print(m, f);
    fclose(f);
    same(&usual, &other);
    f = fopen(other.machine, "a");
    fputs("\n[l1d]\nways = 2\n", f);
    fclose(f);
    free(m);
    struct made made;
    struct job *jobs;
    static struct places places;
    make_experiment(&made, &other); /* a key given twice is refused: what the file says is looked at, not its name */
    assert_false(jobs_make(&made.x, &places, &made.arena, &jobs, &e));
    arena_free(&made.arena);
}

/* The build identifier's place in the file; 0: it has none. */
static size_t find_identifier(const char *bytes, size_t size)
{
    for (size_t at = 0; at + 16 < size; at += 4) {
        Elf64_Nhdr note;
        memcpy(&note, bytes + at, sizeof note);
        if (note.n_namesz == 4 && note.n_type == NT_GNU_BUILD_ID && note.n_descsz == 20 &&
            !memcmp(bytes + at + sizeof note, "GNU", 4))
            return at + sizeof note + 4;
    }
    return 0;
}

static size_t find_code(const char *bytes)
{
    const Elf64_Ehdr *h = (const void *)bytes;
    const Elf64_Phdr *segments = (const void *)(bytes + h->e_phoff);
    for (int i = 0; i < h->e_phnum; i++)
        if (segments[i].p_type == PT_LOAD && (segments[i].p_flags & PF_X))
            return segments[i].p_offset + segments[i].p_filesz / 2;
    fail();
    return 0;
}

static void what_of_a_program_counts(void **state)
{
    (void)state;
    size_t size;
    char *bytes = read_whole(own_path, &size);
    struct point_text copy = usual;
    copy.program = path_of("copy");
    write_whole(copy.program, bytes, size);
    same(&usual, &copy); /* where it lies does not matter */

    size_t identifier = find_identifier(bytes, size);
    if (identifier) {
        bytes[identifier] ^= 1;
        write_whole(copy.program, bytes, size);
        same(&usual, &copy);
    }
    /* Section headers at another place, more in front of them: as with other debugging information. */
    enum { MORE = 128 };
    Elf64_Ehdr h;
    memcpy(&h, bytes, sizeof h);
    size_t table = h.e_shnum * sizeof(Elf64_Shdr);
    char *stripped = malloc(size + MORE + table);
    memcpy(stripped, bytes, size);
    memset(stripped + size, 'x', MORE);
    memcpy(stripped + size + MORE, bytes + h.e_shoff, table);
    h.e_shoff = size + MORE;
    memcpy(stripped, &h, sizeof h);
    write_whole(copy.program, stripped, size + MORE + table);
    same(&usual, &copy);
    free(stripped);

    bytes[find_code(bytes)] ^= 1;
    write_whole(copy.program, bytes, size);
    different(&usual, &copy);
    free(bytes);

    struct point_text a = usual, b = usual;
    a.program = script("a.sh", "exit 0\n");
    b.program = script("b.sh", "exit 0\n");
    same(&a, &b);
    b.program = script("b.sh", "exit 1\n");
    different(&a, &b);
}

static void keys_are_hexadecimal(void **state)
{
    (void)state;
    char key[KEY_BYTES];
    key_of(&usual, key);
    assert_int_equal(strlen(key), KEY_BYTES - 1);
    assert_int_equal(strspn(key, "0123456789abcdef"), KEY_BYTES - 1);
}

/* ------------------------------------------------------------- mistakes */

static void expect_error(const struct point_text *t, const char *place, const char *says)
{
    struct made m;
    struct job *jobs;
    struct error e = {0};
    static struct places places;
    make_experiment(&m, t);
    assert_false(jobs_make(&m.x, &places, &m.arena, &jobs, &e));
    if (!strstr(e.text, place) || !strstr(e.text, says))
        fail_msg("expected %s ... %s, got: %s", place, says, e.text);
    arena_free(&m.arena);
}

/* A probe that needs no time makes the run a functional one, without what only time can give. */
static void functional_probes(void **state)
{
    (void)state;
    struct point_text t = usual, sampled = usual;
    struct made m;
    struct job *jobs;
    struct error e = {0};
    static struct places places;
    t.probes[0] = sampled.probes[0] = "compaction";
    sampled.interval_cycles = 1000;
    same(&t, &sampled);
    different(&t, &usual);
    make_experiment(&m, &sampled);
    assert_true(jobs_make(&m.x, &places, &m.arena, &jobs, &e));
    assert_string_equal(jobs[0].options[0], "--functional");
    assert_null(jobs[0].options[1]);
    assert_int_equal(jobs[0].interval_cycles, 0);
    arena_free(&m.arena);
    t.probes[1] = "loads";
    expect_error(&t, "", "'compaction' and 'loads' one needs time");
}

static void mistakes_name_their_line(void **state)
{
    (void)state;
    struct point_text t = usual;
    t.program = "nosuch";
    expect_error(&t, "hand.ini:2:1: error: this program cannot be used\n  x\n  ^",
                 "no workload and no program 'nosuch'");
    t = usual;
    t.machine = "gtx48";
    expect_error(&t, "hand.ini:4:1: error: this machine cannot be used\n  gtx480\n  ^", "did you mean gtx480?");
    t = usual;
    t.scheduler = "gtoo";
    expect_error(&t, "hand.ini:6:1: error: this scheduler cannot be used\n  name = gto\n  ^", "did you mean 'gto'?");
    t = usual;
    t.scheduler = "gto:x=1";
    expect_error(&t, "hand.ini:6:", "gto has no parameters");
    t = usual;
    t.scheduler = "";
    t.sets[0] = "machine.scheduler=gtoo"; /* the machine's own, by an override */
    expect_error(&t, "hand.ini:4:1: error: this machine cannot be used", "no scheduler 'gtoo'");
    t = usual;
    t.sets[0] = "l1d.wayss=4";
    expect_error(&t, "hand.ini: variant 'a' cannot be used", "did you mean ways?");
    t = usual;
    t.program = script("plain.ptx", "");
    expect_error(&t, "hand.ini:2:", "is PTX, not a program");
}

/* ------------------------------------------------------------- speed */

static void ten_thousand_points(void **state)
{
    (void)state;
    enum { PROGRAMS = 20, SCHEDULERS = 5, VARIANTS = 100, POINTS = PROGRAMS * SCHEDULERS * VARIANTS };
    static const char *const schedulers[SCHEDULERS] = {"lrr", "rr", "sticky", "oldest", "gto"};
    struct made m;
    struct job *jobs;
    struct error e = {0};
    static struct places places;
    make_experiment(&m, &usual);
    struct lab_value *programs = arena_array(&m.arena, struct lab_value, PROGRAMS),
                     *specs = arena_array(&m.arena, struct lab_value, SCHEDULERS),
                     *variants = arena_array(&m.arena, struct lab_value, VARIANTS);
    const char **words = arena_array(&m.arena, const char *, 3 * PROGRAMS),
               **sets = arena_array(&m.arena, const char *, 2 * VARIANTS);
    for (int i = 0; i < PROGRAMS; i++) {
        programs[i] = m.values[AXIS_PROGRAM];
        words[3 * i] = own_path;
        words[3 * i + 1] = arena_printf(&m.arena, "%d", i);
    }
    for (int i = 0; i < SCHEDULERS; i++)
        specs[i] = (struct lab_value){.label = schedulers[i], .text = schedulers[i]};
    for (int i = 0; i < VARIANTS; i++) {
        variants[i] = (struct lab_value){.label = "v", .text = ""};
        sets[2 * i] = arena_printf(&m.arena, "machine.seed=%d", i);
    }
    m.x.axes[AXIS_PROGRAM] = (struct lab_axis_values){programs, PROGRAMS, m.entries, 1};
    m.x.axes[AXIS_SCHEDULER] = (struct lab_axis_values){specs, SCHEDULERS, m.entries, 1};
    m.x.axes[AXIS_VARIANT] = (struct lab_axis_values){variants, VARIANTS, m.entries, 1};
    m.x.points = arena_array(&m.arena, struct lab_point, POINTS);
    m.x.point_count = POINTS;
    for (uint32_t i = 0; i < POINTS; i++) {
        uint32_t program = i % PROGRAMS, variant = i / PROGRAMS / SCHEDULERS;
        m.x.points[i] = (struct lab_point){.value = {program, 0, i / PROGRAMS % SCHEDULERS, 0, 0, variant},
                                           .words = &words[3 * program],
                                           .sets = &sets[2 * variant]};
    }
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    assert_true(jobs_make(&m.x, &places, &m.arena, &jobs, &e));
    clock_gettime(CLOCK_MONOTONIC, &b);
    double seconds = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
    assert_true(seconds < 1.0);
    char(*keys)[KEY_BYTES] = arena_alloc(&m.arena, POINTS * sizeof *keys);
    for (uint32_t i = 0; i < POINTS; i++)
        memcpy(keys[i], jobs[i].key, KEY_BYTES);
    qsort(keys, POINTS, sizeof *keys, (int (*)(const void *, const void *))strcmp);
    for (uint32_t i = 1; i < POINTS; i++)
        assert_string_not_equal(keys[i - 1], keys[i]);
    arena_free(&m.arena);
}

/* ------------------------------------------------------------- jobs as text */

static struct job job_for(const char *path, const char **words)
{
    static const char *no_sets[] = {NULL};
    return (struct job){.key = "0123456789abcdef0123456789abcdef",
                        .program = path,
                        .path = path,
                        .words = words,
                        .machine = "gtx480",
                        .scheduler = "gto",
                        .l1 = "",
                        .divergence = "",
                        .sets = no_sets,
                        .label = "x"};
}

static void there_and_back(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error e = {0};
    const char *words[] = {"bfs", "it's \"two\" words", "--size", "test", NULL},
               *sets[] = {"l1d.ways=4", "core.warps=24", NULL};
    struct job j = job_for("/x/bfs", words), k;
    j.program = "bfs", j.sets = sets, j.time_limit_seconds = 1.5, j.memory_limit_bytes = 3ull << 32,
    j.expected_seconds = 2.25, j.pcs = true, j.interval_cycles = 5ull << 32,
    j.replay = 1 << REPLAY_FIFO | 1 << REPLAY_BELADY;
    json_t *there = job_to_json(&j);
    assert_non_null(there);
    char *line = json_dumps(there, JSON_COMPACT);
    assert_null(strchr(line, '\n'));
    json_t *back = json_loads(line, 0, NULL);
    assert_true(job_from_json(&k, back, &a, &e));
    assert_string_equal(k.key, j.key);
    assert_string_equal(k.words[1], words[1]);
    assert_null(k.words[4]);
    assert_string_equal(k.sets[1], sets[1]);
    assert_null(k.sets[2]);
    assert_true(k.time_limit_seconds == 1.5 && k.expected_seconds == 2.25 && k.memory_limit_bytes == 3ull << 32);
    assert_true(k.pcs && k.interval_cycles == 5ull << 32 && k.replay == j.replay);
    json_object_del(back, "pcs"); /* a job that was written before there were any */
    json_object_del(back, "interval_cycles");
    json_object_del(back, "replay");
    assert_true(job_from_json(&k, back, &a, &e));
    assert_true(!k.pcs && !k.interval_cycles && !k.replay);
    json_object_set_new(back, "replay", json_string("lru,magic"));
    assert_false(job_from_json(&k, back, &a, &e));
    json_object_set_new(back, "replay", json_string(""));
    json_object_set_new(back, "interval_cycles", json_integer(-1));
    assert_false(job_from_json(&k, back, &a, &e));
    json_object_del(back, "interval_cycles");
    json_object_set_new(back, "key", json_string("../../x"));
    assert_false(job_from_json(&k, back, &a, &e));
    e = (struct error){0};
    json_object_del(back, "path");
    assert_false(job_from_json(&k, back, &a, &e));
    assert_non_null(strstr(e.text, "no job"));
    json_decref(back);
    json_decref(there);
    free(line);
    arena_free(&a);
}

static void command_of_a_job(void **state)
{
    (void)state;
    const char *words[] = {"bfs", "it's", "", "--size", "test", NULL}, *sets[] = {"l1d.ways=4", NULL};
    struct job j = job_for("/x/bfs", words);
    j.program = "bfs", j.sets = sets;
    char *command = job_command(&j), *arguments = job_arguments(&j);
    assert_string_equal(command, "heddle run -m gtx480 -s gto --set l1d.ways=4 bfs 'it'\\''s' '' --size test");
    assert_string_equal(arguments, "it's  --size test");
    free(command);
    free(arguments);
    j.pcs = true, j.interval_cycles = 10000;
    command = job_command(&j);
    assert_non_null(strstr(command, " --set l1d.ways=4 --stats stats.json --pcs --interval 10000 bfs "));
    free(command);
    j.pcs = false;
    command = job_command(&j);
    assert_non_null(strstr(command, " --stats stats.json --interval 10000 bfs "));
    free(command);
    j.interval_cycles = 0, j.replay = 1 << REPLAY_LRU | 1 << REPLAY_BELADY;
    command = job_command(&j);
    assert_string_equal(command, "heddle run -m gtx480 -s gto --set l1d.ways=4 --trace l1d.trace bfs 'it'\\''s' '' "
                                 "--size test && heddle cache l1d.trace --policy lru,belady");
    free(command);
}

/* ------------------------------------------------------------- runs */

static json_t *execute(const struct job *j, struct error *e)
{
    static struct places places;
    char name[KEY_BYTES + 10];
    snprintf(name, sizeof name, "%s.json", j->key);
    unlink(path_of(name));
    assert_true(job_execute(j, &places, folder, e));
    json_t *record = json_load_file(path_of(name), 0, NULL);
    assert_non_null(record);
    return record;
}

static const char *field(const json_t *record, const char *name)
{
    return json_string_value(json_object_get(record, name));
}

static void expect_failure(struct job j, const char *failure, int exit)
{
    struct error e = {0};
    json_t *record = execute(&j, &e);
    if (!field(record, "failure") || !strstr(field(record, "failure"), failure))
        fail_msg("expected '%s', got '%s'", failure, field(record, "failure") ? field(record, "failure") : "(none)");
    assert_int_equal(json_integer_value(json_object_get(record, "exit")), exit);
    assert_true(json_is_null(json_object_get(record, "stats")));
    assert_false(job_is_recorded(j.key, folder));
    json_decref(record);
}

static void how_runs_fail(void **state)
{
    (void)state;
    const char *words[] = {"x", NULL}, *eat[] = {"x", "--eat", NULL};
    struct job j = job_for(script("fails.sh", "echo one; echo what went wrong >&2; exit 3\n"), words);
    expect_failure(j, "exit status 3: what went wrong", 3);
    j = job_for(script("crashes.sh", "kill -SEGV $$\n"), words);
    expect_failure(j, "ended by signal 11 (Segmentation fault)", 139);
    j = job_for(script("plain.sh", "exit 0\n"), words);
    expect_failure(j, "never initialised CUDA", 0);
    j = job_for("/nonexistent/program", words);
    expect_failure(j, "cannot execute /nonexistent/program: No such file or directory", 127);
    j = job_for(script("sleeps.sh", "sleep 1000\n"), words);
    j.time_limit_seconds = 0.2;
    expect_failure(j, "not finished after 0.2 s", 137);
    j = job_for(own_path, eat);
    j.memory_limit_bytes = 200 << 20;
    expect_failure(j, "out of memory: it used", 137);
    j = job_for(script("eats.sh", "\"$HEDDLE_TEST_PROGRAM\" --eat\nexit 0\n"), words); /* what it starts counts */
    j.memory_limit_bytes = 200 << 20;
    setenv("HEDDLE_TEST_PROGRAM", own_path, 1);
    expect_failure(j, "out of memory: it used", 137);
}

/* A program is told by HEDDLE_OPTIONS. */
static void options_of_a_run(void **state)
{
    (void)state;
    const char *words[] = {"x", NULL}, *sets[] = {"l1d.ways=4", NULL};
    struct error e = {0};
    struct job j = job_for(script("options.sh", "echo \"$HEDDLE_OPTIONS\"; exit 1\n"), words);
    j.sets = sets;
    json_t *record = execute(&j, &e);
    assert_non_null(strstr(field(record, "log"), "l1d.ways=4"));
    assert_null(strstr(field(record, "log"), "--pcs"));
    assert_null(strstr(field(record, "log"), "--interval"));
    assert_null(strstr(field(record, "log"), "--trace"));
    json_decref(record);
    j.pcs = true, j.interval_cycles = UINT64_MAX, j.replay = 1;
    record = execute(&j, &e);
    assert_non_null(strstr(field(record, "log"), "--pcs"));
    assert_non_null(strstr(field(record, "log"), "--interval"));
    assert_non_null(strstr(field(record, "log"), "18446744073709551615"));
    assert_non_null(strstr(field(record, "log"), "--trace"));
    assert_non_null(strstr(field(record, "log"), ".trace.tmp."));
    json_decref(record);
}

static void what_a_record_says(void **state)
{
    (void)state;
    const char *words[] = {"bfs", "--size", "test", NULL}, *sets[] = {"l1d.ways=4", NULL};
    struct error e = {0};
    struct job j = job_for(script("binary.sh", "printf 'a\\200\\000b\\n'; exit 1\n"), words);
    j.program = "bfs", j.sets = sets;
    json_t *record = execute(&j, &e);
    assert_string_equal(field(record, "key"), j.key);
    assert_string_equal(field(record, "program"), "bfs");
    assert_string_equal(field(record, "machine"), "gtx480");
    assert_string_equal(field(record, "log"), "a??b\n");
    assert_non_null(strstr(field(record, "machine_text"), "ways = 4 "));
    assert_string_equal(json_string_value(json_array_get(json_object_get(record, "arguments"), 1)), "test");
    assert_int_equal(strlen(field(record, "when")), strlen("2026-01-31T12:00:00Z"));
    assert_true(json_real_value(json_object_get(record, "wall_seconds")) > 0);
    json_decref(record);
    struct names left = names_in(folder, "");
    for (size_t i = 0; i < left.count; i++)
        assert_null(strstr(left.names[i], ".tmp."));
    names_free(&left);
}

static void a_log_is_cut(void **state)
{
    (void)state;
    const char *words[] = {"x", NULL};
    struct error e = {0};
    struct job j =
        job_for(script("talks.sh", "i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i + 1)); done; exit 1\n"), words);
    json_t *record = execute(&j, &e);
    const char *log = field(record, "log");
    assert_true(strlen(log) <= 4000 && strlen(log) > 3000);
    assert_int_equal(strncmp(log, "line ", 5), 0);
    assert_string_equal(log + strlen(log) - 10, "line 1999\n");
    size_t size;
    char *kept = read_whole(path_of("0123456789abcdef0123456789abcdef.log"), &size);
    assert_int_equal(strncmp(kept, "line 0\n", 7), 0);
    free(kept);
    json_decref(record);
}

static bool is_alive(pid_t pid)
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    bool alive = f && fscanf(f, "%*d (%*[^)]) %c", &state) == 1 && state != 'Z' && state != 'X';
    if (f)
        fclose(f);
    return alive;
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
}

static bool wait_until(bool (*condition)(pid_t), pid_t argument)
{
    for (int i = 0; i < 2000; i++, pause_ms(10))
        if (condition(argument))
            return true;
    return false;
}

static bool is_gone(pid_t pid) { return !is_alive(pid); }

static bool have_pid_file(pid_t unused)
{
    (void)unused;
    struct stat s;
    return stat(path_of("pid"), &s) == 0 && s.st_size > 0;
}

/* The program ends with whoever runs the job; what it started, too, where the runner is told to end. */
static void end_by(int signal, const char *lines)
{
    const char *words[] = {"x", NULL};
    unlink(path_of("pid"));
    setenv("PID_FILE", path_of("pid"), 1);
    struct job j = job_for(script("waits.sh", lines), words);
    memset(j.key, 'e', KEY_BYTES - 1);
    pid_t runner = fork();
    if (runner == 0) {
        static struct places places;
        struct error e = {0};
        _exit(job_execute(&j, &places, folder, &e) ? 0 : e.kind == ERROR_INTERRUPTED ? 7 : 1);
    }
    assert_true(wait_until(have_pid_file, 0));
    size_t size;
    char *number = read_whole(path_of("pid"), &size);
    pid_t program = (pid_t)strtol(number, NULL, 10);
    free(number);
    assert_true(is_alive(program));
    kill(runner, signal);
    int status;
    assert_int_equal(waitpid(runner, &status, 0), runner);
    if (signal == SIGTERM)
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    assert_true(wait_until(is_gone, program));
    assert_int_not_equal(access(path_of("eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee.json"), F_OK), 0);
}

static void programs_die_with_their_runner(void **state)
{
    (void)state;
    end_by(SIGTERM, "echo $$ >\"$PID_FILE.new\"; mv \"$PID_FILE.new\" \"$PID_FILE\"; exec sleep 1000\n");
    end_by(SIGTERM, "sleep 1000 & echo $! >\"$PID_FILE.new\"; mv \"$PID_FILE.new\" \"$PID_FILE\"; wait\n");
    end_by(SIGKILL, "echo $$ >\"$PID_FILE.new\"; mv \"$PID_FILE.new\" \"$PID_FILE\"; exec sleep 1000\n");
}

static void records_and_their_files(void **state)
{
    (void)state;
    const char *words[] = {"x", NULL};
    struct error e = {0};
    struct job j = job_for("/x", words);
    char name[PATH_MAX];
    memset(j.key, 'f', KEY_BYTES - 1);
    assert_true(job_record_failure(&j, folder, "the run was killed by signal 9", 137, &e));
    assert_false(job_is_recorded(j.key, folder));
    json_t *good = job_record_new(&j, 0);
    assert_true(job_record_write(good, j.key, folder, &e));
    assert_true(job_is_recorded(j.key, folder));
    assert_string_equal(field(good, "when"), "1970-01-01T00:00:00Z");
    assert_false(job_record_write(good, j.key, "/nonexistent", &e));
    assert_non_null(strstr(e.text, "cannot write /nonexistent/"));
    json_decref(good);
    /* What a dead process left is removed; ours, which lives, is not. */
    pid_t dead = fork();
    if (dead == 0) {
        job_scratch_name(name, sizeof name, folder, j.key, "json");
        _exit(creat(name, 0666) < 0);
    }
    waitpid(dead, NULL, 0);
    job_scratch_name(name, sizeof name, folder, j.key, "json");
    assert_true(creat(name, 0666) >= 0);
    job_spool_clean(folder);
    struct names left = names_in(folder, "");
    int found = 0;
    for (size_t i = 0; i < left.count; i++)
        found += strstr(left.names[i], ".tmp.") != NULL;
    names_free(&left);
    assert_int_equal(found, 1);
    unlink(name);
}

/* As a program of a job: uses memory until somebody ends it. */
static int eat(void)
{
    enum { STEP = 20 << 20, STEPS = 50 };
    for (int i = 0; i < STEPS; i++) {
        char *piece = mmap(NULL, STEP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (piece != MAP_FAILED)
            memset(piece, 1, STEP);
        pause_ms(20);
    }
    pause_ms(20000);
    return 0;
}

int main(int argc, char **argv)
{
    static char path[PATH_MAX];
    if (argc > 1 && !strcmp(argv[1], "--eat"))
        return eat();
    own_path = realpath(argv[0], path) ? path : argv[0];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_changes_the_key),
        cmocka_unit_test(probes_are_part_of_the_key),
        cmocka_unit_test(functional_probes),
        cmocka_unit_test(words_are_not_run_together),
        cmocka_unit_test(what_does_not_change_the_key),
        cmocka_unit_test(name_of_a_machine),
        cmocka_unit_test(what_of_a_program_counts),
        cmocka_unit_test(keys_are_hexadecimal),
        cmocka_unit_test(mistakes_name_their_line),
        cmocka_unit_test(ten_thousand_points),
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(command_of_a_job),
        cmocka_unit_test(how_runs_fail),
        cmocka_unit_test(options_of_a_run),
        cmocka_unit_test(what_a_record_says),
        cmocka_unit_test(a_log_is_cut),
        cmocka_unit_test(programs_die_with_their_runner),
        cmocka_unit_test(records_and_their_files),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
