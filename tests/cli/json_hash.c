/* The hash of a result: json_hash FILE [COUNTER...]. Left out is what may differ between builds that count the same
 * (where, when and how fast it ran, which version, how a machine spells its values), the names that the list of hashes
 * has itself, and counters that are younger than the list. After the hash comes each counter's value in total, named as
 * in `heddle list metrics`; "-" where there is none. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static const char *const left_out[] = {"host",    "heddle",    "commit", "timing_epoch", "program",
                                       "machine", "scheduler", "l1",     "divergence"};
/* In total and in each launch; tests/unit/test_pipeline_stalls.c and test_sectors.c ask for them. */
static const char *const younger[] = {"pipeline", "sectors"};

static void print_counter(const json_t *total, const char *name)
{
    char key[64];
    const json_t *value = total;
    for (size_t length; value && *name; name += length + (name[length] == '.')) {
        length = strcspn(name, ".");
        snprintf(key, sizeof key, "%.*s", (int)length, name);
        value = json_object_get(value, key);
    }
    if (json_is_integer(value))
        printf(" %lld", (long long)json_integer_value(value));
    else
        printf(" -");
}

int main(int argc, char **argv)
{
    json_error_t error;
    json_t *result = argc >= 2 ? json_load_file(argv[1], 0, &error) : NULL;
    if (!result) {
        fprintf(stderr, "json_hash: %s\n", argc >= 2 ? error.text : "usage: json_hash FILE [COUNTER...]");
        return 2;
    }
    for (size_t i = 0; i < sizeof left_out / sizeof *left_out; i++)
        json_object_del(result, left_out[i]);
    json_t *kernel;
    size_t k;
    for (size_t i = 0; i < sizeof younger / sizeof *younger; i++) {
        json_object_del(json_object_get(result, "total"), younger[i]);
        json_array_foreach(json_object_get(result, "kernels"), k, kernel) json_object_del(kernel, younger[i]);
    }
    char *text = json_dumps(result, JSON_SORT_KEYS | JSON_COMPACT | JSON_REAL_PRECISION(17));
    printf("%016llx", (unsigned long long)XXH64(text, strlen(text), 0));
    for (int i = 2; i < argc; i++)
        print_counter(json_object_get(result, "total"), argv[i]);
    printf("\n");
    free(text);
    json_decref(result);
    return 0;
}
