/* Files that runs write for others. They lie in a folder beside the store under the keys of their runs; a run writes
 * beside that name and renames when it has ended well, so that a file is whole or not there. */
#include "base/out_of_memory.h"
#include "sweep/job.h"
#include "sweep/job_record.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------- names */

/* The '@' that stands for a run's file in one of its words, or NULL: that of a value, not that of a path. */
static const char *find_mark(const char *word)
{
    const char *mark = strchr(word, '@');
    while (mark && mark != word && mark[-1] != '=')
        mark = strchr(mark + 1, '@');
    return mark;
}

/* After '@': what the name of the file ends in, which some programs go by ('@.csv'). Its length; 0: nothing. */
static int ending_length(const char *mark) { return mark[1] == '.' ? (int)strcspn(mark + 1, ",") : 0; }

static const char *ending_of(const struct job *j, int *length)
{
    const char **const lists[] = {j->probes, j->options};
    *length = 0;
    for (int i = 0; i < 2; i++)
        for (const char **word = lists[i]; word && *word; word++) {
            const char *mark = find_mark(*word);
            if (mark && (*length = ending_length(mark)))
                return mark + 1;
        }
    return "";
}

static const char *path_of(const struct job *j, const char *folder, struct arena *a)
{
    int length;
    const char *ending = ending_of(j, &length);
    return arena_printf(a, "%s/%s%.*s", folder, j->key, length, ending);
}

/* =@KEY of each input becomes =PATH. */
static const char *place(const struct job *j, const char *text, const char *folder, struct arena *a)
{
    for (const struct job *const *in = j->inputs; *in; in++) {
        const char *mark = arena_printf(a, "=@%s", (*in)->key), *path = path_of(*in, folder, a);
        for (const char *at; (at = strstr(text, mark));)
            text = arena_printf(a, "%.*s=%s%s", (int)(at - text), text, path, at + strlen(mark));
    }
    return text;
}

static void place_words(const struct job *j, const char ***words, const char *folder, struct arena *a)
{
    uint32_t count = 0;
    while ((*words)[count])
        count++;
    const char **placed = arena_array(a, const char *, count + 1);
    for (uint32_t i = 0; i < count; i++)
        placed[i] = place(j, (*words)[i], folder, a);
    *words = placed;
}

bool jobs_place_files(struct job *jobs, uint32_t count, const char *folder, struct arena *a, struct error *e)
{
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        struct job *j = &jobs[i];
        if (j->input)
            j->output = path_of(j, folder, a);
        any = any || j->input;
        if (!*j->inputs)
            continue;
        any = true;
        j->scheduler = place(j, j->scheduler, folder, a);
        j->l1 = place(j, j->l1, folder, a);
        j->divergence = place(j, j->divergence, folder, a);
        place_words(j, &j->probes, folder, a);
    }
    if (!any || !strchr(folder, ','))
        return true;
    error_set(e, ERROR_INVALID,
              "%s: files of inputs cannot be named there: their path is a value of a policy's spec, where ',' ends it",
              folder);
    error_note(e, "-o FILE puts the store, and these files beside it, elsewhere");
    return false;
}

bool job_file_is_made(const struct job *j)
{
    struct stat s;
    return j->output && stat(j->output, &s) == 0 && S_ISREG(s.st_mode) && s.st_size > 0;
}

char *job_word(const struct job *j, const char *word, const char *path)
{
    const char *mark = path && j->input ? find_mark(word) : NULL;
    char *text = NULL;
    int length = mark ? asprintf(&text, "%.*s%s%s", (int)(mark - word), word, path, mark + 1 + ending_length(mark))
                      : asprintf(&text, "%s", word);
    if (length < 0)
        out_of_memory();
    return text;
}

/* ------------------------------------------------------------- files */

void job_file_scratch(const struct job *j, char *out, size_t size)
{
    char folder[PATH_MAX];
    int length;
    const char *ending = ending_of(j, &length);
    snprintf(folder, sizeof folder, "%s", j->output);
    char *slash = strrchr(folder, '/');
    *(slash ? slash : folder) = '\0';
    job_scratch_name(out, size, folder, j->key, "part");
    size_t used = strlen(out);
    snprintf(out + used, size - used, "%.*s", length, ending);
}

static bool flush(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool good = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);
    if (fd >= 0)
        close(fd);
    return good;
}

bool job_file_keep(const struct job *j, const char *scratch, char *why, size_t why_bytes)
{
    struct stat s;
    bool there = stat(scratch, &s) == 0;
    if (!there || s.st_size == 0) {
        snprintf(why, why_bytes, "it ended well, but %s what it should have written for input %s",
                 there ? "nothing is in" : "there is nothing of", j->input);
        return false;
    }
    if (flush(scratch) && rename(scratch, j->output) == 0)
        return true;
    snprintf(why, why_bytes, "its file %s cannot be written: %s", j->output, strerror(errno));
    return false;
}
