/* How a machine is made: the defaults of machine_keys.def and rules.def, then the files that its file is based on, its
 * file, --set, and the check of the whole. */
#include "gpu/machine.h"
#include "gpu/machine_read.h"

#include <stdlib.h>
#include <string.h>

static void set_name(struct machine *m, const char *name)
{
    const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
    size_t length = strlen(base);
    if (length > 4 && strcmp(base + length - 4, ".ini") == 0)
        length -= 4;
    snprintf(m->name, sizeof m->name, "%.*s", (int)length, base);
}

/* Reads a machine, with the places of its values. The caller frees the texts that these point into. */
static bool resolve(struct machine_reading *r, struct source *sets, const char *name, const char *const *overrides,
                    uint32_t override_count)
{
    struct machine *m = r->machine;
    bool good = machine_read_file(r, name);
    for (uint32_t i = 0; good && i < override_count; i++) {
        sets[i] = (struct source){"--set", overrides[i], strlen(overrides[i])};
        good = machine_read_override(r, &sets[i]);
    }
    good = good && machine_check(&(struct machine_checker){m, r->places, r->error});
    m->mem.core_count = m->cores / m->sm.cores_per_cluster;
    m->mem.cores_per_port = m->sm.cores_per_cluster;
    return good;
}

/* Says where a value came from. */
static void format_origin(const struct machine_reading *r, uint32_t key, char *out, size_t size)
{
    const struct machine_place *p = &r->places[key];
    if (!p->line && machine_keys[key].read)
        snprintf(out, size, "rulebook %s", machine_books[r->machine->rulebook].name);
    else if (!p->line)
        snprintf(out, size, "default");
    else if (p->layer == MACHINE_OVERRIDES)
        snprintf(out, size, "command line");
    else
        snprintf(out, size, "%s%s:%d", p->layer == MACHINE_FILE ? "" : "base ", p->source->name, p->line);
}

static void trace(const struct machine_reading *r, machine_tracer *tell, void *context)
{
    for (uint32_t i = 0; i < machine_key_count; i++) {
        char value[128], origin[MACHINE_PATH_BYTES + 32];
        machine_format(r->machine, &machine_keys[i], value, sizeof value);
        format_origin(r, i, origin, sizeof origin);
        tell(context, machine_keys[i].section, machine_keys[i].name, value, origin);
    }
}

bool machine_trace(struct machine *m, const char *name, const char *const *overrides, uint32_t override_count,
                   machine_tracer *tell, void *context, struct error *e)
{
    struct error own = {0};
    struct machine_reading *r = calloc(1, sizeof *r);
    struct source *sets = calloc(override_count + 1u, sizeof *sets);
    bool good = r && sets;
    machine_set_defaults(m);
    set_name(m, name);
    if (!good) {
        error_set(e, ERROR_NO_MEMORY, "out of memory");
    } else {
        r->machine = m;
        r->error = e ? e : &own;
        good = resolve(r, sets, name, overrides, override_count);
        if (good && tell)
            trace(r, tell, context);
        for (uint32_t i = 0; i < r->file_count; i++)
            free((char *)r->files[i].source.text);
    }
    free(sets);
    free(r);
    return good;
}

bool machine_load(struct machine *m, const char *name, const char *const *overrides, uint32_t override_count,
                  struct error *e)
{
    return machine_trace(m, name, overrides, override_count, NULL, NULL, e);
}

void machine_visit(const struct machine *m, machine_visitor *visit, void *context)
{
    for (uint32_t i = 0; i < machine_key_count; i++) {
        const struct machine_key *key = &machine_keys[i];
        char value[128];
        machine_format(m, key, value, sizeof value);
        visit(context, key->section, key->name, value,
              key->type == MACHINE_U32 || key->type == MACHINE_U64 || key->type == MACHINE_MHZ);
    }
}

uint32_t machine_l2_bytes(const struct machine *m)
{
    const struct cache_config *c = &m->mem.l2.cache;
    return m->mem.dram.channels * m->mem.l2.slices_per_channel * c->sets * c->ways * c->line_bytes;
}

uint32_t machine_bus_bits(const struct machine *m)
{
    return m->mem.dram.channels * m->mem.dram.chips * m->mem.dram.bus_bytes * 8;
}
