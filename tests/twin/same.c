/* same CORE.json MODEL.json: are the results of a run on the core (src/sm) and on the model the same but for `host`?
 * Prints the first differences; exit status 1: there are some. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 20 };

static json_t *load(const char *path)
{
    json_error_t e;
    json_t *root = json_load_file(path, 0, &e);
    if (!root) {
        fprintf(stderr, "%s:%d: %s\n", path, e.line, e.text);
        exit(1);
    }
    json_object_del(root, "host");
    return root;
}

static int differ(const char *path, const json_t *a, const json_t *b);

static int show(const char *path, const json_t *a, const json_t *b)
{
    static int shown;
    char *left = a ? json_dumps(a, JSON_ENCODE_ANY | JSON_COMPACT) : NULL,
         *right = b ? json_dumps(b, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    if (shown++ < SHOWN)
        printf("%s: core %.60s, model %.60s\n", path, left ? left : "nothing", right ? right : "nothing");
    free(left);
    free(right);
    return 1;
}

static int objects_differ(const char *path, const json_t *a, const json_t *b)
{
    const char *key;
    json_t *value;
    int bad = json_object_size(a) != json_object_size(b) && show(path, a, b);
    json_object_foreach((json_t *)a, key, value)
    {
        char inner[300];
        snprintf(inner, sizeof inner, "%s.%s", path, key);
        const json_t *other = json_object_get(b, key);
        if (strcmp(key, "pipeline") == 0 && json_object_get(value, "decode"))
            continue; /* README.md: stalls.pipeline.* */
        bad |= differ(inner, value, other);
    }
    return bad;
}

static int differ(const char *path, const json_t *a, const json_t *b)
{
    if (json_is_object(a) && json_is_object(b))
        return objects_differ(path, a, b);
    if (!json_is_array(a) || !json_is_array(b) || json_array_size(a) != json_array_size(b))
        return json_equal(a, b) ? 0 : show(path, a, b);
    int bad = 0;
    for (size_t i = 0; i < json_array_size(a); i++) {
        char inner[300];
        snprintf(inner, sizeof inner, "%s[%zu]", path, i);
        bad |= differ(inner, json_array_get(a, i), json_array_get(b, i));
    }
    return bad;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return fprintf(stderr, "usage: same CORE.json MODEL.json\n"), 2;
    json_t *core = load(argv[1]), *model = load(argv[2]);
    if (!json_is_array(json_object_get(core, "kernels")) || !json_array_size(json_object_get(core, "kernels")))
        return fprintf(stderr, "%s: no kernel was timed\n", argv[1]), 1;
    int bad = differ("", core, model);
    json_decref(core);
    json_decref(model);
    return bad;
}
