/* heddle cache: a trace of `heddle run --trace` through caches of other sizes and policies. This file: options,
 * geometry and the passes; cache_print.c shows what came out. */
#include "cli/cache.h"
#include "base/processors.h"
#include "cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "Usage: heddle cache TRACE [OPTION...]\n"
    "Replays the L1D accesses that 'heddle run --trace TRACE' wrote through a cache a core, and counts what would have "
    "missed.\n"
    "\n"
    "      --policy LIST    of lru, fifo, srrip, belady (the optimum) and belady-reads (the optimum for loads), with "
    "commas; or all;\n"
    "                       default lru,belady\n"
    "      --size BYTES     of a core's cache, as 32K; default: what the traced machine had\n"
    "      --ways N         or 'full'; default: the machine's\n"
    "      --line BYTES     the machine's or a larger power of two\n"
    "      --index NAME     how a line's set is found: mask, modulo, fermi, fold or multiplied; default: as the "
    "machine would\n"
    "      --per-pc         also for each instruction\n"
    "      --curve          misses of fully associative LRU caches of all sizes, from one pass\n"
    "      --reuse          how many other lines, and how many accesses, lie between two uses of a line\n"
    "      --json           all of it as JSON\n"
    "  -j N                 replay the cores on N threads; results are the same for any N; default: as many as there "
    "are processors\n"
    "  -h, --help           this text\n"
    "\n"
    "docs/cache.md says what is counted, and where a replay differs from the run.\n";

struct cache_options {
    const char *path, *policies, *size, *ways, *line, *index;
    uint32_t threads;
    bool per_pc, curve, reuse, json;
};

enum { MOST_THREADS = 1024 };
enum { OPT_POLICY = 256, OPT_SIZE, OPT_WAYS, OPT_LINE, OPT_INDEX, OPT_PER_PC, OPT_CURVE, OPT_REUSE, OPT_JSON };

static const struct option option_table[] = {
    {"policy", required_argument, NULL, OPT_POLICY},
    {"size", required_argument, NULL, OPT_SIZE},
    {"ways", required_argument, NULL, OPT_WAYS},
    {"line", required_argument, NULL, OPT_LINE},
    {"index", required_argument, NULL, OPT_INDEX},
    {"per-pc", no_argument, NULL, OPT_PER_PC},
    {"curve", no_argument, NULL, OPT_CURVE},
    {"reuse", no_argument, NULL, OPT_REUSE},
    {"json", no_argument, NULL, OPT_JSON},
    {"help", no_argument, NULL, 'h'},
    {0},
};

/* "32K", "1M", "65536"; up to 4 GB. */
static bool parse_bytes(const char *text, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || errno || *value > 1ull << 32)
        return false;
    uint32_t shift = *end == 'K' || *end == 'k' ? 10 : *end == 'M' || *end == 'm' ? 20 : 0;
    *value <<= shift;
    return !end[shift != 0] && *value && *value <= 1ull << 32;
}

static bool parse_threads(const char *text, uint32_t *threads)
{
    char *end;
    errno = 0;
    unsigned long n = strtoul(text, &end, 10);
    *threads = (uint32_t)n;
    return isdigit((unsigned char)*text) && !*end && !errno && n && n <= MOST_THREADS;
}

/* Returns -1 to go on, else the exit code. */
static int parse_options(int argc, char **argv, struct cache_options *o)
{
    int c;
    optind = 0;
    opterr = 0;
    while ((c = getopt_long(argc, argv, ":hj:", option_table, NULL)) != -1) {
        switch (c) {
        case OPT_POLICY: o->policies = optarg; break;
        case OPT_SIZE: o->size = optarg; break;
        case OPT_WAYS: o->ways = optarg; break;
        case OPT_LINE: o->line = optarg; break;
        case OPT_INDEX: o->index = optarg; break;
        case OPT_PER_PC: o->per_pc = true; break;
        case OPT_CURVE: o->curve = true; break;
        case OPT_REUSE: o->reuse = true; break;
        case OPT_JSON: o->json = true; break;
        case 'j':
            if (!parse_threads(optarg, &o->threads))
                return cli_usage("cache", "-j needs a number from 1 to %d, not '%s'", MOST_THREADS, optarg);
            break;
        case 'h': fputs(help, stdout); return EXIT_DONE;
        case ':': return cli_usage("cache", "option '%s' needs a value", argv[optind - 1]);
        default: return cli_unknown_option("cache", argv[optind - 1], option_table);
        }
    }
    if (optind + 1 != argc)
        return cli_usage("cache", optind == argc ? "which trace? A file of 'heddle run --trace' is expected"
                                                 : "one trace is expected");
    o->path = argv[optind];
    return -1;
}

static int choose_policies(const char *list, bool chosen[REPLAY_POLICIES])
{
    uint32_t set;
    const char *unknown;
    size_t length;
    if (!replay_policies_read(list, strlen(list), &set, &unknown, &length))
        return cli_usage("cache", "unknown policy '%.*s': lru, fifo, srrip, belady, belady-reads or all is expected",
                         (int)length, unknown);
    for (int i = 0; i < REPLAY_POLICIES; i++)
        chosen[i] = set >> i & 1;
    return -1;
}

/* What is not given is the traced machine's. Returns -1 to go on, else the exit code. */
static int choose_geometry(const struct cache_options *o, const struct trace_header *h, struct replay_geometry *g)
{
    uint64_t line = h->line_bytes, ways = h->ways, size = (uint64_t)h->sets * h->ways * h->line_bytes;
    bool full = o->ways && !strcmp(o->ways, "full");
    if (o->line && (!parse_bytes(o->line, &line) || line > 1u << 20))
        return cli_usage("cache", "--line needs a number of bytes, not '%s'", o->line);
    if (o->size && !parse_bytes(o->size, &size))
        return cli_usage("cache", "--size needs a number of bytes such as 32K, not '%s'", o->size);
    if (o->ways && !full && (!parse_bytes(o->ways, &ways) || ways > 1u << 24))
        return cli_usage("cache", "--ways needs a number or 'full', not '%s'", o->ways);
    ways = full ? size / line : ways;
    if (!ways || size < ways * line || size % (ways * line) || size / (ways * line) > 1u << 24)
        return cli_usage("cache", "%llu bytes are no whole number of sets of %llu ways with lines of %llu bytes",
                         (unsigned long long)size, (unsigned long long)ways, (unsigned long long)line);
    *g = (struct replay_geometry){
        .sets = (uint32_t)(size / (ways * line)), .ways = (uint32_t)ways, .line_bytes = (uint32_t)line};
    g->index = g->sets == h->sets ? h->index : replay_index(h, g->sets);
    for (uint32_t i = 0; o->index && i <= INDEX_COUNT; i++) {
        if (i == INDEX_COUNT)
            return cli_usage("cache", "unknown index '%s': mask, modulo, fermi, fold or multiplied is expected",
                             o->index);
        g->index = (enum cache_index)i;
        if (!strcmp(o->index, trace_index_names[i]))
            break;
    }
    return -1;
}

static bool run_passes(struct cache_report *c, const struct replay_how *how, struct error *e)
{
    for (int i = 0; i < REPLAY_POLICIES; i++)
        if (c->ran[i] && !replay_run(c->trace, &c->geometry, (enum replay_policy)i, how, &c->results[i], e))
            return false;
    return !(c->curve || c->reuse) || replay_distances_run(c->trace, c->geometry.line_bytes, how, &c->distances, e);
}

static int replay(const struct cache_options *o, struct trace_reader *trace)
{
    const struct trace_header *h = &trace->header;
    struct cache_report c = {
        .path = o->path, .trace = trace, .per_pc = o->per_pc, .curve = o->curve, .reuse = o->reuse};
    struct replay_how how = {.threads = o->threads ? o->threads : processors_usable()};
    struct error e = {0};
    int status = choose_policies(o->policies ? o->policies : "lru,belady", c.ran);
    if (status < 0)
        status = choose_geometry(o, h, &c.geometry);
    if (status >= 0)
        return status;
    if (!replay_check(&c.geometry, h, &e))
        return cli_usage("cache", "%s", e.text);
    c.is_traced_geometry = c.geometry.sets == h->sets && c.geometry.ways == h->ways &&
                           c.geometry.line_bytes == h->line_bytes && c.geometry.index == h->index;
    if (!run_passes(&c, &how, &e))
        status = cli_fail(&e);
    else if (!o->json)
        cache_print_text(&c);
    else if (!cache_print_json(&c))
        status = EXIT_FAILED;
    for (int i = 0; i < REPLAY_POLICIES; i++)
        replay_result_free(&c.results[i]);
    replay_distances_free(&c.distances);
    return status < 0 ? EXIT_DONE : status;
}

int cli_cache(int argc, char **argv)
{
    struct cache_options o = {0};
    struct trace_reader trace;
    struct error e = {0};
    int status = parse_options(argc, argv, &o);
    if (status >= 0)
        return status;
    if (!trace_reader_open(&trace, o.path, &e))
        return cli_fail(&e);
    if (trace.truncated)
        fprintf(stderr, "heddle: %s ends early: the run was stopped; what is there is replayed\n", o.path);
    status = replay(&o, &trace);
    trace_reader_close(&trace);
    return status;
}
