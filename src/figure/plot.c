/* --pdf: for each figure FOLDER/NAME.gp, NAME.dat and, by gnuplot, NAME.pdf. Without gnuplot all scripts and data are
 * written, then the error says what to install. */
#include "figure/plot.h"
#include "figure/report_parts.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct plots {
    struct arena *arena;
    const char *folder;
    bool lacks_gnuplot; /* it was looked for in vain: scripts and data are all that is written */
};

static bool make_folder(const char *path, struct error *e)
{
    struct stat info;
    if (!mkdir(path, 0777) || (errno == EEXIST && !stat(path, &info) && S_ISDIR(info.st_mode)))
        return true;
    return error_set(e, ERROR_IO, "%s: cannot make this folder: %s", path, strerror(errno));
}

/* A file's name out of a figure's: what a shell or LaTeX would trip over becomes '-'. */
static const char *file_name(struct arena *a, const struct report_experiment *r, bool several, const char *figure)
{
    char *name = several ? arena_printf(a, "%s-%s-%s", r->experiment.name, r->stored->size, figure)
                         : arena_printf(a, "%s", figure);
    for (char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("-_", *at))
            *at = '-';
    return name;
}

static bool close_file(FILE *f, const char *path, struct error *e)
{
    bool failed = ferror(f);
    if (fclose(f) || failed)
        return error_set(e, ERROR_IO, "%s: cannot be written: %s", path, strerror(errno));
    return true;
}

/* Runs gnuplot in the folder; what it says goes to a file, whose first line is the message. True where there is no
 * gnuplot, too. */
static bool spawn_gnuplot(struct plots *p, const char *script, const char *log, int *status, struct error *e)
{
    posix_spawn_file_actions_t actions;
    char *words[] = {"gnuplot", (char *)script, NULL};
    pid_t child;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    posix_spawn_file_actions_addchdir_np(&actions, p->folder);
    int failed = posix_spawnp(&child, "gnuplot", &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed == ENOENT) {
        p->lacks_gnuplot = true;
        return true;
    }
    if (failed)
        return error_set(e, ERROR_IO, "gnuplot: cannot be started: %s", strerror(failed));
    while (waitpid(child, status, 0) < 0)
        if (errno != EINTR)
            return error_set(e, ERROR_IO, "gnuplot: %s", strerror(errno));
    return true;
}

static bool gnuplot_failed(const char *script, const char *log, struct error *e)
{
    char line[300];
    error_set(e, ERROR_IO, "gnuplot failed for %s:", script);
    FILE *f = fopen(log, "re");
    for (int i = 0; f && i < 8 && fgets(line, sizeof line, f); i++) {
        line[strcspn(line, "\n")] = '\0';
        if (*line)
            error_note(e, "%s", line);
    }
    if (f)
        fclose(f);
    unlink(log);
    return false;
}

static bool draw(struct plots *p, const char *name, struct error *e)
{
    const char *script = arena_printf(p->arena, "%s.gp", name),
               *log = arena_printf(p->arena, "%s/%s.log", p->folder, name);
    int status = 0;
    bool good = p->lacks_gnuplot || spawn_gnuplot(p, script, log, &status, e);
    if (good && status)
        return gnuplot_failed(arena_printf(p->arena, "%s/%s", p->folder, script), log, e);
    unlink(log);
    return good;
}

/* Writes the script and the data of one plot; false: there is nothing to draw. */
typedef bool plot_writer(FILE *script, FILE *data, const void *what, const char *data_name, const char *pdf_name);

static bool plot_with(struct plots *p, const char *name, plot_writer *write, const void *what, struct error *e)
{
    struct arena *a = p->arena;
    const char *script_path = arena_printf(a, "%s/%s.gp", p->folder, name),
               *data_path = arena_printf(a, "%s/%s.dat", p->folder, name);
    FILE *script = fopen(script_path, "we"), *data = script ? fopen(data_path, "we") : NULL;
    if (!data) {
        error_set(e, ERROR_IO, "%s: cannot be written: %s", script ? data_path : script_path, strerror(errno));
        if (script)
            fclose(script);
        return false;
    }
    bool any = write(script, data, what, arena_printf(a, "%s.dat", name), arena_printf(a, "%s.pdf", name));
    bool good = close_file(script, script_path, e);
    good = close_file(data, data_path, e) && good;
    if (!any) { /* nothing to draw: no empty frame, and no file that looks like one */
        unlink(script_path);
        unlink(data_path);
        return good;
    }
    return good && draw(p, name, e);
}

static bool write_figure(FILE *script, FILE *data, const void *what, const char *data_name, const char *pdf_name)
{
    return plot_script(script, data, what, data_name, pdf_name);
}

/* One pair of a figure on other machines. */
struct pair {
    const struct robust_data *data;
    const struct robust_judgement *judgement;
};

static bool write_pair(FILE *script, FILE *data, const void *what, const char *data_name, const char *pdf_name)
{
    const struct pair *p = what;
    return robust_plot_script(script, data, p->data, p->judgement, data_name, pdf_name);
}

static bool plot_figure(struct plots *p, const char *name, const struct figure_data *d,
                        const struct robust_data *robust, struct error *e)
{
    bool good = plot_with(p, name, write_figure, d, e);
    for (uint32_t i = 0, number = 0; good && i < robust->judgement_count; i++) {
        struct pair pair = {robust, &robust->judgements[i]};
        if (!pair.judgement->is_claim && !pair.judgement->is_close)
            good = plot_with(p, arena_printf(p->arena, "%s-robust-%u", name, ++number), write_pair, &pair, e);
    }
    return good;
}

static bool no_gnuplot(const char *folder, struct error *e)
{
    error_set(e, ERROR_NOT_FOUND, "no PDF files: gnuplot, which draws them, is not installed");
    error_note(e, "install it (Debian, Ubuntu: apt-get install gnuplot-nox); the scripts and their data are in %s",
               folder);
    return false;
}

bool report_write_pdf(struct store *s, const char *folder, const struct report_options *o, struct error *e)
{
    struct arena a = {0};
    struct plots p = {.arena = &a, .folder = folder};
    struct report_experiment *list;
    uint32_t count;
    bool good = report_select(&a, s, o, &list, &count, e) && make_folder(folder, e);
    for (uint32_t i = 0; good && i < count; i++)
        for (uint32_t f = 0; good && f < list[i].figure_count; f++)
            good = plot_figure(&p, file_name(&a, &list[i], count > 1, list[i].figures[f].figure->name),
                               &list[i].figures[f], &list[i].robust[f], e);
    arena_free(&a);
    return good && (!p.lacks_gnuplot || no_gnuplot(folder, e));
}
