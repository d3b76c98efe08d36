/* A batch in its folder: written before its array is submitted, read back by a later sweep that wants to know what an
 * earlier one left in Slurm's queue.
 *
 *   manifest    one job per line (job_to_json), line n for task n
 *   script.sh   as it was submitted
 *   name        of the array
 *   number      Slurm's number of it: sbatch itself writes it there, so that it is kept even when the sweep is killed
 * meanwhile log/N.txt   what task N printed
 *
 * manifest and name are on the disk before sbatch is started. A folder without a whole name and manifest is one that
 * was never submitted. */
#include "sweep/slurm.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const file_names[] = {"manifest", "script.sh", "name", "number"};

static bool sync_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return good;
}

static bool cannot_write(const char *folder, const char *name, struct error *e)
{
    return error_set(e, ERROR_IO, "cannot write %s/%s: %s", folder, name, strerror(errno));
}

static FILE *create(const char *folder, const char *name, struct error *e)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "we");
    if (!f)
        cannot_write(folder, name, e);
    return f;
}

/* Closes it once its contents are on the disk. */
static bool finish(FILE *f, const char *folder, const char *name, struct error *e)
{
    bool good = fflush(f) == 0 && fsync(fileno(f)) == 0;
    int why = errno;
    good = fclose(f) == 0 && good;
    errno = why;
    return good || cannot_write(folder, name, e);
}

static bool write_text(const char *folder, const char *name, const char *text, struct error *e)
{
    FILE *f = create(folder, name, e);
    if (!f)
        return false;
    fputs(text, f);
    return finish(f, folder, name, e);
}

static bool write_manifest(const struct slurm_batch *b, const struct job *jobs, struct error *e)
{
    FILE *f = create(b->folder, "manifest", e);
    if (!f)
        return false;
    for (uint32_t t = 0; t < b->task_count; t++) {
        json_t *line = job_to_json(&jobs[b->tasks[t].job]);
        json_dumpf(line, f, JSON_COMPACT);
        fputc('\n', f);
        json_decref(line);
    }
    return finish(f, b->folder, "manifest", e);
}

static bool make_folder(const char *path, struct error *e)
{
    return mkdir(path, 0777) == 0 || error_set(e, ERROR_IO, "cannot make the folder %s: %s", path, strerror(errno));
}

bool slurm_batch_write(const struct slurm_batch *b, const char *script, const struct job *jobs, struct error *e)
{
    char log[PATH_MAX];
    snprintf(log, sizeof log, "%s/log", b->folder);
    if (!make_folder(b->folder, e))
        return false;
    bool good = make_folder(log, e) && write_manifest(b, jobs, e) && write_text(b->folder, "script.sh", script, e) &&
                write_text(b->folder, "name", b->name, e);
    if (good && !sync_folder(b->folder))
        good = cannot_write(b->folder, "name", e);
    if (!good)
        slurm_batch_remove(b->folder);
    return good;
}

bool slurm_batch_set_number(const struct slurm_batch *b, struct error *e)
{
    char text[32];
    snprintf(text, sizeof text, "%llu\n", (unsigned long long)b->number);
    return write_text(b->folder, "number", text, e);
}

/* A whole file, with a zero after it; NULL: it cannot be read. */
static char *read_file(const char *folder, const char *name, struct arena *a)
{
    char path[PATH_MAX];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    char *text = fstat(fd, &st) == 0 ? arena_alloc(a, (size_t)st.st_size + 1) : NULL;
    for (off_t at = 0; text && at < st.st_size;) {
        ssize_t n = read(fd, text + at, (size_t)(st.st_size - at));
        if (n <= 0 && !(n < 0 && errno == EINTR))
            text = NULL;
        at += n > 0 ? n : 0;
    }
    close(fd);
    return text;
}

static bool read_key(const char *line, size_t length, struct slurm_task *t, struct arena *a)
{
    json_t *job = json_loadb(line, length, 0, NULL);
    const char *key = json_string_value(json_object_get(job, "key"));
    bool good = key && strlen(key) == KEY_BYTES - 1;
    if (good)
        *t = (struct slurm_task){.key = arena_strndup(a, key, KEY_BYTES - 1), .job = SLURM_NO_JOB};
    json_decref(job);
    return good;
}

bool slurm_batch_read(struct slurm_batch *b, const char *folder, struct arena *a)
{
    const char *manifest = read_file(folder, "manifest", a), *name = read_file(folder, "name", a),
               *number = read_file(folder, "number", a), *line;
    if (!manifest || !name || strncmp(name, "heddle-", 7))
        return false;
    *b = (struct slurm_batch){.folder = folder, .name = name, .number = number ? slurm_job_number(number) : 0};
    for (const char *c = manifest; *c; c++)
        b->task_count += *c == '\n';
    b->tasks = arena_array(a, struct slurm_task, b->task_count + 1);
    size_t length;
    for (uint32_t t = 0; t < b->task_count; t++)
        if (!(line = slurm_next_line(&manifest, &length)) || !read_key(line, length, &b->tasks[t], a))
            return false;
    return b->task_count > 0;
}

static void remove_logs(const char *folder)
{
    char log[PATH_MAX], path[PATH_MAX + 300];
    snprintf(log, sizeof log, "%s/log", folder);
    DIR *d = opendir(log);
    for (struct dirent *entry; d && (entry = readdir(d));) {
        snprintf(path, sizeof path, "%s/%s", log, entry->d_name);
        if (entry->d_name[0] != '.')
            unlink(path);
    }
    if (d)
        closedir(d);
    rmdir(log);
}

/* The manifest first: a task that Slurm starts in spite of all finds nothing to do. What cannot be removed now is tried
 * again by the next sweep. */
void slurm_batch_remove(const char *folder)
{
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof file_names / sizeof *file_names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, file_names[i]);
        unlink(path);
    }
    remove_logs(folder);
    rmdir(folder);
}

const char *slurm_task_log(const struct slurm_batch *b, uint32_t task, struct arena *a)
{
    return arena_printf(a, "%s/log/%u.txt", b->folder, task + 1);
}

/* 0: not the name of a batch's folder. */
static unsigned long folder_number(const char *name)
{
    char *end;
    if (strncmp(name, "slurm-", 6) || !isdigit((unsigned char)name[6]))
        return 0;
    unsigned long n = strtoul(name + 6, &end, 10);
    return *end ? 0 : n;
}

static int by_number(const void *a, const void *b)
{
    unsigned long x = folder_number(strrchr(*(const char *const *)a, '/') + 1),
                  y = folder_number(strrchr(*(const char *const *)b, '/') + 1);
    return (x > y) - (x < y);
}

const char **slurm_folders(const char *spool, struct arena *a, uint32_t *count)
{
    uint32_t capacity = 16;
    const char **list = arena_array(a, const char *, capacity);
    *count = 0;
    DIR *d = opendir(spool);
    for (struct dirent *entry; d && (entry = readdir(d));) {
        if (!folder_number(entry->d_name))
            continue;
        if (*count == capacity) {
            const char **old = list;
            list = arena_array(a, const char *, 2 * capacity);
            memcpy(list, old, capacity * sizeof *list);
            capacity *= 2;
        }
        list[(*count)++] = arena_printf(a, "%s/%s", spool, entry->d_name);
    }
    if (d)
        closedir(d);
    qsort(list, *count, sizeof *list, by_number);
    return list;
}

const char *slurm_next_folder(const char *spool, struct arena *a)
{
    uint32_t count;
    const char **folders = slurm_folders(spool, a, &count);
    return arena_printf(a, "%s/slurm-%lu", spool, count ? folder_number(strrchr(folders[count - 1], '/') + 1) + 1 : 1);
}
