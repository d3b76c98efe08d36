/* heddle task MANIFEST LINE SPOOL: one run of a sweep, as a task of a job array executes it. Not for people. */
#include "cli/cli.h"
#include "sweep/job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The line's text without its end, to be freed; NULL where there is no such line. */
static char *read_line(const char *path, unsigned long number, struct error *e)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t length = -1;
    FILE *f = fopen(path, "re");
    if (!f) {
        error_set(e, ERROR_IO, "cannot read %s: %s", path, strerror(errno));
        return NULL;
    }
    for (unsigned long n = 1; n <= number && (length = getline(&line, &size, f)) >= 0; n++)
        continue;
    fclose(f);
    if (length >= 0)
        return line;
    free(line);
    error_set(e, ERROR_NOT_FOUND, "%s has no line %lu", path, number);
    return NULL;
}

static bool run_job(const json_t *text, const char *spool, struct error *e)
{
    struct arena a = {0};
    struct places places;
    struct job j;
    bool good = job_from_json(&j, text, &a, e) && places_find(&places, e);
    good = good && (job_is_recorded(j.key, spool) ||
                    job_execute(&j, &places, spool, e)); /* a task that is started again may have been done */
    arena_free(&a);
    return good;
}

int cli_task(int argc, char **argv)
{
    struct error e = {0};
    json_error_t why;
    char *end;
    if (argc != 4)
        return cli_usage("", "task MANIFEST LINE SPOOL runs one line of a sweep's manifest");
    unsigned long number = strtoul(argv[2], &end, 10);
    if (!number || *end)
        return cli_usage("", "task: the number of a line from 1 is expected, not '%s'", argv[2]);
    char *line = read_line(argv[1], number, &e);
    json_t *text = line ? json_loads(line, 0, &why) : NULL;
    if (line && !text)
        error_set(&e, ERROR_SYNTAX, "%s, line %lu is not JSON: %s", argv[1], number, why.text);
    bool good = text && run_job(text, argv[3], &e);
    json_decref(text);
    free(line);
    return good ? EXIT_DONE : cli_fail(&e);
}
