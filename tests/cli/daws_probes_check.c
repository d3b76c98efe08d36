/* daws_probes_check FILE: do what the probes loads, trips, lost and daws-profile counted, and what --pcs has of each
 * instruction, agree with each other and with the machine's own counters? daws_probes_check --less A B: is A without
 * its probes the same as B, but for `host`? daws_probes_check --profile FILE PROFILE: does the file that daws-profile
 * wrote have what FILE has of its loads? Exit status 0 yes, 1 no. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const probes[] = {"loads", "threads", "trips", "lost", "daws-profile", NULL};

static json_t *load(const char *path)
{
    json_error_t e;
    json_t *root = json_load_file(path, 0, &e);
    if (!root) {
        fprintf(stderr, "%s:%d: %s\n", path, e.line, e.text);
        exit(1);
    }
    return root;
}

/* A counter that is not there is a failure, not a 0. */
static json_int_t number(json_t *o, const char *of, const char *name)
{
    json_t *value = json_object_get(json_object_get(o, of), name);
    if (!json_is_integer(value)) {
        fprintf(stderr, "no %s.%s\n", of, name);
        exit(1);
    }
    return json_integer_value(value);
}

static json_int_t plain(json_t *o, const char *name) { return json_integer_value(json_object_get(o, name)); }

static int unequal(const char *what, json_int_t a, json_int_t b)
{
    if (a != b)
        fprintf(stderr, "%s: %lld and %lld\n", what, (long long)a, (long long)b);
    return a != b;
}

static int wrong(const char *what, int is)
{
    if (is)
        fprintf(stderr, "%s\n", what);
    return is;
}

/* One load: its classes, its hits, and what --pcs says of the same instruction. */
static int check_load(json_t *pc)
{
    json_int_t executions = number(pc, "loads", "executions"), lanes = number(pc, "loads", "lanes");
    json_int_t accesses = number(pc, "loads", "accesses"), diverged = number(pc, "loads", "diverged");
    json_int_t intra = number(pc, "loads", "intra_warp_hits"), inter = number(pc, "loads", "inter_warp_hits");
    json_int_t misses = number(pc, "loads", "misses"), considered = number(pc, "daws-profile", "considered");
    int bad = unequal("hits + misses = accesses", intra + inter + misses, accesses);
    bad |= unequal("accesses", accesses, plain(pc, "load_accesses"));
    bad |= unequal("hits", intra + inter, plain(pc, "l1d_hits"));
    bad |= unequal("misses", misses, plain(pc, "l1d_misses") + plain(pc, "l1d_pending_hits"));
    json_int_t same_thread = number(pc, "loads", "intra_thread_hits");
    bad |= unequal("hits by thread", same_thread + number(pc, "loads", "inter_thread_hits"), intra);
    bad |= unequal("lanes", lanes, plain(pc, "thread_executions"));
    bad |= unequal("considered", number(pc, "loads", "converged") + diverged, considered);
    bad |= unequal("diverged", diverged, number(pc, "daws-profile", "diverged"));
    bad |= unequal("executions", executions, number(pc, "daws-profile", "executions"));
    bad |= wrong("fully diverged, but not diverged", number(pc, "loads", "fully_diverged") > diverged);
    bad |= wrong("most lanes", number(pc, "loads", "most_lanes") * executions < lanes);
    bad |= wrong("most accesses", number(pc, "loads", "most_accesses") * executions < accesses);
    bad |= unequal("accesses of the profile", number(pc, "daws-profile", "accesses"), accesses);
    return bad | wrong("more local accesses than accesses", number(pc, "daws-profile", "local") > accesses);
}

static int check_kernel(json_t *kernel)
{
    json_int_t accesses = 0, intra = 0, inter = 0, same_thread = 0, trips = 0, lost = number(kernel, "lost", "lost");
    static const char *const classes[] = {"this_trip", "last_trip", "other", "same_load", "outside_loops", "unseen"};
    size_t i;
    json_t *pc;
    int bad = 0;
    json_array_foreach(json_object_get(kernel, "pcs"), i, pc)
    {
        if (!json_object_get(pc, "loads") || !number(pc, "loads", "executions"))
            continue;
        bad |= check_load(pc);
        accesses += number(pc, "loads", "accesses");
        intra += number(pc, "loads", "intra_warp_hits");
        inter += number(pc, "loads", "inter_warp_hits");
        same_thread += number(pc, "loads", "intra_thread_hits");
    }
    for (i = 0; i < sizeof classes / sizeof *classes; i++)
        trips += number(kernel, "trips", classes[i]);
    bad |= unequal("reads", accesses, number(kernel, "l1d", "reads"));
    bad |= unequal("intra-warp hits", intra, number(kernel, "l1d", "intra_warp_hits"));
    bad |= unequal("inter-warp hits", inter, number(kernel, "l1d", "inter_warp_hits"));
    bad |= unequal("same thread", same_thread, number(kernel, "threads", "same_thread"));
    bad |= unequal("same warp", intra - same_thread, number(kernel, "threads", "same_warp"));
    bad |= unequal("other warp", inter, number(kernel, "threads", "other_warp"));
    bad |= unequal("misses", accesses - intra - inter, number(kernel, "threads", "misses"));
    bad |= unequal("lines of unknown threads", number(kernel, "threads", "unseen"), 0);
    bad |= unequal("trips", trips, number(kernel, "l1d", "intra_warp_hits"));
    bad |= unequal("unseen", number(kernel, "trips", "unseen"), 0);
    const char *scheduler = json_object_get(kernel, "ccws") ? "ccws" : json_object_get(kernel, "daws") ? "daws" : NULL;
    json_int_t after_held = number(kernel, "lost", "after_held");
    if (scheduler)
        bad |= unequal("lost", lost, number(kernel, scheduler, "vta_hits"));
    else
        bad |= unequal("held by a scheduler that holds nobody", after_held, 0);
    bad |= wrong("after_held and outside_loops", after_held + number(kernel, "lost", "outside_loops") > lost);
    return bad | wrong("evicted_held", number(kernel, "lost", "evicted_held") > after_held);
}

static int check(json_t *root)
{
    size_t i;
    json_t *kernel;
    int bad = !json_array_size(json_object_get(root, "kernels"));
    json_array_foreach(json_object_get(root, "kernels"), i, kernel) bad |= check_kernel(kernel);
    return bad;
}

static void drop_probes(json_t *o)
{
    json_object_del(o, "pcs");
    for (int i = 0; probes[i]; i++)
        if (strcmp(probes[i], "loads")) /* that is the machine's, here */
            json_object_del(o, probes[i]);
}

static int check_less(json_t *a, json_t *b)
{
    size_t i;
    json_t *kernel;
    json_object_del(a, "host");
    json_object_del(b, "host");
    json_object_del(a, "probes");
    json_object_del(b, "probes");
    json_array_foreach(json_object_get(a, "kernels"), i, kernel) drop_probes(kernel);
    drop_probes(json_object_get(a, "total"));
    return wrong("the results differ", !json_equal(a, b));
}

/* ---------------------------------------------------------------- the profile */

static json_int_t over_launches(json_t *root, const char *name, json_int_t at, const char *column)
{
    json_int_t sum = 0;
    size_t i, k;
    json_t *kernel, *pc;
    json_array_foreach(json_object_get(root, "kernels"), i, kernel) json_array_foreach(
        json_object_get(kernel, "pcs"), k, pc) if (!strcmp(json_string_value(json_object_get(kernel, "name")), name) &&
                                                   plain(pc, "pc") == at) sum += number(pc, "daws-profile", column);
    return sum;
}

static json_int_t executions_in_all(json_t *root)
{
    json_int_t sum = 0;
    size_t i, k;
    json_t *kernel, *pc;
    json_array_foreach(json_object_get(root, "kernels"), i, kernel)
        json_array_foreach(json_object_get(kernel, "pcs"), k, pc) sum += number(pc, "daws-profile", "executions");
    return sum;
}

static int check_profile(json_t *root, const char *path)
{
    static const char *const columns[] = {"executions", "diverged", "considered", "accesses", "local"};
    char line[1000], name[900] = "";
    long long at, value[5], in_all = 0;
    int bad = 0;
    FILE *f = fopen(path, "r");
    if (!f || !fgets(line, sizeof line, f) || strcmp(line, "# heddle daws-profile 2\n"))
        return wrong("no profile, or not its first line", 1);
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "kernel %899s", name) == 1)
            continue;
        if (sscanf(line, "load %lld %lld %lld %lld %lld %lld", &at, value, value + 1, value + 2, value + 3,
                   value + 4) != 6 ||
            !*name)
            return wrong(line, 1);
        for (int i = 0; i < 5; i++)
            bad |= unequal(columns[i], value[i], over_launches(root, name, at, columns[i]));
        in_all += value[0];
    }
    fclose(f);
    return bad | unequal("loads of all kernels", in_all, executions_in_all(root)) | wrong("no loads", !in_all);
}

int main(int argc, char **argv)
{
    int pair = argc == 4 && (!strcmp(argv[1], "--less") || !strcmp(argv[1], "--profile"));
    if (argc != 2 && !pair) {
        fputs("usage: daws_probes_check FILE | --less A B | --profile FILE PROFILE\n", stderr);
        return 2;
    }
    int less = pair && !strcmp(argv[1], "--less");
    json_t *a = load(argv[pair ? 2 : 1]), *b = less ? load(argv[3]) : NULL;
    int status = !pair ? check(a) : less ? check_less(a, b) : check_profile(a, argv[3]);
    json_decref(a);
    json_decref(b);
    return status;
}
