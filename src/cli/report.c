/* heddle report: a store as a page to look at, as CSV, and as PDF figures for papers. */
#include "figure/report.h"
#include "cli/cli.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char help[] =
    "Usage: heddle report RESULTS.db [-o report.html] [--csv DIR] [--pdf DIR] [--experiment NAME] [--figure NAME]\n"
    "       heddle report DAMAGED.db --rescue NEW.db\n"
    "Makes one HTML file out of a results store (heddle sweep): figures, the published values beside ours, a table of "
    "every run, the machines, and the\n"
    "commands that repeat it. The file needs no network and no other file. The last line printed is where it is.\n\n"
    "  -o, --output FILE       the page; default: the store's name with .html\n"
    "      --csv DIR           tidy CSV files as well (docs/results.md)\n"
    "      --pdf DIR           a PDF of each figure as well, by gnuplot, with its script and data\n"
    "      --experiment NAME   only this experiment of the store\n"
    "      --figure NAME       only this figure\n"
    "      --rescue NEW.db     no page: what can still be read of a damaged store, into a new one\n"
    "  -h, --help              this text\n\n"
    "Vega, which draws the page's figures, is Debian's package libjs-vega; HEDDLE_VEGA names another folder with its "
    "modules.\n"
    "Exit codes: 0 done; 1 a file is refused (of another program, of a later version, there already); 2 usage, or "
    "something is not there, is damaged, or\n"
    "cannot be read or written.\n";

enum { OPTION_CSV = 256, OPTION_PDF, OPTION_EXPERIMENT, OPTION_FIGURE, OPTION_RESCUE };
static const struct option options[] = {
    {"output", required_argument, NULL, 'o'},
    {"csv", required_argument, NULL, OPTION_CSV},
    {"pdf", required_argument, NULL, OPTION_PDF},
    {"experiment", required_argument, NULL, OPTION_EXPERIMENT},
    {"figure", required_argument, NULL, OPTION_FIGURE},
    {"rescue", required_argument, NULL, OPTION_RESCUE},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct request {
    const char *store, *output, *csv, *pdf, *rescue;
    struct report_options options;
};

/* results.db -> results.html, beside it. */
static const char *default_output(const char *store, char out[PATH_MAX])
{
    const char *dot = strrchr(store, '.'), *slash = strrchr(store, '/');
    size_t length = dot && dot > store && (!slash || dot > slash + 1) ? (size_t)(dot - store) : strlen(store);
    if (dot && !strcasecmp(dot, ".html"))
        length = strlen(store);
    snprintf(out, PATH_MAX, "%.*s.html", (int)length, store);
    return out;
}

static void print_pages(const struct store_rescued *saved)
{
    uint32_t shown = saved->page_count < STORE_PAGES_NAMED ? saved->page_count : STORE_PAGES_NAMED;
    for (uint32_t i = 0; i < shown; i++) {
        uint64_t from = (uint64_t)(saved->pages[i] - 1) * saved->page_bytes;
        printf("damaged page %u: bytes %llu to %llu of the file\n", saved->pages[i], (unsigned long long)from,
               (unsigned long long)(from + saved->page_bytes - 1));
    }
    if (saved->page_count > shown)
        printf("and more\n");
}

static int rescue(const struct request *r)
{
    struct error e = {0};
    struct store_rescued saved;
    char runs[32], lost[32];
    if (r->output || r->csv || r->pdf)
        return cli_usage("report", "--rescue makes a store and nothing else; 'heddle report %s' then makes the page",
                         r->rescue);
    if (!store_rescue(r->store, r->rescue, &saved, &e))
        return cli_fail(&e);
    printf("%s runs saved, %s lost; %u experiment%s\n", cli_grouped(saved.runs, runs, sizeof runs),
           cli_grouped(saved.lost, lost, sizeof lost), saved.experiments, saved.experiments == 1 ? "" : "s");
    print_pages(&saved);
    printf("store   %s\n", r->rescue);
    return EXIT_DONE;
}

static int make(const struct request *r)
{
    struct error e = {0};
    struct store *s = store_open(r->store, STORE_READ, &e);
    if (!s)
        return cli_fail(&e);
    bool good = report_write_html(s, r->store, r->output, &r->options, &e);
    good = good && (!r->csv || store_write_csv(s, r->csv, &e));
    bool drawn = good && r->pdf && report_write_pdf(s, r->pdf, &r->options, &e);
    store_close(s);
    if (!good)
        return cli_fail(&e);
    if (r->csv)
        printf("csv     %s\n", r->csv);
    if (drawn)
        printf("pdf     %s\n", r->pdf);
    printf("report  %s\n", r->output);
    return drawn || !r->pdf ? EXIT_DONE : cli_fail(&e);
}

int cli_report(int argc, char **argv)
{
    struct request r = {0};
    char output[PATH_MAX];
    opterr = 0;
    optind = 0;
    for (int c; (c = getopt_long(argc, argv, ":o:h", options, NULL)) != -1;) {
        switch (c) {
        case 'o': r.output = optarg; break;
        case OPTION_CSV: r.csv = optarg; break;
        case OPTION_PDF: r.pdf = optarg; break;
        case OPTION_EXPERIMENT: r.options.experiment = optarg; break;
        case OPTION_FIGURE: r.options.figure = optarg; break;
        case OPTION_RESCUE: r.rescue = optarg; break;
        case 'h': fputs(help, stdout); return EXIT_DONE;
        case ':': return cli_usage("report", "option '%s' needs a value", argv[optind - 1]);
        default: return cli_unknown_option("report", argv[optind - 1], options);
        }
    }
    if (optind == argc)
        return cli_usage("report", "which store? Give the file that 'heddle sweep' wrote");
    if (optind + 1 < argc)
        return cli_usage("report", "one store at a time; what is '%s'?", argv[optind + 1]);
    r.store = argv[optind];
    if (r.rescue)
        return rescue(&r);
    if (!r.output)
        r.output = default_output(r.store, output);
    return make(&r);
}
