/* Runs with probes, and runs that write what others read: how they travel, what command repeats them, and which file is
 * left of one that ends in whatever way. */
#include "sweep/job.h"
#include "sweep/job_record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/test_job_files_XXXXXX";
static const char *no_words[] = {NULL};
static const struct job *no_inputs[] = {NULL};
#define FIRST  "0123456789abcdef0123456789abcdef"
#define SECOND "fedcba9876543210fedcba9876543210"

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[200];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static const char *path_of(const char *name)
{
    static char paths[4][200];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof *paths, "%s/%s", folder, name);
    return path;
}

static struct job job_with(const char *key, const char *scheduler)
{
    static const char *words[] = {"bfs", "--size", "test", NULL};
    struct job j = {.program = "bfs",
                    .path = "/x/bfs",
                    .words = words,
                    .machine = "gtx480",
                    .scheduler = scheduler,
                    .l1 = "",
                    .divergence = "",
                    .sets = no_words,
                    .label = "x",
                    .probes = no_words,
                    .options = no_words,
                    .inputs = no_inputs};
    strcpy(j.key, key);
    return j;
}

static void command_is(const struct job *j, const char *wanted)
{
    char *command = job_command(j);
    assert_string_equal(command, wanted);
    free(command);
}

static void paths_take_the_place_of_keys(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error e = {0};
    const char *probes[] = {"loads", "lost:of=@" SECOND ",a=1", NULL}, *writes[] = {"profile:file=@", NULL},
               *options[] = {"--warps", "@", "--out=@", NULL};
    struct job inputs[] = {job_with(FIRST, "gto"), job_with(SECOND, "gto")},
               j = job_with("00000000000000000000000000000000", "daws:profile=@" FIRST ",again=@" FIRST);
    const struct job *needs[] = {&inputs[0], &inputs[1], NULL};
    inputs[0].input = "profile", inputs[0].probes = writes;
    inputs[1].input = "warps", inputs[1].options = options;
    j.inputs = needs, j.probes = probes;
    assert_true(jobs_place_files(inputs, 2, "/a b/@x/r.db.files", &a, &e) &&
                jobs_place_files(&j, 1, "/y/r.db.files", &a, &e));
    assert_string_equal(inputs[0].output, "/a b/@x/r.db.files/" FIRST);
    command_is(&inputs[0], "heddle run -m gtx480 -s gto --probe 'profile:file=/a b/@x/r.db.files/" FIRST
                           "' --stats stats.json bfs --size test");
    command_is(&inputs[1], "heddle run -m gtx480 -s gto --warps '/a b/@x/r.db.files/" SECOND
                           "' '--out=/a b/@x/r.db.files/" SECOND "' bfs --size test");
    command_is(&j, "heddle run -m gtx480 -s daws:profile=/y/r.db.files/" FIRST ",again=/y/r.db.files/" FIRST
                   " --probe loads --probe lost:of=/y/r.db.files/" SECOND ",a=1 --stats stats.json bfs --size test");
    assert_null(j.output);
    options[1] = "@.csv", options[2] = NULL;
    probes[1] = "lost:of=@" SECOND ",a=1";
    j.probes = probes, j.scheduler = "gto";
    assert_true(jobs_place_files(inputs, 2, "/z/r.db.files", &a, &e) &&
                jobs_place_files(&j, 1, "/z/r.db.files", &a, &e));
    assert_string_equal(inputs[1].output, "/z/r.db.files/" SECOND ".csv");
    command_is(&inputs[1], "heddle run -m gtx480 -s gto --warps /z/r.db.files/" SECOND ".csv bfs --size test");
    command_is(&j, "heddle run -m gtx480 -s gto --probe loads --probe lost:of=/z/r.db.files/" SECOND
                   ".csv,a=1 --stats stats.json bfs --size test");
    char scratch[300];
    job_file_scratch(&inputs[1], scratch, sizeof scratch);
    assert_string_equal(scratch + strlen(scratch) - 4, ".csv");
    assert_false(jobs_place_files(&inputs[1], 1, "/a,b/r.db.files", &a, &e));
    assert_non_null(strstr(e.text, "',' ends it"));
    j.inputs = no_inputs;
    e = (struct error){0};
    assert_true(jobs_place_files(&j, 1, "/a,b/r.db.files", &a, &e)); /* nobody's business */
    arena_free(&a);
}

static void there_and_back(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error e = {0};
    const char *probes[] = {"loads", "trips:line=128", NULL}, *options[] = {"--warps", "@", NULL};
    struct job j = job_with(FIRST, "gto"), k;
    j.probes = probes, j.options = options, j.input = "warps", j.output = "/y/" FIRST;
    json_t *text = job_to_json(&j);
    assert_non_null(text);
    if (!job_from_json(&k, text, &a, &e))
        fail_msg("%s", e.text);
    assert_string_equal(k.probes[1], "trips:line=128");
    assert_null(k.probes[2]);
    assert_string_equal(k.options[1], "@");
    assert_string_equal(k.output, j.output);
    assert_string_equal(k.input, "warps");
    assert_null(k.inputs[0]);
    json_object_del(text, "output");
    json_object_del(text, "input");
    json_object_del(text, "probes"); /* a manifest of an earlier version */
    json_object_del(text, "options");
    assert_true(job_from_json(&k, text, &a, &e));
    assert_true(!k.probes[0] && !k.options[0] && !k.output && !k.input);
    json_object_set_new(text, "probes", json_pack("[i]", 1));
    assert_false(job_from_json(&k, text, &a, &e));
    json_decref(text);
    arena_free(&a);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void only_whole_files_get_their_name(void **state)
{
    (void)state;
    struct job j = job_with(FIRST, "gto");
    char scratch[4096], why[200] = "";
    j.input = "profile";
    assert_false(job_file_is_made(&j));
    j.output = path_of(FIRST);
    assert_false(job_file_is_made(&j));
    job_file_scratch(&j, scratch, sizeof scratch);
    assert_int_equal(strncmp(scratch, j.output, strlen(j.output)), 0);
    assert_non_null(strstr(scratch, ".part.tmp."));
    assert_false(job_file_keep(&j, scratch, why, sizeof why));
    assert_non_null(strstr(why, "there is nothing of what it should have written for input profile"));
    write_file(scratch, "");
    assert_false(job_file_keep(&j, scratch, why, sizeof why));
    assert_non_null(strstr(why, "nothing is in what it should have written"));
    assert_false(job_file_is_made(&j));
    write_file(j.output, "");
    assert_false(job_file_is_made(&j)); /* empty: made again */
    write_file(scratch, "some\n");
    assert_true(job_file_keep(&j, scratch, why, sizeof why));
    assert_true(job_file_is_made(&j));
    assert_int_not_equal(access(scratch, F_OK), 0);
    assert_int_equal(unlink(j.output), 0);
}

/* The program is a script that writes down its options, and what they name. */
static const char *script(const char *name, const char *lines)
{
    const char *path = path_of(name);
    char text[500];
    snprintf(text, sizeof text, "#!/bin/sh\n%s", lines);
    write_file(path, text);
    chmod(path, 0755);
    return path;
}

static void a_run_that_fails_leaves_no_file(void **state)
{
    (void)state;
    static struct places places;
    struct error e = {0};
    const char *probes[] = {"loads", "profile:file=@,top=4", NULL};
    struct job j = job_with(FIRST, "gto");
    j.path = script("fails.sh",
                    "echo \"$HEDDLE_OPTIONS\"; file=${HEDDLE_OPTIONS##*file=}; echo half >\"${file%%,*}\"; exit 3\n");
    j.probes = probes, j.input = "profile", j.output = path_of(FIRST);
    if (!job_execute(&j, &places, folder, &e))
        fail_msg("%s", e.text);
    json_t *record = json_load_file(path_of(FIRST ".json"), 0, NULL);
    const char *failure = json_string_value(json_object_get(record, "failure")),
               *log = json_string_value(json_object_get(record, "log"));
    assert_non_null(strstr(failure, "exit status 3"));
    assert_non_null(strstr(log, "'--probe' 'loads' '--probe' 'profile:file="));
    assert_non_null(strstr(log, FIRST ".part.tmp."));
    char wanted[300];
    snprintf(wanted, sizeof wanted, "profile:file=%s,top=4", j.output);
    assert_string_equal(json_string_value(json_array_get(json_object_get(record, "probes"), 1)), wanted);
    json_decref(record);
    assert_false(job_file_is_made(&j));
    struct names left = names_in(folder, "");
    for (size_t i = 0; i < left.count; i++)
        if (strstr(left.names[i], ".tmp."))
            fail_msg("%s is left", left.names[i]);
    names_free(&left);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_take_the_place_of_keys),
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(only_whole_files_get_their_name),
        cmocka_unit_test(a_run_that_fails_leaves_no_file),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
