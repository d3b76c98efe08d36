/* Records as files in the spool: made whole or not at all, and kept over a loss of power. */
#include "sweep/job_record.h"

#include "base/out_of_memory.h"
#include "base/version.h"
#include "gpu/gpu.h"
#include "store/record.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { HOST_BYTES = 256, DAY_SECONDS = 86400 };
static const char scratch_mark[] = ".tmp.";

static void host_name(char host[HOST_BYTES])
{
    if (gethostname(host, HOST_BYTES) != 0)
        snprintf(host, HOST_BYTES, "unknown");
    host[HOST_BYTES - 1] = '\0';
}

/* ------------------------------------------------------------- contents */

json_t *job_text(const char *text, size_t length)
{
    char *copy = malloc(length + 1);
    if (!copy)
        out_of_memory();
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        copy[i] = (c < 32 && c != '\n' && c != '\t') || c == 127 ? '?' : (char)c;
    }
    copy[length] = '\0';
    json_t *string = json_stringn(copy, length);
    for (size_t i = 0; !string && i < length; i++)
        if ((unsigned char)copy[i] > 126)
            copy[i] = '?';
    if (!string)
        string = json_stringn(copy, length);
    free(copy);
    return string;
}

static json_t *text(const char *string) { return job_text(string, strlen(string)); }

static json_t *texts(const char **words)
{
    json_t *list = json_array();
    for (; words && *words; words++)
        json_array_append_new(list, text(*words));
    return list;
}

/* Name and text of the machine as it is resolved; the job's word for it where it cannot be read any more. */
static void put_machine(json_t *record, const struct job *j)
{
    struct machine *m = calloc(1, sizeof *m);
    uint32_t sets = 0;
    char *resolved = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&resolved, &size);
    if (!m || !to)
        out_of_memory();
    while (j->sets[sets])
        sets++;
    bool good = machine_load(m, j->machine, j->sets, sets, NULL);
    if (good)
        machine_print(m, to);
    fclose(to);
    json_object_set_new(record, "machine", text(good ? m->name : j->machine));
    json_object_set_new(record, "machine_text", job_text(resolved, size));
    free(resolved);
    free(m);
}

/* A file's place in a probe is where it ends up. */
static void put_probes(json_t *record, const struct job *j)
{
    json_t *list = json_array();
    for (const char **probe = j->probes; probe && *probe; probe++) {
        char *word = job_word(j, *probe, j->output);
        json_array_append_new(list, text(word));
        free(word);
    }
    json_object_set_new(record, "probes", list);
}

json_t *job_record_new(const struct job *j, long long when)
{
    char host[HOST_BYTES], start[64], *command = job_command(j);
    time_t seconds = (time_t)when;
    struct tm utc;
    host_name(host);
    gmtime_r(&seconds, &utc);
    strftime(start, sizeof start, "%Y-%m-%dT%H:%M:%SZ", &utc);
    json_t *record = json_object();
    json_object_set_new(record, "key", text(j->key));
    json_object_set_new(record, "program", text(j->program));
    json_object_set_new(record, "arguments", texts(j->words + 1));
    json_object_set_new(record, "command", text(command));
    put_machine(record, j);
    json_object_set_new(record, "sets", texts(j->sets));
    json_object_set_new(record, "scheduler", text(j->scheduler));
    json_object_set_new(record, "l1", text(j->l1));
    json_object_set_new(record, "divergence", text(j->divergence));
    put_probes(record, j);
    json_object_set_new(record, "version", text(version_with_commit));
    json_object_set_new(record, "epoch", json_integer(GPU_TIMING_EPOCH));
    json_object_set_new(record, "host", text(host));
    json_object_set_new(record, "when", text(start));
    json_object_set_new(record, "wall_seconds", json_real(0));
    json_object_set_new(record, "exit", json_integer(0));
    json_object_set_new(record, "failure", json_null());
    json_object_set_new(record, "log", text(""));
    json_object_set_new(record, "stats", json_null());
    free(command);
    return record;
}

bool job_record_failure(const struct job *j, const char *spool, const char *why, int exit, struct error *e)
{
    json_t *record = job_record_new(j, (long long)time(NULL));
    json_object_set_new(record, "failure", text(why));
    json_object_set_new(record, "exit", json_integer(exit));
    bool good = job_record_write(record, j->key, spool, e);
    json_decref(record);
    return good;
}

/* ------------------------------------------------------------- files */

void job_scratch_name(char *out, size_t size, const char *spool, const char *key, const char *suffix)
{
    char host[HOST_BYTES];
    host_name(host);
    snprintf(out, size, "%.3500s/%s.%s%s%.200s.%ld", spool, key, suffix, scratch_mark, host, (long)getpid());
}

static bool write_all(int fd, const char *text, size_t size)
{
    while (size) {
        ssize_t n = write(fd, text, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        text += n;
        size -= (size_t)n;
    }
    return true;
}

static bool write_file(const char *path, const char *text, size_t size, struct error *e)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return error_set(e, ERROR_IO, "cannot write %s: %s", path, strerror(errno));
    bool good = write_all(fd, text, size) && fsync(fd) == 0;
    int why = errno;
    if (close(fd) != 0 && good) {
        good = false;
        why = errno;
    }
    if (good)
        return true;
    unlink(path);
    return error_set(e, ERROR_IO, "cannot write %s: %s", path, strerror(why));
}

/* A name is safe on the disk when its folder is. */
static bool flush_folder(const char *folder, struct error *e)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL); /* EINVAL: a file system that has no such thing */
    if (!good)
        error_set(e, ERROR_IO, "cannot write %s: %s", folder, strerror(errno));
    if (fd >= 0)
        close(fd);
    return good;
}

bool job_record_write(const json_t *record, const char *key, const char *spool, struct error *e)
{
    char scratch[PATH_MAX], path[PATH_MAX];
    job_scratch_name(scratch, sizeof scratch, spool, key, "json");
    snprintf(path, sizeof path, "%.4000s/%s.json", spool, key);
    char *text = json_dumps(record, JSON_COMPACT);
    if (!text)
        return error_set(e, ERROR_NO_MEMORY, "no memory for the record of a run");
    bool good = write_file(scratch, text, strlen(text), e);
    free(text);
    if (good && rename(scratch, path) != 0) {
        good = error_set(e, ERROR_IO, "cannot write %s: %s", path, strerror(errno));
        unlink(scratch);
    }
    return good && flush_folder(spool, e);
}

bool job_is_recorded(const char *key, const char *spool)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.4000s/%s.json", spool, key);
    json_t *record = json_load_file(path, 0, NULL);
    bool good = record && json_is_null(json_object_get(record, "failure"));
    json_decref(record);
    return good;
}

/* A process that has ended may keep its number for a while, until its parent asks how it ended. */
static bool has_ended(pid_t process)
{
    char path[64], text[512];
    if (kill(process, 0) != 0 && errno == ESRCH)
        return true;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)process);
    FILE *f = fopen(path, "r");
    size_t length = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f)
        fclose(f);
    text[length] = '\0';
    const char *name_end = strrchr(text, ')'); /* "number (name) state ..." */
    return name_end && name_end[1] == ' ' && name_end[2] == 'Z';
}

/* Whether "KEY.json.tmp.HOST.PID" is nobody's any more; what follows the number of the process is an ending. */
static bool is_left_over(const char *spool, const char *name)
{
    char host[HOST_BYTES], path[PATH_MAX];
    const char *mark = strstr(name, scratch_mark);
    struct stat s;
    if (!mark)
        return false;
    host_name(host);
    const char *owner = mark + strlen(scratch_mark), *number = owner + strlen(host) + 1;
    bool here = !strncmp(owner, host, strlen(host)) && number[-1] == '.' && isdigit((unsigned char)*number);
    if (here && has_ended((pid_t)strtol(number, NULL, 10)))
        return true;
    snprintf(path, sizeof path, "%.3800s/%.255s", spool, name);
    return stat(path, &s) == 0 && s.st_mtime < time(NULL) - DAY_SECONDS;
}

void job_spool_clean(const char *spool)
{
    DIR *d = opendir(spool);
    for (struct dirent *entry; d && (entry = readdir(d));)
        if (is_left_over(spool, entry->d_name))
            unlinkat(dirfd(d), entry->d_name, 0);
    if (d)
        closedir(d);
}

void job_journal(const char *what, const char *key)
{
    const char *path = getenv("HEDDLE_SWEEP_JOURNAL");
    char line[128];
    if (!path || !*path)
        return;
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    int length = snprintf(line, sizeof line, "%s %s\n", what, key);
    if (fd < 0)
        return;
    write_all(fd, line, (size_t)length);
    close(fd);
}
