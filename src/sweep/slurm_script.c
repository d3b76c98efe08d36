/* What Slurm is given: the options of sbatch and the script of an array.
 *
 * The options stand in the script, for people who read it (--dry-run), and again on sbatch's command line, because
 * there they outrank the user's SBATCH_* variables. The script changes nothing in the environment: the tasks see that
 * of the sweep, as runs on one machine do. */
#include "sweep/slurm.h"

#include "base/shell_quote.h"

#include <ctype.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

/* In the name of a log, % begins one of Slurm's own names. */
static const char *log_pattern(const char *folder, struct arena *a)
{
    char *out = arena_alloc(a, 2 * strlen(folder) + sizeof "/log/%a.txt"), *to = out;
    for (const char *c = folder; *c; c++) {
        if (*c == '%')
            *to++ = '%';
        *to++ = *c;
    }
    strcpy(to, "/log/%a.txt");
    return out;
}

const char **slurm_options(const struct slurm_request *r, struct arena *a)
{
    enum { MOST = 16 };
    const char **list = arena_array(a, const char *, MOST);
    int n = 0;
    list[n++] = arena_printf(a, "--job-name=%s", r->name);
    list[n++] = r->throttle ? arena_printf(a, "--array=1-%u%%%u", r->tasks, r->throttle)
                            : arena_printf(a, "--array=1-%u", r->tasks);
    list[n++] = "--requeue";
    list[n++] = "--ntasks=1";
    list[n++] = "--export=ALL";
    list[n++] = arena_printf(a, "--output=%s", log_pattern(r->folder, a));
    list[n++] = "--open-mode=append";
    if (r->partition)
        list[n++] = arena_printf(a, "--partition=%s", r->partition);
    if (r->account)
        list[n++] = arena_printf(a, "--account=%s", r->account);
    if (r->time)
        list[n++] = arena_printf(a, "--time=%s", r->time);
    if (r->memory)
        list[n++] = arena_printf(a, "--mem=%s", r->memory);
    return list;
}

static bool fits_in_line(const char *word)
{
    for (const char *c = word; *c; c++)
        if (iscntrl((unsigned char)*c))
            return false;
    return true;
}

bool slurm_check(const struct slurm_request *r, struct error *e)
{
    const struct {
        const char *option, *value;
    } given[] = {
        {"partition", r->partition}, {"account", r->account}, {"slurm-time", r->time}, {"slurm-memory", r->memory}};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (given[i].value && !fits_in_line(given[i].value))
            return error_set(e, ERROR_INVALID,
                             "--%s is given a value with a line break or another control character in it",
                             given[i].option);
    return true;
}

/* An #SBATCH line is a comment to the shell, and ends with the line whatever the quotes: what does not fit into one is
 * on sbatch's command line alone. Single quotes do hold a line break in the command below. */
const char *slurm_script(const struct slurm_request *r, struct arena *a)
{
    const char *text = "#!/bin/sh\n# One run of an experiment a task; written by heddle sweep.\n";
    for (const char **option = slurm_options(r, a); *option; option++)
        text = fits_in_line(*option) ? arena_printf(a, "%s#SBATCH %s\n", text, shell_quote(*option, a))
                                     : arena_printf(a, "%s# %.*s: has a line break, and is given to sbatch itself\n",
                                                    text, (int)strcspn(*option, "="), *option);
    return arena_printf(a, "%sexec %s task %s \"$SLURM_ARRAY_TASK_ID\" %s\n", text, shell_quote(r->heddle, a),
                        shell_quote(arena_printf(a, "%s/manifest", r->folder), a), shell_quote(r->spool, a));
}

const char *slurm_name(const char *experiment, const char *folder, struct arena *a)
{
    const char *slash = strrchr(experiment, '/');
    char *base = arena_printf(a, "%.60s", slash ? slash + 1 : experiment);
    char *ini = strstr(base, ".ini");
    if (ini)
        *ini = '\0';
    for (char *c = base; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
            *c = '_';
    /* No two arrays of one cluster have the same name: by it an array is found whose number did not reach us. */
    char host[256] = "";
    struct timespec t;
    gethostname(host, sizeof host - 1);
    clock_gettime(CLOCK_REALTIME, &t);
    char *unique =
        arena_printf(a, "%s %s %ld %lld.%09ld", host, folder, (long)getpid(), (long long)t.tv_sec, t.tv_nsec);
    return arena_printf(a, "heddle-%s-%016llx", base, (unsigned long long)XXH3_64bits(unique, strlen(unique)));
}
