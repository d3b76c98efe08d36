/* What somebody meant who typed a command that is not there: a file or a workload to run, the beginning of a command, a
 * word for one, or a slip of the fingers. Where nothing of that fits, nothing is proposed. */
#include "cli/command_hint.h"

#include "program/places.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST = 24 };

/* Other people's words for it, and the lists, which are no commands. */
static const struct {
    const char *word, *command;
} words[] = {
    {"exec", "run"},
    {"simulate", "run"},
    {"start", "run"},
    {"launch", "run"},
    {"profile", "run"},
    {"experiment", "sweep"},
    {"batch", "sweep"},
    {"resume", "sweep"},
    {"plot", "report"},
    {"figure", "report"},
    {"figures", "report"},
    {"page", "report"},
    {"html", "report"},
    {"rescue", "report"},
    {"reproduce", "repro"},
    {"paper", "repro"},
    {"cfg", "inspect"},
    {"ptx", "inspect"},
    {"disassemble", "inspect"},
    {"dump", "inspect"},
    {"replay", "cache"},
    {"trace", "cache"},
    {"diff", "compare"},
    {"why", "compare"},
    {"check", "doctor"},
    {"diagnose", "doctor"},
    {"show", "list"},
    {"workloads", "list workloads"},
    {"machines", "list machines"},
    {"metrics", "list metrics"},
    {"schedulers", "list schedulers"},
    {"policies", "list schedulers"},
    {"probes", "list probes"},
    {"experiments", "list experiments"},
    {"version", "--version"},
    {"usage", "--help"},
};

static const struct {
    const char *ending, *command;
} files[] = {
    {".ptx", "inspect"},
    {".db", "report"},
    {".ini", "sweep"},
    {"", "run"},
};

/* Letters that are wrong, missing, too many, or two that changed places. */
static uint32_t slips(const char *a, const char *b)
{
    size_t la = strlen(a), lb = strlen(b);
    uint32_t d[LONGEST + 1][LONGEST + 1];
    if (la > LONGEST || lb > LONGEST)
        return LONGEST;
    for (size_t i = 0; i <= la; i++)
        for (size_t j = 0; j <= lb; j++) {
            if (!i || !j) {
                d[i][j] = (uint32_t)(i + j);
                continue;
            }
            uint32_t best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            best = d[i - 1][j] + 1 < best ? d[i - 1][j] + 1 : best;
            best = d[i][j - 1] + 1 < best ? d[i][j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[la][lb];
}

static void propose(char *out, size_t size, const char *command, const char *rest)
{
    size_t used = strlen(out);
    snprintf(out + used, size - used, "%s'%s%s%s'", used ? " or " : "", command, *rest ? " " : "", rest);
}

static bool ends_in(const char *word, const char *ending)
{
    size_t n = strlen(word), m = strlen(ending);
    return n > m && !strcmp(word + n - m, ending);
}

static void for_file(const char *word, char *out, size_t size)
{
    struct places places;
    struct error e = {0};
    char workload[2 * PATH_MAX];
    struct stat s;
    bool found = stat(word, &s) == 0 && S_ISREG(s.st_mode);
    if (!found && !strchr(word, '/') && places_find(&places, &e)) {
        snprintf(workload, sizeof workload, "%s/%s", places.workloads, word);
        found = access(workload, X_OK) == 0;
    }
    for (size_t i = 0; found && !*out && i < sizeof files / sizeof *files; i++)
        if (ends_in(word, files[i].ending))
            propose(out, size, files[i].command, word);
}

/* The beginning of a command, or a command with more after it: "rep", "list-machines". */
static void for_beginning(const char *word, const char *const *names, size_t count, char *out, size_t size)
{
    for (size_t i = 0; strlen(word) >= 2 && i < count; i++)
        if (!strncmp(names[i], word, strlen(word)))
            propose(out, size, names[i], "");
    for (size_t i = 0; !*out && i < count; i++) {
        size_t n = strlen(names[i]);
        if (!strncmp(names[i], word, n) && strchr("-_:=", word[n]))
            propose(out, size, names[i], word + n + 1);
    }
}

/* One slip in short words, two in long ones; all that are equally near. */
static void for_slip(const char *word, const char *const *names, size_t count, char *out, size_t size)
{
    uint32_t nearest = strlen(word) < 3 ? 0 : strlen(word) < 6 ? 1 : 2;
    for (size_t i = 0; i < count; i++)
        nearest = slips(word, names[i]) < nearest ? slips(word, names[i]) : nearest;
    for (size_t i = 0; nearest && i < count; i++)
        if (slips(word, names[i]) == nearest)
            propose(out, size, names[i], "");
}

bool command_hint(const char *word, const char *const *names, size_t count, char *out, size_t size)
{
    out[0] = '\0';
    for_file(word, out, size);
    if (!*out)
        for_beginning(word, names, count, out, size);
    for (size_t i = 0; !*out && i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i].word, word))
            propose(out, size, words[i].command, "");
    if (!*out)
        for_slip(word, names, count, out, size);
    return *out;
}
