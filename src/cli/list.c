/* heddle list: what there is to choose from. Each list comes from where the things themselves are: folders, machine files, the glossary. */
#include "cli/cli.h"
#include "cli/text_table.h"
#include "gpu/gpu.h"

#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char help[] =
    "Usage: heddle list workloads|machines|metrics|schedulers|l1|divergence [--markdown]\n"
    "\n"
    "  workloads    programs that 'heddle run NAME' knows\n"
    "  machines     GPUs to simulate, for 'heddle run -m NAME'\n"
    "  metrics      the counters in the results: unit, definition, Nsight Compute counter\n"
    "  schedulers, l1, divergence   policies (none in this version)\n"
    "\n"
    "      --markdown   metrics: as a table for a document\n"
    "  -h, --help       this text\n";

/* A workload says itself what it is: the second line of its --help. */
static void read_summary(const char *folder, const char *name, char *out, size_t size)
{
    char path[2 * PATH_MAX], line[512];
    int ends[2];
    out[0] = '\0';
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (pipe(ends) < 0)
        return;
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl(path, name, "--help", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *in = fdopen(ends[0], "r");
    for (int i = 0; in && fgets(line, sizeof line, in); i++)
        if (i == 1)
            snprintf(out, size, "%.*s", (int)strcspn(line, "\n"), line);
    if (in)
        fclose(in);
    if (pid > 0)
        waitpid(pid, NULL, 0);
}

static int list_workloads(const struct cli_places *places)
{
    static const char *const titles[] = {"workload", "what it does", NULL};
    struct cli_names names = cli_names_in(places->workloads, "");
    struct arena a = {0};
    struct text_table t = text_table_start(&a, titles);
    if (!names.count) {
        fprintf(stderr, "heddle list: no workloads in %s\n", places->workloads);
        return CLI_FAILED;
    }
    for (size_t i = 0; i < names.count; i++) {
        char summary[256];
        read_summary(places->workloads, names.names[i], summary, sizeof summary);
        text_table_cell(&t, "%s", names.names[i]);
        text_table_cell(&t, "%s", summary);
    }
    text_table_print(&t, "", stdout);
    arena_free(&a);
    cli_free_names(&names);
    return CLI_DONE;
}

static int list_machines(const struct cli_places *places)
{
    static const char *const titles[] = {"machine", ">cores", ">warps/core", ">blocks/core", ">registers/core", ">shared KiB/core", ">clock MHz", ">memory MiB", NULL};
    struct cli_names names = cli_names_in(places->machines, ".ini");
    struct arena a = {0};
    struct text_table t = text_table_start(&a, titles);
    int status = names.count ? CLI_DONE : CLI_FAILED;
    if (!names.count)
        fprintf(stderr, "heddle list: no machine files in %s\n", places->machines);
    for (size_t i = 0; i < names.count; i++) {
        struct machine m;
        struct error e = {0};
        char path[2 * PATH_MAX];
        snprintf(path, sizeof path, "%s/%s.ini", places->machines, names.names[i]);
        if (!machine_load(&m, path, &e)) {
            fprintf(stderr, "%s\n", e.text);
            status = CLI_FAILED;
            continue;
        }
        text_table_cell(&t, "%s", names.names[i]);
        text_table_cell(&t, "%u", m.cores);
        text_table_cell(&t, "%u", m.warps_per_core);
        text_table_cell(&t, "%u", m.blocks_per_core);
        text_table_cell(&t, "%u", m.registers_per_core);
        text_table_cell(&t, "%u", m.shared_bytes_per_core >> 10);
        text_table_cell(&t, "%u", m.clock_khz / 1000);
        text_table_cell(&t, "%llu", (unsigned long long)(m.memory_bytes >> 20));
    }
    if (names.count)
        text_table_print(&t, "", stdout);
    arena_free(&a);
    cli_free_names(&names);
    return status;
}

static const struct metric { const char *name, *unit, *definition, *nsight; } metrics[] = {
#define METRIC(name, unit, definition, nsight) {name, unit, definition, nsight},
#include "cli/metrics.def"
#undef METRIC
};
enum { METRIC_COUNT = sizeof metrics / sizeof *metrics };

static int list_metrics(bool markdown)
{
    if (markdown)
        puts("| name | unit | definition | Nsight Compute |\n|---|---|---|---|");
    for (int i = 0; i < METRIC_COUNT; i++) {
        const struct metric *m = &metrics[i];
        if (markdown) {
            printf("| `%s` | %s | %s | %s%s%s |\n", m->name, m->unit, m->definition, *m->nsight ? "`" : "", m->nsight, *m->nsight ? "`" : "");
            continue;
        }
        printf("%s (%s)\n    %s\n", m->name, m->unit, m->definition);
        if (*m->nsight)
            printf("    Nsight Compute: %s\n", m->nsight);
    }
    return CLI_DONE;
}

static int list_policies(const char *what)
{
    printf("No %s in this version: policies come with the timing model.\n", what);
    return CLI_DONE;
}

int cli_list(int argc, char **argv)
{
    static const struct option table[] = {{"markdown", no_argument, NULL, 'M'}, {"help", no_argument, NULL, 'h'}, {0}};
    static const char *const lists[] = {"workloads", "machines", "metrics", "schedulers", "l1", "divergence"};
    bool markdown = false;
    int c;
    optind = 0;
    opterr = 0;
    while ((c = getopt_long(argc, argv, "h", table, NULL)) != -1) {
        if (c == 'h') {
            fputs(help, stdout);
            return CLI_DONE;
        }
        if (c != 'M')
            return cli_unknown_option("list", argv[optind - 1], table);
        markdown = true;
    }
    if (optind == argc)
        return cli_usage("list", "what? One of workloads, machines, metrics, schedulers, l1, divergence");
    if (optind + 1 < argc)
        return cli_usage("list", "one list at a time; what is '%s'?", argv[optind + 1]);
    const char *what = argv[optind];
    struct cli_places places;
    struct error e = {0};
    if (!cli_find_places(&places, &e))
        return cli_fail(&e);
    if (markdown && strcmp(what, "metrics"))
        return cli_usage("list", "--markdown is for metrics only");
    if (!strcmp(what, "workloads"))
        return list_workloads(&places);
    if (!strcmp(what, "machines"))
        return list_machines(&places);
    if (!strcmp(what, "metrics"))
        return list_metrics(markdown);
    if (!strcmp(what, "schedulers"))
        return list_policies("schedulers");
    if (!strcmp(what, "l1"))
        return list_policies("L1 policies");
    if (!strcmp(what, "divergence"))
        return list_policies("divergence units");
    const char *near = nearest_name(what, lists, sizeof lists / sizeof *lists);
    if (near)
        return cli_usage("list", "no list of '%s'; did you mean '%s'?", what, near);
    return cli_usage("list", "no list of '%s'", what);
}
