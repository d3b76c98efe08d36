/* A job as text: the JSON that carries it to another process, and the command line that repeats it. */
#include "sweep/job.h"

#include "base/out_of_memory.h"
#include "replay/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *words_to_json(const char **words)
{
    json_t *list = json_array();
    for (; words && *words; words++)
        if (json_array_append_new(list, json_string(*words)) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

json_t *job_to_json(const struct job *j)
{
    char policies[REPLAY_SET_BYTES];
    replay_policies_write(j->replay, policies);
    return json_pack(
        "{s:s, s:s, s:s, s:o, s:s, s:s, s:s, s:s, s:o, s:s, s:f, s:I, s:f, s:b, s:I, s:s, s:o, s:o, s:s*, s:s*}", "key",
        j->key, "program", j->program, "path", j->path, "words", words_to_json(j->words), "machine", j->machine,
        "scheduler", j->scheduler, "l1", j->l1, "divergence", j->divergence, "sets", words_to_json(j->sets), "label",
        j->label, "time_limit_seconds", j->time_limit_seconds, "memory_limit_bytes", (json_int_t)j->memory_limit_bytes,
        "expected_seconds", j->expected_seconds, "pcs", j->pcs, "interval_cycles", (json_int_t)j->interval_cycles,
        "replay", policies, "probes", words_to_json(j->probes), "options", words_to_json(j->options), "output",
        j->output, "input", j->input);
}

static const char **words_from_json(const json_t *list, struct arena *a)
{
    const char **words = arena_array(a, const char *, json_array_size(list) + 1);
    for (size_t i = 0; i < json_array_size(list); i++)
        if (!(words[i] = json_string_value(json_array_get(list, i))))
            return NULL;
    return words;
}

bool job_from_json(struct job *j, const json_t *text, struct arena *a, struct error *e)
{
    const char *key, *replay = "", *unknown;
    size_t length;
    json_t *words, *sets, *probes = NULL, *options = NULL;
    json_int_t memory, interval = 0;
    int pcs = 0;
    json_error_t why;
    *j = (struct job){0};
    if (json_unpack_ex(
            (json_t *)(uintptr_t)text, &why, 0,
            "{s:s, s:s, s:s, s:o, s:s, s:s, s:s, s:s, s:o, s:s, s:F, s:I, s:F, s?b, s?I, s?s, s?o, s?o, s?s, s?s}",
            "key", &key, "program", &j->program, "path", &j->path, "words", &words, "machine", &j->machine, "scheduler",
            &j->scheduler, "l1", &j->l1, "divergence", &j->divergence, "sets", &sets, "label", &j->label,
            "time_limit_seconds", &j->time_limit_seconds, "memory_limit_bytes", &memory, "expected_seconds",
            &j->expected_seconds, "pcs", &pcs, "interval_cycles", &interval, "replay", &replay, "probes", &probes,
            "options", &options, "output", &j->output, "input", &j->input) != 0)
        return error_set(e, ERROR_SYNTAX, "this is no job: %s", why.text);
    if (interval < 0)
        return error_set(e, ERROR_SYNTAX, "this is no job: its interval is %lld cycles", (long long)interval);
    if (*replay && !replay_policies_read(replay, strlen(replay), &j->replay, &unknown, &length))
        return error_set(e, ERROR_SYNTAX, "this is no job: it replays '%.40s'", replay);
    j->memory_limit_bytes = (uint64_t)memory;
    j->pcs = pcs;
    j->interval_cycles = (uint64_t)interval;
    j->words = json_is_array(words) ? words_from_json(words, a) : NULL;
    j->sets = json_is_array(sets) ? words_from_json(sets, a) : NULL;
    j->probes = words_from_json(probes, a); /* none where there is no list */
    j->options = words_from_json(options, a);
    j->inputs = arena_new(a, const struct job *);
    if (!j->words || !j->sets || !j->words[0] || !j->probes || !j->options)
        return error_set(e, ERROR_SYNTAX, "this is no job: its words, sets, probes and options are not lists of texts");
    if (strlen(key) != KEY_BYTES - 1 || key[strspn(key, "0123456789abcdef")])
        return error_set(e, ERROR_SYNTAX, "this is no job: '%.40s' is not a content key", key);
    memcpy(j->key, key, KEY_BYTES);
    return true;
}

/* A word as a shell reads it back. */
static void put_word(FILE *to, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./%@";
    fputc(' ', to);
    if (*word && !word[strspn(word, plain)]) {
        fputs(word, to);
        return;
    }
    fputc('\'', to);
    for (; *word; word++)
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, to);
    fputc('\'', to);
}

static void put_option(FILE *to, const char *name, const char *value)
{
    if (!*value)
        return;
    fprintf(to, " %s", name);
    put_word(to, value);
}

/* Each with the option before it; the file that the run writes by its name. */
static void put_words(FILE *to, const struct job *j, const char *option, const char **words)
{
    for (; words && *words; words++) {
        char *word = job_word(j, *words, j->output);
        if (option)
            fprintf(to, " %s", option);
        put_word(to, word);
        free(word);
    }
}

char *job_command(const struct job *j)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (!to)
        out_of_memory();
    fputs("heddle run", to);
    put_option(to, "-m", j->machine);
    put_option(to, "-s", j->scheduler);
    put_option(to, "--l1", j->l1);
    put_option(to, "--divergence", j->divergence);
    for (const char **set = j->sets; *set; set++)
        put_option(to, "--set", *set);
    put_words(to, j, "--probe", j->probes);
    put_words(to, j, NULL, j->options);
    if (j->pcs || j->interval_cycles || (j->probes && *j->probes))
        fputs(" --stats stats.json", to); /* where they show */
    if (j->pcs)
        fputs(" --pcs", to);
    if (j->interval_cycles)
        fprintf(to, " --interval %" PRIu64, j->interval_cycles);
    if (j->replay)
        fputs(" --trace l1d.trace", to);
    put_word(to, j->program);
    for (const char **word = j->words + 1; *word; word++)
        put_word(to, *word);
    if (j->replay) {
        char policies[REPLAY_SET_BYTES];
        replay_policies_write(j->replay, policies);
        fprintf(to, " && heddle cache l1d.trace --policy %s", policies);
    }
    fclose(to);
    return text;
}

char *job_arguments(const struct job *j)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (!to)
        out_of_memory();
    for (const char **word = j->words + 1; *word; word++)
        fprintf(to, "%s%s", word == j->words + 1 ? "" : " ", *word);
    fclose(to);
    return text;
}
