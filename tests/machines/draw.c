/* A random machine: a file of machines/, made small, and then step by step a key or some of one section, with a value
 * from the ends of its range or between. Keys, types and ranges are those of the simulator's own table
 * (gpu/machine_keys.def, gpu/rules.def), so that a new key is drawn from the day it is there. A step that the machine's
 * checks refuse is taken back; the message must show a key of it. */
#include "machines.h"

#include "gpu/machine_key.h"
#include "policy/registry.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Keys whose largest values would cost the host memory or time. */
static const struct {
    const char *section, *name;
    uint64_t most;
} dear[] = {{"machine", "cores", 32},          {"machine", "memory_bytes", 1ull << 30},
            {"machine", "launch_cycles", 500}, {"dram", "channels", 12},
            {"l2", "slices_per_channel", 4},   {"l2", "sets", 512},
            {"dram", "t_refi", 1 << 16},       {"dram", "half_bit", 20},
            {"dram", "channel_bit", 16}};
/* What a key whose machine has little of it may have all the same. */
enum { MANY_CYCLES = 64, MANY_BYTES = 256, MANY = 32 };
enum { CORES_TRIES = 60 };

struct dice {
    uint64_t state;
};

static uint64_t roll(struct dice *d)
{
    uint64_t z = d->state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static uint64_t below(struct dice *d, uint64_t n) { return roll(d) % n; }
static bool one_in(struct dice *d, uint64_t n) { return below(d, n) == 0; }

/* Values. */

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t most_of(const struct machine_key *key, uint64_t now)
{
    for (size_t i = 0; i < sizeof dear / sizeof *dear; i++)
        if (!strcmp(dear[i].section, key->section) && !strcmp(dear[i].name, key->name))
            return dear[i].most;
    uint64_t many = strstr(key->unit, "cycles") ? MANY_CYCLES : strstr(key->unit, "bytes") ? MANY_BYTES : MANY;
    return smaller(key->most, larger(many, 2 * now));
}

/* Numbers of all magnitudes are equally likely. */
static uint64_t between(struct dice *d, uint64_t least, uint64_t most)
{
    uint64_t span = most - least, value = least;
    if (span)
        value += below(d, smaller(span, 1ull << below(d, 64 - (uint64_t)__builtin_clzll(span) + 1)) + 1);
    return value;
}

static uint64_t draw_number(struct dice *d, const struct machine_key *key, uint64_t now)
{
    uint64_t least = key->least, most = larger(most_of(key, now), least), value;
    switch (below(d, 8)) {
    case 0:
    case 1:
    case 2: return least;
    case 3: return most;
    case 4: return smaller(least + 1, most);
    case 5: value = now / 2; break;
    default: value = between(d, least, most); break;
    }
    if (one_in(d, 2) && value) /* many keys want a power of two */
        value = 1ull << (63 - __builtin_clzll(value));
    return smaller(larger(value, least), most);
}

static uint64_t draw_khz(struct dice *d, uint64_t now)
{
    static const uint64_t percent[] = {12, 25, 50, 100, 150, 200, 333, 800};
    uint64_t khz = now * percent[below(d, sizeof percent / sizeof *percent)] / 100;
    return one_in(d, 4) ? khz + below(d, 999) : khz;
}

static void draw_list(struct dice *d, const struct machine_key *key, const uint32_t *now, char *out, size_t size)
{
    size_t length = 0;
    bool all_least = one_in(d, 4);
    for (unsigned i = 0; i < MACHINE_LIST_LENGTH; i++) {
        uint64_t value = all_least ? key->least : between(d, key->least, larger(now[i], key->least + 1));
        length += (size_t)snprintf(out + length, size - length, "%s%llu", i ? "," : "", (unsigned long long)value);
    }
}

/* A policy's name, or an order of address bits; other texts stay. */
static void draw_text(struct dice *d, const struct machine_key *key, const char *now, char *out, size_t size)
{
    static const struct {
        const char *name;
        enum policy_kind kind;
    } kinds[] = {{"scheduler", POLICY_SCHEDULER},
                 {"l1", POLICY_L1},
                 {"policy", POLICY_L1}, /* of the L2 */
                 {"divergence", POLICY_DIVERGENCE}};
    snprintf(out, size, "%s", now);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t count = 0;
        if (strcmp(key->name, kinds[i].name))
            continue;
        while (policy_builtin(kinds[i].kind, count))
            count++;
        snprintf(out, size, "%s", policy_builtin(kinds[i].kind, below(d, count))->name);
        return;
    }
    for (size_t i = strcspn(now, "S"); !strcmp(key->name, "map") && i > 1;
         i--) { /* letters before the burst's change places */
        size_t other = below(d, i);
        char letter = out[other];
        out[other] = out[i - 1];
        out[i - 1] = letter;
    }
}

static void draw_value(struct dice *d, const struct machine *m, const struct machine_key *key, char *out, size_t size)
{
    const void *field = (const char *)m + key->offset;
    uint64_t khz;
    size_t choices = 0;
    switch (key->type) {
    case MACHINE_U32:
        snprintf(out, size, "%llu", (unsigned long long)draw_number(d, key, *(const uint32_t *)field));
        return;
    case MACHINE_U64:
        snprintf(out, size, "%llu", (unsigned long long)draw_number(d, key, *(const uint64_t *)field));
        return;
    case MACHINE_MHZ:
        khz = draw_khz(d, *(const uint64_t *)field);
        snprintf(out, size, "%llu.%03llu", (unsigned long long)khz / 1000, (unsigned long long)khz % 1000);
        return;
    case MACHINE_BOOL: snprintf(out, size, "%s", one_in(d, 2) ? "true" : "false"); return;
    case MACHINE_LIST: draw_list(d, key, field, out, size); return;
    case MACHINE_TEXT: draw_text(d, key, field, out, size); return;
    default:
        while (machine_choices(key->type)[choices])
            choices++;
        snprintf(out, size, "%s", machine_choices(key->type)[below(d, choices)]);
        return;
    }
}

/* Keys. */

static bool in_section(const struct machine_key *key, const char *section) { return !strcmp(key->section, section); }

static const struct machine_key *any_key(struct dice *d) { return &machine_keys[below(d, machine_key_count)]; }

static const struct machine_key *any_key_of(struct dice *d, const char *section)
{
    const struct machine_key *key;
    do
        key = any_key(d);
    while (!in_section(key, section));
    return key;
}

/* One whose unit is what stands in queues and buffers. */
static const struct machine_key *any_queue(struct dice *d)
{
    const struct machine_key *key;
    do
        key = any_key(d);
    while (strcmp(key->unit, "packets") && strcmp(key->unit, "flits"));
    return key;
}

static const struct machine_key *key_named(const char *section, const char *name)
{
    for (uint32_t i = 0; i < machine_key_count; i++)
        if (in_section(&machine_keys[i], section) && !strcmp(machine_keys[i].name, name))
            return &machine_keys[i];
    fprintf(stderr, "machines: there is no key %s.%s any more: tests/machines/draw.c names it\n", section, name);
    abort();
}

/* A machine on its way. */
struct draft {
    struct dice dice;
    struct machine machine; /* what has been accepted so far */
    struct outcome *o;
    uint32_t accepted; /* of o->machine.sets; those after them are tried */
    const struct machine_key *tried[4];
    uint32_t tries;
};

static bool load(const struct drawn_machine *drawn, struct machine *m, struct error *e)
{
    const char *sets[SETS_MOST];
    for (uint32_t i = 0; i < drawn->set_count; i++)
        sets[i] = drawn->sets[i];
    return machine_load(m, drawn->base, sets, drawn->set_count, e);
}

static void try_value(struct draft *t, const struct machine_key *key, const char *value)
{
    struct drawn_machine *drawn = &t->o->machine;
    if (drawn->set_count == SETS_MOST)
        return;
    snprintf(drawn->sets[drawn->set_count++], SET_BYTES, "%s.%s=%s", key->section, key->name, value);
    t->tried[t->tries++] = key;
}

static void try_key(struct draft *t, const struct machine_key *key)
{
    char value[SET_BYTES - 64];
    draw_value(&t->dice, &t->machine, key, value, sizeof value);
    try_value(t, key, value);
}

static bool is_clear(const struct draft *t, const struct error *e)
{
    for (uint32_t i = 0; i < t->tries; i++)
        if (strstr(e->text, t->tried[i]->name))
            return true;
    return t->tries == 0;
}

/* The end of a step. False: it was refused; the draft is as before. */
static bool decide(struct draft *t, bool *is_good)
{
    struct error e = {0};
    struct machine m;
    struct drawn_machine *drawn = &t->o->machine;
    bool taken = load(drawn, &m, &e);
    if (taken) {
        t->machine = m;
        t->accepted = drawn->set_count;
    } else {
        t->o->refused++;
        *is_good &= is_clear(t, &e);
        if (!is_clear(t, &e))
            snprintf(t->o->report, sizeof t->o->report, "a refusal that names no key of %s and %u others:\n%.3000s",
                     drawn->sets[t->accepted], t->tries - 1, e.text);
        drawn->set_count = t->accepted;
    }
    t->tries = 0;
    return taken;
}

static const char *any_base(struct dice *d)
{
    static glob_t files;
    if (!files.gl_pathc && glob("machines/*.ini", 0, NULL, &files)) {
        fprintf(stderr, "machines: there is no machines/*.ini here: run it in the repository's root\n");
        exit(2);
    }
    return files.gl_pathv[below(d, files.gl_pathc)];
}

/* Few cores and channels, so that a machine is made quickly; whole clusters. */
static bool make_small(struct draft *t)
{
    static const uint32_t of_cluster[] = {1, 1, 1, 2, 3, 4}, of_clusters[] = {1, 2, 3, 4, 6, 8, 10};
    bool is_good = true;
    for (uint32_t i = 0; i < CORES_TRIES; i++) {
        char value[16];
        uint32_t each = of_cluster[below(&t->dice, 6)], clusters = of_clusters[below(&t->dice, 7)];
        snprintf(value, sizeof value, "%u", each * clusters);
        try_value(t, key_named("machine", "cores"), value);
        snprintf(value, sizeof value, "%u", each);
        try_value(t, key_named("machine", "cores_per_cluster"), value);
        snprintf(value, sizeof value, "%u", 1 + (uint32_t)below(&t->dice, 6));
        try_value(t, key_named("dram", "channels"), value);
        if (decide(t, &is_good) || !is_good)
            return is_good;
    }
    return is_good;
}

bool draw_machine(uint64_t seed, struct outcome *o)
{
    struct error e = {0};
    struct draft t = {.dice = {seed * 0x2545f4914f6cdd1d + 1}, .o = o};
    bool is_good = true;
    snprintf(o->machine.base, sizeof o->machine.base, "%s", any_base(&t.dice));
    o->machine.pcs = one_in(&t.dice, 4);
    if (!load(&o->machine, &t.machine, &e)) {
        snprintf(o->report, sizeof o->report, "%s", e.text);
        return false;
    }
    if (!make_small(&t))
        return false;
    if (one_in(&t.dice, 2)) {
        try_key(&t, key_named("interconnect", "network"));
        decide(&t, &is_good);
    }
    uint64_t networks = 1 + below(&t.dice, 3), queues = below(&t.dice, 5), others = between(&t.dice, 0, 16),
             steps = networks + queues + others;
    for (uint64_t i = 0; i < steps && is_good; i++) {
        const struct machine_key *key = i < networks            ? any_key_of(&t.dice, "interconnect")
                                        : i < networks + queues ? any_queue(&t.dice)
                                                                : any_key(&t.dice);
        try_key(&t, key);
        for (uint64_t more = one_in(&t.dice, 3) ? 1 + below(&t.dice, 2) : 0; more; more--)
            try_key(&t, any_key_of(&t.dice, key->section));
        decide(&t, &is_good);
    }
    return is_good;
}
