/* heddle list: what there is to choose from. Each list comes from where the things themselves are: folders, machine
 * files, the glossary. */
#include "cli/cli.h"
#include "cli/list_policies.h"
#include "cli/text_table.h"
#include "gpu/gpu.h"
#include "results/metrics.h"
#include "sweep/job.h"

#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char help[] =
    "Usage: heddle list workloads|machines|rules|experiments|metrics|schedulers|l1|divergence|probes|bundles\n"
    "                   [--markdown] [--names]\n"
    "       heddle list machines --keys\n"
    "       heddle list machines --import gpgpusim.config >mine.ini\n"
    "\n"
    "  workloads    programs that 'heddle run NAME' knows\n"
    "  machines     GPUs to simulate, for 'heddle run -m NAME'\n"
    "  rules        what machines do, by the rulebook that they follow: rules = NAME in a machine file\n"
    "  experiments  for 'heddle repro NAME' and 'heddle sweep NAME'\n"
    "  metrics      the counters in the results: unit, definition, Nsight Compute counter\n"
    "  schedulers   who issues next, for 'heddle run -s NAME': rule, parameters, storage\n"
    "  l1           L1 data cache policies, for 'heddle run --l1 NAME'\n"
    "  divergence   divergence units, for 'heddle run --divergence NAME'\n"
    "  probes       what listens and counts, for 'heddle run --probe NAME'\n"
    "  bundles      policies that belong together, for 'heddle run -p NAME'\n"
    "\n"
    "      --markdown   metrics, rules and policies: as a table for a document\n"
    "      --names      names alone, one per line, for scripts\n"
    "      --keys       machines: every key of a machine file, with its default, range and unit\n"
    "      --import FILE  machines: GPGPU-Sim's configuration as a machine file; what could not be carried over, on "
    "stderr\n"
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

static int list_workloads(const struct places *places)
{
    static const char *const titles[] = {"workload", "what it does", NULL};
    struct names names = names_in(places->workloads, "");
    struct arena a = {0};
    struct text_table t = text_table_start(&a, titles);
    if (!names.count) {
        fprintf(stderr, "heddle list: no workloads in %s\n", places->workloads);
        return EXIT_FAILED;
    }
    for (size_t i = 0; i < names.count; i++) {
        char summary[256];
        read_summary(places->workloads, names.names[i], summary, sizeof summary);
        text_table_cell(&t, "%s", names.names[i]);
        text_table_cell(&t, "%s", summary);
    }
    text_table_print(&t, "", stdout);
    arena_free(&a);
    names_free(&names);
    return EXIT_DONE;
}

static void add_machine(struct text_table *t, const struct machine *m)
{
    const struct cache_config *l1d = &m->sm.l1d;
    text_table_cell(t, "%s", m->name);
    text_table_cell(t, "%u", m->cores);
    text_table_cell(t, "%u", m->sm.warps);
    text_table_cell(t, "%u", m->sm.schedulers);
    text_table_cell(t, "%u", m->sm.registers);
    text_table_cell(t, "%u", m->sm.shared_bytes >> 10);
    text_table_cell(t, "%u", l1d->sets * l1d->ways * l1d->line_bytes >> 10);
    text_table_cell(t, "%u", machine_l2_bytes(m) >> 10);
    text_table_cell(t, "%llu", (unsigned long long)m->mem.core_khz / 1000);
    text_table_cell(t, "%s", m->scheduler);
}

static int list_machines(const struct places *places)
{
    static const char *const titles[] = {"machine",         ">cores",      ">warps/core", ">schedulers",
                                         ">registers/core", ">shared KiB", ">L1D KiB",    ">L2 KiB",
                                         ">core MHz",       "default",     NULL};
    struct names names = places_machine_names(places);
    struct arena a = {0};
    struct text_table t = text_table_start(&a, titles);
    int status = names.count ? EXIT_DONE : EXIT_FAILED;
    if (!names.count)
        fprintf(stderr, "heddle list: no machine files in %s\n", places->machines);
    for (size_t i = 0; i < names.count; i++) {
        struct machine m;
        struct error e = {0};
        if (!machine_load(&m, names.names[i], NULL, 0, &e)) {
            fprintf(stderr, "%s\n", e.text);
            status = EXIT_FAILED;
            continue;
        }
        add_machine(&t, &m);
    }
    if (names.count)
        text_table_print(&t, "", stdout);
    arena_free(&a);
    names_free(&names);
    return status;
}

static int list_experiments(const struct places *places)
{
    static const char *const titles[] = {"experiment", ">runs", ">figures", "size", "title", NULL};
    struct names names = names_in(places->experiments, ".ini");
    struct arena a = {0};
    struct text_table t = text_table_start(&a, titles);
    int status = names.count ? EXIT_DONE : EXIT_FAILED;
    if (!names.count)
        fprintf(stderr, "heddle list: no experiments in %s\n", places->experiments);
    for (size_t i = 0; i < names.count; i++) {
        struct experiment x = {0};
        struct job *jobs;
        struct error e = {0};
        char path[2 * PATH_MAX];
        snprintf(path, sizeof path, "%s/%s.ini", places->experiments, names.names[i]);
        if (!experiment_load(&x, &a, path, NULL, &e)) {
            fprintf(stderr, "%s\n", e.text);
            status = EXIT_FAILED;
            continue;
        }
        text_table_cell(&t, "%s", x.name);
        if (jobs_make(&x, places, &a, &jobs, &e)) {
            text_table_cell(&t, "%u", jobs_distinct(jobs, x.point_count));
        } else {
            fprintf(stderr, "%s\n", e.text);
            text_table_cell(&t, "-");
            status = EXIT_FAILED;
        }
        text_table_cell(&t, "%u", x.figure_count);
        text_table_cell(&t, "%s", x.size);
        text_table_cell(&t, "%s", x.title);
    }
    if (names.count)
        text_table_print(&t, "", stdout);
    arena_free(&a);
    names_free(&names);
    return status;
}

static int import_machine(const char *path)
{
    struct error e = {0};
    if (machine_import(path, stdout, stderr, &e))
        return EXIT_DONE;
    fprintf(stderr, "heddle: %s\n", e.text);
    return EXIT_USAGE; /* the file is the user's to mend */
}

static int list_metrics(bool markdown)
{
    if (markdown)
        puts("| name | unit | definition | over launches | Nsight Compute |\n|---|---|---|---|---|");
    for (uint32_t i = 0; i < result_metric_count; i++) {
        const struct result_metric *m = &result_metrics[i];
        if (markdown) {
            printf("| `%s` | %s | %s | %s | %s%s%s |\n", m->name, m->unit, m->help, m->total, *m->nsight ? "`" : "",
                   m->nsight, *m->nsight ? "`" : "");
            continue;
        }
        printf("%s (%s)\n    %s\n", m->name, m->unit, m->help);
        if (*m->nsight)
            printf("    Nsight Compute: %s\n", m->nsight);
    }
    return EXIT_DONE;
}

/* ------------------------------------------------------------- names alone */

static int print_names(struct names names)
{
    for (size_t i = 0; i < names.count; i++)
        puts(names.names[i]);
    names_free(&names);
    return EXIT_DONE;
}

/* The kind of policies that a list has; POLICY_KINDS: it is of something else. */
static int kind_listed(const char *what)
{
    static const char *const kinds[POLICY_KINDS] = {"schedulers", "l1", "divergence", "probes"};
    int kind = 0;
    while (kind < POLICY_KINDS && strcmp(what, kinds[kind]))
        kind++;
    return kind;
}

static int list_names(const char *what, const struct places *places)
{
    int kind = kind_listed(what);
    if (!strcmp(what, "workloads"))
        return print_names(names_in(places->workloads, ""));
    if (!strcmp(what, "machines"))
        return print_names(places_machine_names(places));
    if (!strcmp(what, "experiments"))
        return print_names(names_in(places->experiments, ".ini"));
    if (!strcmp(what, "rules"))
        return cli_usage("list", "--names is not for rules");
    for (uint32_t i = 0; !strcmp(what, "metrics") && i < result_metric_count; i++)
        puts(result_metrics[i].name);
    for (const struct policy_bundle *b = policy_bundles; !strcmp(what, "bundles") && b->name; b++)
        puts(b->name);
    if (kind < POLICY_KINDS)
        list_policy_names((enum policy_kind)kind);
    return kind < POLICY_KINDS || !strcmp(what, "metrics") || !strcmp(what, "bundles") ? EXIT_DONE : -1;
}

/* The list of that name; -1: there is none. */
static int list_named(const char *what, const struct places *places, bool markdown)
{
    if (!strcmp(what, "workloads"))
        return list_workloads(places);
    if (!strcmp(what, "machines"))
        return list_machines(places);
    if (!strcmp(what, "rules")) {
        machine_print_rules(stdout, markdown);
        return EXIT_DONE;
    }
    if (!strcmp(what, "experiments"))
        return list_experiments(places);
    if (!strcmp(what, "metrics"))
        return list_metrics(markdown);
    if (!strcmp(what, "bundles")) {
        list_bundles(policy_bundles, markdown);
        return EXIT_DONE;
    }
    int kind = kind_listed(what);
    if (kind == POLICY_KINDS)
        return -1;
    list_policies((enum policy_kind)kind, markdown);
    return EXIT_DONE;
}

int cli_list(int argc, char **argv)
{
    static const struct option table[] = {
        {"markdown", no_argument, NULL, 'M'},     {"names", no_argument, NULL, 'N'}, {"keys", no_argument, NULL, 'K'},
        {"import", required_argument, NULL, 'I'}, {"help", no_argument, NULL, 'h'},  {0}};
    static const char *const lists[] = {"workloads",  "machines", "rules",      "experiments", "metrics",
                                        "schedulers", "l1",       "divergence", "probes",      "bundles"};
    bool markdown = false, names = false, keys = false;
    const char *import = NULL;
    int c;
    optind = 0;
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":h", table, NULL)) != -1) {
        if (c == 'h') {
            fputs(help, stdout);
            return EXIT_DONE;
        }
        if (c == ':')
            return cli_usage("list", "%s needs a value", argv[optind - 1]);
        if (c == '?')
            return cli_unknown_option("list", argv[optind - 1], table);
        markdown |= c == 'M';
        names |= c == 'N';
        keys |= c == 'K';
        import = c == 'I' ? optarg : import;
    }
    if (optind == argc)
        return cli_usage(
            "list",
            "what? One of workloads, machines, rules, experiments, metrics, schedulers, l1, divergence, probes, "
            "bundles");
    if (optind + 1 < argc)
        return cli_usage("list", "one list at a time; what is '%s'?", argv[optind + 1]);
    const char *what = argv[optind];
    struct places places;
    struct error e = {0};
    if (!places_find(&places, &e))
        return cli_fail(&e);
    if (markdown && (!strcmp(what, "workloads") || !strcmp(what, "machines") || !strcmp(what, "experiments")))
        return cli_usage("list", "--markdown is for metrics, rules and policies only");
    if ((keys || import) && strcmp(what, "machines"))
        return cli_usage("list", "--keys and --import are for machines only");
    if (keys) {
        machine_print_keys(stdout);
        return EXIT_DONE;
    }
    if (import)
        return import_machine(import);
    if (names && markdown)
        return cli_usage("list", "--names and --markdown exclude each other");
    int status = names ? list_names(what, &places) : list_named(what, &places, markdown);
    if (status >= 0)
        return status;
    const char *near = nearest_name(what, lists, sizeof lists / sizeof *lists);
    if (near)
        return cli_usage("list", "no list of '%s'; did you mean '%s'?", what, near);
    return cli_usage("list", "no list of '%s'", what);
}
