/* json_check FILE: is it the JSON that --stats promises, and do its counters add up? json_check FILE KEY.KEY: prints
 * that value (a number chooses from a list; `*` chooses every member of a list or an object, and prints one line for
 * each). json_check --same A B: are two results the same but for `host`? json_check --names FILE: the names of all its
 * fields, as the glossary has them. Exit status 0 yes, 1 no. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static int lacks(const json_t *object, const char *where, const char *const *keys)
{
    for (; *keys; keys++)
        if (!json_object_get(object, *keys)) {
            fprintf(stderr, "%s lacks %s\n", where, *keys);
            return 1;
        }
    return 0;
}

static json_int_t number(const json_t *o, const char *path)
{
    char copy[100];
    snprintf(copy, sizeof copy, "%s", path);
    for (char *key = strtok(copy, "."); key; key = strtok(NULL, "."))
        o = json_object_get(o, key);
    return json_integer_value(o);
}

static int unequal(const char *where, const char *what, json_int_t a, json_int_t b)
{
    if (a != b)
        fprintf(stderr, "%s: %s: %lld and %lld\n", where, what, (long long)a, (long long)b);
    return a != b;
}

static int check_cache(const json_t *o, const char *where, const char *name, int data)
{
    const json_t *c = json_object_get(o, name);
    char text[200];
    snprintf(text, sizeof text, "%s, %s", where, name);
    int bad = unequal(text, "hits + misses + pending_hits = accesses",
                      number(c, "hits") + number(c, "misses") + number(c, "pending_hits"), number(c, "accesses"));
    if (!data)
        return bad;
    const json_t *why = json_object_get(c, "reservation_fail_reasons");
    bad |= unequal(text, "reads + writes = accesses", number(c, "reads") + number(c, "writes"), number(c, "accesses"));
    return bad | unequal(text, "the reasons of reservation fails",
                         number(why, "ways") + number(why, "mshr") + number(why, "merge") + number(why, "queue"),
                         number(c, "reservation_fails"));
}

/* Laws of a run with time. A launch that was cut short, or that others ran together with, may have packets on their
 * way. */
static int check_time(const json_t *o, const char *where, int whole)
{
    const json_t *issue = json_object_get(o, "issue"), *l1d = json_object_get(o, "l1d");
    int bad = check_cache(o, where, "l1d", 1) | check_cache(o, where, "l2", 1) | check_cache(o, where, "l1c", 0) |
              check_cache(o, where, "l1t", 0) | check_cache(o, where, "l1i", 0);
    bad |= unequal(where, "issue slots",
                   number(issue, "issued") + number(issue, "no_ready") + number(issue, "descheduled") +
                       number(issue, "idle"),
                   number(issue, "slots"));
    bad |= unequal(where, "hits by warp", number(l1d, "intra_warp_hits") + number(l1d, "inter_warp_hits"),
                   number(l1d, "hits") - number(l1d, "write_hits"));
    if (whole) {
        bad |= unequal(where, "flits sent and delivered", number(o, "icnt.flits"), number(o, "icnt.flits_delivered"));
        bad |= unequal(where, "packets sent and delivered", number(o, "icnt.packets"),
                       number(o, "icnt.packets_delivered"));
    }
    if (number(o, "cycles") <= 0 || number(o, "warp_instructions") < number(o, "stalls.issued")) {
        fprintf(stderr, "%s: no cycles, or fewer instructions than were issued\n", where);
        bad = 1;
    }
    return bad;
}

static int check_counters(const json_t *o, const char *where, int timed, int whole)
{
    static const char *const keys[] = {"cycles",
                                       "warp_instructions",
                                       "thread_instructions",
                                       "ipc",
                                       "simd_utilization",
                                       "lanes",
                                       "issue",
                                       "stalls",
                                       "l1d",
                                       "l1c",
                                       "l1t",
                                       "l1i",
                                       "l2",
                                       "dram",
                                       "icnt",
                                       "loads",
                                       "stores",
                                       "shared",
                                       "branches",
                                       "launched",
                                       "occupancy",
                                       "phases",
                                       "energy",
                                       NULL};
    json_int_t warps = 0, threads = 0;
    if (lacks(o, where, keys))
        return 1;
    const json_t *lanes = json_object_get(o, "lanes");
    if (json_array_size(lanes) != 33) {
        fprintf(stderr, "%s: lanes does not have 33 counts\n", where);
        return 1;
    }
    for (int i = 0; i <= 32; i++) {
        json_int_t n = json_integer_value(json_array_get(lanes, (size_t)i));
        warps += n;
        threads += n * i;
    }
    if (warps != json_integer_value(json_object_get(o, "warp_instructions")) ||
        threads != json_integer_value(json_object_get(o, "thread_instructions"))) {
        fprintf(stderr, "%s: the lanes do not add up to the instructions\n", where);
        return 1;
    }
    return timed ? check_time(o, where, whole) : 0;
}

static int check_results(const json_t *root)
{
    static const char *const keys[] = {"heddle",     "commit", "timing_epoch", "program", "arguments",  "machine",
                                       "functional", "seed",   "scheduler",    "l1",      "divergence", "kernels",
                                       "total",      "host",   "checks",       "outcome", NULL};
    static const char *const host[] = {"wall_seconds", "launch_seconds", "kwips", "peak_bytes", NULL};
    static const char *const checks[] = {"passed", "exit", NULL};
    static const char *const kernel_keys[] = {"name", "grid", "block", "partial", NULL};
    size_t i;
    json_t *kernel;
    json_int_t sum = 0, cycles = 0;
    int timed = json_is_false(json_object_get(root, "functional")) && json_array_size(json_object_get(root, "kernels")),
        whole = 1;
    if (lacks(root, "the result", keys) || lacks(json_object_get(root, "host"), "host", host) ||
        lacks(json_object_get(root, "checks"), "checks", checks))
        return 1;
    json_array_foreach(json_object_get(root, "kernels"), i, kernel)
    {
        int to_its_end = json_is_false(json_object_get(kernel, "partial")), alone = !json_object_get(kernel, "start");
        whole &= to_its_end;
        if (lacks(kernel, "a kernel", kernel_keys) || check_counters(kernel, "a kernel", timed, to_its_end && alone))
            return 1;
        cycles += number(kernel, "cycles");
        sum += json_integer_value(json_object_get(kernel, "warp_instructions"));
    }
    if (check_counters(json_object_get(root, "total"), "total", timed, whole))
        return 1;
    if (sum != number(root, "total.warp_instructions") || cycles != number(root, "total.cycles")) {
        fputs("the kernels do not add up to the total\n", stderr);
        return 1;
    }
    return 0;
}

static int print_value(json_t *value, const char *path)
{
    char key[100];
    const char *name;
    size_t length = strcspn(path, "."), i;
    json_t *member;
    int missing = 0;
    if (!value) {
        fputs("no such key\n", stderr);
        return 1;
    }
    if (!*path) {
        json_dumpf(value, stdout, JSON_ENCODE_ANY);
        putchar('\n');
        return 0;
    }
    const char *rest = path + length + (path[length] == '.');
    snprintf(key, sizeof key, "%.*s", (int)length, path);
    if (strcmp(key, "*"))
        return print_value(
            json_is_array(value) ? json_array_get(value, (size_t)atoi(key)) : json_object_get(value, key), rest);
    json_array_foreach(value, i, member) missing |= print_value(member, rest);
    json_object_foreach(value, name, member) missing |= print_value(member, rest);
    return missing;
}

/* A policy's counters stand under its name, which is that of its spec. */
static int is_policy(json_t *root, const char *key)
{
    static const char *const kinds[] = {"scheduler", "l1", "divergence"};
    for (int i = 0; i < 3; i++) {
        const char *spec = json_string_value(json_object_get(root, kinds[i]));
        if (spec && !strncmp(spec, key, strlen(key)) && (!spec[strlen(key)] || spec[strlen(key)] == ':'))
            return 1;
    }
    return 0;
}

static void print_fields(const char *prefix, json_t *o)
{
    const char *key;
    json_t *value;
    char name[300];
    json_object_foreach(o, key, value)
    {
        snprintf(name, sizeof name, "%s%s%s", prefix, *prefix ? "." : "", key);
        if (json_is_object(value))
            print_fields(name, value);
        else
            puts(name);
    }
}

static void print_names(json_t *root)
{
    static const char *const objects[] = {"host", "checks", "outcome"};
    const char *key;
    json_t *value, *kernel = json_array_get(json_object_get(root, "kernels"), 0);
    json_object_foreach(root, key, value) if (strcmp(key, "host") && strcmp(key, "checks") && strcmp(key, "outcome"))
        puts(key);
    for (int i = 0; i < 3; i++)
        print_fields(objects[i], json_object_get(root, objects[i]));
    json_object_foreach(json_object_get(root, "total"), key, value)
    {
        if (is_policy(root, key))
            puts("POLICY.COUNTER");
        else if (json_is_object(value))
            print_fields(key, value);
        else
            puts(key);
    }
    json_object_foreach(kernel, key, value) if (!json_object_get(json_object_get(root, "total"), key))
        printf("kernels.%s\n", key);
}

int main(int argc, char **argv)
{
    if (argc == 4 && !strcmp(argv[1], "--same")) {
        json_t *a = load(argv[2]), *b = load(argv[3]);
        json_object_del(a, "host");
        json_object_del(b, "host");
        int same = json_equal(a, b);
        json_decref(a);
        json_decref(b);
        if (!same)
            fputs("the results differ\n", stderr);
        return !same;
    }
    if (argc == 3 && !strcmp(argv[1], "--names")) {
        json_t *root = load(argv[2]);
        print_names(root);
        json_decref(root);
        return 0;
    }
    if (argc != 2 && argc != 3) {
        fputs("usage: json_check FILE [KEY.*.KEY] | json_check --same A B | json_check --names FILE\n", stderr);
        return 2;
    }
    json_t *root = load(argv[1]);
    int status = argc == 3 ? print_value(root, argv[2]) : check_results(root);
    json_decref(root);
    return status;
}
