/* json_check FILE: is it the JSON that --stats promises? json_check FILE KEY.KEY: prints that value. json_check --same A B: are two results the
 * same but for `host`? Exit status 0 yes, 1 no. */
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

static int check_counters(const json_t *o, const char *where)
{
    static const char *const keys[] = {"cycles", "warp_instructions", "thread_instructions", "ipc", "simd_utilization", "lanes", "loads", "branches", NULL};
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
    if (warps != json_integer_value(json_object_get(o, "warp_instructions")) || threads != json_integer_value(json_object_get(o, "thread_instructions"))) {
        fprintf(stderr, "%s: the lanes do not add up to the instructions\n", where);
        return 1;
    }
    return 0;
}

static int check_results(const json_t *root)
{
    static const char *const keys[] = {"heddle", "program", "arguments", "machine", "scheduler", "l1", "divergence", "kernels", "total", "host", "checks", NULL};
    static const char *const host[] = {"wall_seconds", "launch_seconds", "kwips", "peak_bytes", NULL};
    static const char *const checks[] = {"passed", "exit", NULL};
    static const char *const kernel_keys[] = {"name", "grid", "block", NULL};
    size_t i;
    json_t *kernel;
    json_int_t sum = 0;
    if (lacks(root, "the result", keys) || lacks(json_object_get(root, "host"), "host", host) || lacks(json_object_get(root, "checks"), "checks", checks) ||
        check_counters(json_object_get(root, "total"), "total"))
        return 1;
    json_array_foreach(json_object_get(root, "kernels"), i, kernel) {
        if (lacks(kernel, "a kernel", kernel_keys) || check_counters(kernel, "a kernel"))
            return 1;
        sum += json_integer_value(json_object_get(kernel, "warp_instructions"));
    }
    if (sum != json_integer_value(json_object_get(json_object_get(root, "total"), "warp_instructions"))) {
        fputs("the kernels do not add up to the total\n", stderr);
        return 1;
    }
    return 0;
}

static int print_value(const json_t *root, char *path)
{
    for (char *key = strtok(path, "."); key; key = strtok(NULL, "."))
        root = json_object_get(root, key);
    if (!root) {
        fputs("no such key\n", stderr);
        return 1;
    }
    json_dumpf(root, stdout, JSON_ENCODE_ANY);
    putchar('\n');
    return 0;
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
    if (argc != 2 && argc != 3) {
        fputs("usage: json_check FILE [KEY.KEY] | json_check --same A B\n", stderr);
        return 2;
    }
    json_t *root = load(argv[1]);
    int status = argc == 3 ? print_value(root, argv[2]) : check_results(root);
    json_decref(root);
    return status;
}
