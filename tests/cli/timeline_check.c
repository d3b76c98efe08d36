/* timeline_check TIMELINE.json [WARPS.csv]: can a viewer show it? Slices of a thread do not overlap, begins and ends
 * are balanced, values of a counter come in the order of time, every thread and process has a name. With the rows of
 * `heddle run --warps` of the same run: for each warp slot, do the slices of its reasons add up to the columns? Prints
 * how many events there are. Exit status 0 yes, 1 no. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRACKS = 1 << 18, CORE_IDS = 1000, FIRST_REASONS = 300, CORES = 200, SLOTS = 64, REASONS = 11, COUNTERS = 4096 };
static const char *const reasons[REASONS] = {"issued",  "not_picked", "fetch",  "scoreboard", "memory", "pipeline",
                                             "barrier", "fence",      "atomic", "held",       "drain"};

struct track {
    int depth, named, used;
    json_int_t end;
};
static struct track tracks[TRACKS];
static json_int_t told[CORES][SLOTS][REASONS];
static struct {
    char name[64];
    json_int_t pid, ts;
} counters[COUNTERS];
static int counter_count, bad;

static void complain(const char *what, size_t event)
{
    if (bad++ < 10)
        fprintf(stderr, "event %zu: %s\n", event, what);
}

static const char *text(const json_t *event, const char *key)
{
    const char *s = json_string_value(json_object_get(event, key));
    return s ? s : "";
}

static json_int_t number(const json_t *event, const char *key)
{
    return json_integer_value(json_object_get(event, key));
}

static void check_counter(const json_t *event, size_t i)
{
    int n = 0;
    json_int_t pid = number(event, "pid"), ts = number(event, "ts");
    while (n < counter_count && (counters[n].pid != pid || strcmp(counters[n].name, text(event, "name"))))
        n++;
    if (n == COUNTERS)
        return;
    if (n < counter_count && ts <= counters[n].ts)
        complain("a counter goes back in time", i);
    snprintf(counters[n].name, sizeof counters[n].name, "%s", text(event, "name"));
    counters[n].pid = pid;
    counters[n].ts = ts;
    counter_count += n == counter_count;
}

static void add_reason(const json_t *event, json_int_t tid, size_t i)
{
    json_int_t core = tid / CORE_IDS - 1, slot = tid % CORE_IDS - FIRST_REASONS;
    if (core < 0 || core >= CORES || slot < 0 || slot >= SLOTS)
        return;
    for (int r = 0; r < REASONS; r++)
        if (!strcmp(reasons[r], text(event, "name"))) {
            told[core][slot][r] += number(event, "dur");
            return;
        }
    complain("no such reason", i);
}

static void check_event(const json_t *event, size_t i)
{
    char phase = text(event, "ph")[0];
    json_int_t tid = number(event, "tid"), ts = number(event, "ts"), duration = number(event, "dur");
    struct track *t = &tracks[tid >= 0 && tid < TRACKS ? tid : 0];
    if (!phase || !strchr("MBEXbeCi", phase) || tid < 0 || tid >= TRACKS)
        complain("what is that?", i);
    t->named |= phase == 'M' && !strcmp(text(event, "name"), "thread_name");
    t->used |= phase == 'B' || phase == 'X';
    t->depth += phase == 'B' ? 1 : phase == 'E' ? -1 : 0;
    if (t->depth < 0)
        complain("an end without a begin", i);
    if (phase == 'C')
        check_counter(event, i);
    if (phase != 'X')
        return;
    if (duration <= 0 || ts < t->end)
        complain("slices of a thread overlap", i);
    t->end = ts + duration;
    add_reason(event, tid, i);
}

/* launch,kernel,block,warp,core,slot,begin,end,partial,warp_instructions,thread_instructions,REASONS */
static void compare(const char *path)
{
    char line[4096];
    FILE *f = fopen(path, "r");
    size_t rows = 0;
    if (!f || !fgets(line, sizeof line, f)) {
        perror(path);
        exit(1);
    }
    while (fgets(line, sizeof line, f)) {
        char *field = strtok(line, ",\n");
        json_int_t core = 0, slot = 0;
        for (int i = 0; field; field = strtok(NULL, ",\n"), i++) {
            long long n = atoll(field);
            core = i == 4 ? n : core;
            slot = i == 5 ? n : slot;
            if (i >= 11 && i < 11 + REASONS && core < CORES && slot < SLOTS)
                told[core][slot][i - 11] -= n;
        }
        rows++;
    }
    fclose(f);
    for (int core = 0; core < CORES; core++)
        for (int slot = 0; slot < SLOTS; slot++)
            for (int r = 0; r < REASONS; r++)
                if (told[core][slot][r] && bad++ < 10)
                    fprintf(stderr, "core %d, slot %d: %s: %lld cycles more than in the rows\n", core, slot, reasons[r],
                            (long long)told[core][slot][r]);
    if (!rows) {
        fputs("no rows\n", stderr);
        bad = 1;
    }
}

int main(int argc, char **argv)
{
    json_error_t e;
    json_t *root = argc > 1 ? json_load_file(argv[1], 0, &e) : NULL, *event;
    size_t i;
    if (!root) {
        fprintf(stderr, "%s\n", argc > 1 ? e.text : "which file?");
        return 1;
    }
    json_array_foreach(json_object_get(root, "traceEvents"), i, event) check_event(event, i);
    for (int t = 0; t < TRACKS; t++)
        if (tracks[t].depth || (tracks[t].used && !tracks[t].named))
            complain(tracks[t].depth ? "a slice without an end" : "a thread without a name", (size_t)t);
    if (argc > 2)
        compare(argv[2]);
    printf("%zu events\n", json_array_size(json_object_get(root, "traceEvents")));
    json_decref(root);
    return bad != 0;
}
