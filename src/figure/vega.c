/* Vega, as Debian's libjs-vega has it: one file a module, each of which asks for others by require(). They are read
 * when a report is made, and written into it as functions of a table; web/vega.js calls them. Only the modules that the
 * report's figures need, in no particular order: require() finds them. Left out: maps, trees, forces, word clouds. */
#include "figure/report_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a module is called by the others, and in which file it is. */
static const struct {
    const char *name, *file;
} wanted[] = {
    {"vega-util", "vega-util"},
    {"vega-time", "vega-time"},
    {"vega-format", "vega-format"},
    {"vega-loader", "vega-loader"},
    {"vega-dataflow", "vega-dataflow"},
    {"vega-statistics", "vega-statistics"},
    {"vega-scale", "vega-scale"},
    {"vega-canvas", "vega-canvas"},
    {"vega-scenegraph", "vega-scenegraph"},
    {"vega-expression", "vega-expression"},
    {"vega-selections", "vega-selection"},
    {"vega-event-selector", "vega-event-selector"},
    {"vega-functions", "vega-functions"},
    {"vega-runtime", "vega-runtime"},
    {"vega-view", "vega-view"},
    {"vega-transforms", "vega-transforms"},
    {"vega-view-transforms", "vega-view-transforms"},
    {"vega-encode", "vega-encode"},
    {"vega-parser", "vega-parser"},
};
enum { WANTED_COUNT = sizeof wanted / sizeof *wanted };

const char *vega_folder(void)
{
    const char *given = getenv("HEDDLE_VEGA");
    return given && *given ? given : "/usr/share/javascript/vega";
}

static bool not_there(const char *path, const char *folder, struct error *e)
{
    error_set(e, ERROR_NOT_FOUND, "%s: %s", path, strerror(errno));
    error_note(e, "a report's figures are drawn by Vega, which is looked for in %s", folder);
    error_note(e, "install it (Debian, Ubuntu: apt-get install libjs-vega), or name its folder in HEDDLE_VEGA");
    return false;
}

static bool read_module(struct arena *a, const char *path, const char *folder, struct vega_module *m, struct error *e)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return not_there(path, folder, e);
    char *text = NULL;
    long size = fseek(f, 0, SEEK_END) ? -1 : ftell(f);
    rewind(f);
    if (size >= 0) {
        text = arena_alloc(a, (size_t)size + 1);
        m->text_bytes = fread(text, 1, (size_t)size, f);
    }
    bool failed = size <= 0 || m->text_bytes != (size_t)size || ferror(f);
    fclose(f);
    if (failed)
        return error_set(e, ERROR_IO, "%s: cannot be read%s", path, size == 0 ? ": it is empty" : "");
    m->text = text;
    /* A name of a file for debuggers, which they would look for beside the report. */
    char *map = strstr(text, "\n//# sourceMappingURL=");
    if (map)
        m->text_bytes = (size_t)(map - text);
    return true;
}

bool vega_load(struct arena *a, const char *folder, struct vega_module **modules, uint32_t *count, struct error *e)
{
    *modules = arena_array(a, struct vega_module, WANTED_COUNT);
    *count = WANTED_COUNT;
    for (uint32_t i = 0; i < WANTED_COUNT; i++) {
        (*modules)[i].name = wanted[i].name;
        if (!read_module(a, arena_printf(a, "%s/%s.min.js", folder, wanted[i].file), folder, &(*modules)[i], e))
            return false;
    }
    return true;
}

void vega_write(FILE *out, const struct vega_module *modules, uint32_t count)
{
    fputs("var vega_modules = {};\n", out);
    for (uint32_t i = 0; i < count; i++) {
        fprintf(out, "vega_modules[\"%s\"] = function (exports, module, require) {\n", modules[i].name);
        escape_script(out, modules[i].text, modules[i].text_bytes);
        fputs("\n};\n", out);
    }
}
