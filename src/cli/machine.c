/* heddle machine: every resolved value of a machine and where it comes from, or what differs between two. */
#include "gpu/machine.h"
#include "cli/cli.h"
#include "cli/text_table.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Usage: heddle machine show NAME|FILE [--set section.key=value]...\n"
    "       heddle machine diff A B [--set section.key=value]...\n"
    "\n"
    "  show   every key and rule of a machine, and where its value comes from: default, rulebook, FILE:LINE,\n"
    "         base FILE:LINE (of a machine that it is based on) or command line\n"
    "  diff   the keys and rules in which two machines differ\n"
    "\n"
    "      --set section.key=value   changes one key, rules.NAME=value one rule; of diff: on both machines\n"
    "  -h, --help                    this text\n"
    "\n"
    "'heddle list machines' names what there is, 'heddle list rules' what rules decide.\n";

enum { SETS_MOST = 256 };

struct request {
    const char *sets[SETS_MOST];
    uint32_t set_count;
};

/* Without the folder that one is in, which every line would repeat. */
static const char *shorten(const char *origin, char *out, size_t size)
{
    char folder[PATH_MAX];
    const char *path = strchr(origin, '/');
    size_t length = path && getcwd(folder, sizeof folder - 1) ? strlen(strcat(folder, "/")) : 0;
    if (length && !strncmp(path, folder, length))
        snprintf(out, size, "%.*s%s", (int)(path - origin), origin, path + length);
    else
        snprintf(out, size, "%s", origin);
    return out;
}

static void add_row(void *context, const char *section, const char *key, const char *value, const char *origin)
{
    struct text_table *t = context;
    char shown[2 * PATH_MAX];
    text_table_cell(t, "%s.%s", section, key);
    text_table_cell(t, "%s", value);
    text_table_cell(t, "%s", shorten(origin, shown, sizeof shown));
}

static int show(const char *name, const struct request *q)
{
    static const char *const titles[] = {"key", "value", "from", NULL};
    struct arena a = {0};
    struct text_table t = text_table_start(&a, titles);
    struct machine m;
    struct error e = {0};
    bool good = machine_trace(&m, name, q->sets, q->set_count, add_row, &t, &e);
    if (good)
        text_table_print(&t, "", stdout);
    else
        fprintf(stderr, "heddle: %s\n", e.text);
    arena_free(&a);
    return good ? EXIT_DONE : EXIT_USAGE;
}

/* The values of the first machine, in the order of keys, then the rows in which the second differs. */
struct comparison {
    char (*values)[128];
    size_t count, capacity, differing;
    struct text_table table;
};

static void keep_value(void *context, const char *section, const char *key, const char *value, bool is_number)
{
    struct comparison *c = context;
    (void)section, (void)key, (void)is_number;
    if (c->count < c->capacity)
        snprintf(c->values[c->count++], sizeof *c->values, "%s", value);
}

static void compare_value(void *context, const char *section, const char *key, const char *value, bool is_number)
{
    struct comparison *c = context;
    const char *other = c->values[c->count++];
    (void)is_number;
    if (!strcmp(value, other))
        return;
    c->differing++;
    text_table_cell(&c->table, "%s.%s", section, key);
    text_table_cell(&c->table, "%s", other);
    text_table_cell(&c->table, "%s", value);
}

static int diff(const char *first, const char *second, const struct request *q)
{
    const char *const titles[] = {"key", first, second, NULL};
    char values[256][sizeof *((struct comparison *)0)->values];
    struct arena a = {0};
    struct comparison c = {.values = values, .capacity = sizeof values / sizeof *values};
    struct machine m[2];
    struct error e = {0};
    c.table = text_table_start(&a, titles);
    bool good =
        machine_load(&m[0], first, q->sets, q->set_count, &e) && machine_load(&m[1], second, q->sets, q->set_count, &e);
    if (good) {
        machine_visit(&m[0], keep_value, &c);
        c.count = 0;
        machine_visit(&m[1], compare_value, &c);
        if (c.differing)
            text_table_print(&c.table, "", stdout);
        else
            printf("%s and %s do not differ\n", first, second);
    } else {
        fprintf(stderr, "heddle: %s\n", e.text);
    }
    arena_free(&a);
    return good ? EXIT_DONE : EXIT_USAGE;
}

static int run_verb(int argc, char **argv, const struct request *q)
{
    static const char *const verbs[] = {"show", "diff"};
    const char *verb = argc ? argv[0] : "";
    if (!argc)
        return cli_usage("machine", "show or diff?");
    if (!strcmp(verb, "show"))
        return argc == 2 ? show(argv[1], q) : cli_usage("machine", "show takes one machine");
    if (!strcmp(verb, "diff"))
        return argc == 3 ? diff(argv[1], argv[2], q) : cli_usage("machine", "diff takes two machines");
    const char *near = nearest_name(verb, verbs, sizeof verbs / sizeof *verbs);
    if (near)
        return cli_usage("machine", "no '%s'; did you mean '%s'?", verb, near);
    return cli_usage("machine", "no '%s'; expected show or diff", verb);
}

int cli_machine(int argc, char **argv)
{
    static const struct option table[] = {{"set", required_argument, NULL, 'S'}, {"help", no_argument, NULL, 'h'}, {0}};
    struct request q = {.set_count = 0};
    int c;
    optind = 0;
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":h", table, NULL)) != -1) {
        if (c == 'h') {
            fputs(help, stdout);
            return EXIT_DONE;
        }
        if (c == ':')
            return cli_usage("machine", "%s needs a value", argv[optind - 1]);
        if (c == '?')
            return cli_unknown_option("machine", argv[optind - 1], table);
        if (q.set_count == SETS_MOST)
            return cli_usage("machine", "--set is given more than %d times", SETS_MOST);
        q.sets[q.set_count++] = optarg;
    }
    return run_verb(argc - optind, argv + optind, &q);
}
