/* Does a machine file give the machine that it says, does what is printed read back the same, and is a machine that
 * cannot be refused with its place? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gpu/machine.h"
#include "gpu/machine_key.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/heddle-machine-XXXXXX";

/* A file of this text in the test's folder. */
static const char *file_of(const char *name, const char *text)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    return path;
}

static struct machine load_text(const char *text)
{
    struct machine m;
    struct error e = {0};
    if (!machine_load(&m, file_of("test.ini", text), NULL, 0, &e))
        fail_msg("%s", e.text);
    return m;
}

static struct machine load_shipped(const char *name)
{
    struct machine m;
    struct error e = {0};
    char path[64];
    snprintf(path, sizeof path, "machines/%s.ini", name);
    if (!machine_load(&m, path, NULL, 0, &e))
        fail_msg("%s", e.text);
    return m;
}

/* The machine is refused, at this line and column, with these words. */
static void refuse_at(const char *text, int line, int column, const char *words, const char *source, int source_line)
{
    struct machine m;
    struct error e = {0};
    bool loaded = machine_load(&m, file_of("test.ini", text), NULL, 0, &e);
    if (loaded || e.line != line || e.column != column || !strstr(e.text, words))
        fail_msg("%s:%d: expected line %d, column %d, '%s'; got %s", source, source_line, line, column, words,
                 loaded ? "a machine" : e.text);
}
#define refuse(text, line, column, words) refuse_at(text, line, column, words, __FILE__, __LINE__)

static void refuse_set_at(const char *override, int column, const char *words, const char *source, int source_line)
{
    struct machine m;
    struct error e = {0};
    bool loaded = machine_load(&m, "machines/gtx480.ini", &override, 1, &e);
    if (loaded || strncmp(e.text, "--set:1:", 8) != 0 || e.column != column || !strstr(e.text, words))
        fail_msg("%s:%d: expected column %d, '%s'; got %s", source, source_line, column, words,
                 loaded ? "a machine" : e.text);
}
#define refuse_set(override, column, words) refuse_set_at(override, column, words, __FILE__, __LINE__)

static const char *const shipped[] = {"gtx480", "gtx480-gs4", "ccws", "c2050", "slp"};
enum { SHIPPED = sizeof shipped / sizeof *shipped };

static void test_defaults_are_the_gtx480(void **state)
{
    (void)state;
    struct machine empty = load_text(""), gtx480 = load_shipped("gtx480");
    memcpy(empty.name, gtx480.name, sizeof empty.name);
    for (uint32_t i = 0; i < machine_key_count; i++) {
        char a[128], b[128];
        machine_format(&empty, &machine_keys[i], a, sizeof a);
        machine_format(&gtx480, &machine_keys[i], b, sizeof b);
        if (strcmp(a, b) != 0)
            fail_msg("%s.%s: default %s, gtx480 %s", machine_keys[i].section, machine_keys[i].name, a, b);
    }
    assert_memory_equal(&empty, &gtx480, sizeof empty);
}

static void test_papers_values(void **state)
{
    (void)state;
    struct machine m = load_shipped("gtx480");
    assert_string_equal(m.name, "gtx480");
    assert_int_equal(m.cores, 15);
    assert_int_equal(m.mem.core_count, 15);
    assert_int_equal(m.memory_bytes, 16ull << 30);
    assert_int_equal(machine_l2_bytes(&m), 768 << 10);
    assert_int_equal(machine_bus_bits(&m), 384);
    assert_int_equal(m.sm.l1d.sets * m.sm.l1d.ways * m.sm.l1d.line_bytes, 16 << 10);
    assert_int_equal(m.sm.integer.latency[4], 145);
    assert_int_equal(m.sm.l1i.global_writes, WRITE_READ_ONLY);
    assert_int_equal(m.mem.dram_khz, 924000);
    m = load_shipped("gtx480-gs4");
    assert_int_equal(machine_l2_bytes(&m), 768 << 10);
    assert_int_equal(m.mem.l2.slices_per_channel, 2);
    assert_int_equal(m.sm.l1d.index, SET_INDEX_HASHED);
    assert_int_equal(m.sm.integer_multiply, MULTIPLY_ON_SP);
    assert_true(m.mem.l2.filled_by_copies);
    m = load_shipped("ccws");
    assert_int_equal(m.cores, 30);
    assert_int_equal(m.mem.core_count, 10);
    assert_int_equal(m.mem.cores_per_port, 3);
    assert_int_equal(machine_l2_bytes(&m), 1 << 20);
    assert_int_equal(m.sm.l1d.sets * m.sm.l1d.ways * m.sm.l1d.line_bytes, 32 << 10);
    assert_int_equal(m.mem.core_khz, 325000);
    m = load_shipped("c2050");
    assert_int_equal(m.cores, 14);
    assert_int_equal(machine_l2_bytes(&m), 768 << 10);
    m = load_shipped("slp");
    assert_int_equal(machine_l2_bytes(&m), 1 << 20);
    assert_int_equal(m.sm.l1d.line_bytes, 64);
    assert_int_equal(m.sm.coalesce_parts, 1);
    assert_string_equal(m.scheduler, "sticky");
}

static void print_to(const struct machine *m, const char *path)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    machine_print(m, f);
    fclose(f);
}

static void test_printed_file_reads_back_the_same(void **state)
{
    (void)state;
    for (int n = 0; n < SHIPPED; n++) {
        struct machine before = load_shipped(shipped[n]), after;
        struct error e = {0};
        char path[128];
        before.mem.core_khz = 1234567; /* a clock with decimals */
        before.seed = UINT64_MAX;
        snprintf(path, sizeof path, "%s/%s.ini", folder, shipped[n]);
        print_to(&before, path);
        if (!machine_load(&after, path, NULL, 0, &e))
            fail_msg("%s", e.text);
        assert_memory_equal(&before, &after, sizeof before);
    }
}

/* Every key can be written and is read again: a second value of each, away from its default, through --set. */
static void test_every_key_can_be_set(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < machine_key_count; i++) {
        const struct machine_key *key = &machine_keys[i];
        const char *const *choices = machine_choices(key->type);
        struct machine m;
        struct machine_complaint why;
        char text[64], back[128];
        machine_set_defaults(&m);
        machine_format(&m, key, back, sizeof back);
        switch (key->type) {
        case MACHINE_BOOL: snprintf(text, sizeof text, "%s", strcmp(back, "true") ? "true" : "false"); break;
        case MACHINE_TEXT: snprintf(text, sizeof text, "RBCS"); break;
        case MACHINE_LIST: snprintf(text, sizeof text, "11,12,13,14,15"); break;
        case MACHINE_MHZ: snprintf(text, sizeof text, "123.456"); break;
        case MACHINE_U32:
        case MACHINE_U64:
            snprintf(text, sizeof text, "%llu",
                     (unsigned long long)(strtoull(back, NULL, 10) == key->most ? key->least : key->most));
            break;
        default: snprintf(text, sizeof text, "%s", strcmp(back, choices[0]) ? choices[0] : choices[1]); break;
        }
        if (!machine_parse(&m, key, text, strlen(text), &why))
            fail_msg("%s.%s = %s: %s", key->section, key->name, text, why.expected);
        assert_string_not_equal(text, back);
        machine_format(&m, key, back, sizeof back);
        assert_string_equal(text, back);
    }
}

/* No two keys share a field, and every field is bounded by its type. */
static void test_keys_have_fields_of_their_own(void **state)
{
    (void)state;
    static const size_t bytes[MACHINE_TYPE_COUNT] = {
        [MACHINE_U32] = 4,    [MACHINE_U64] = 8,      [MACHINE_MHZ] = 8,      [MACHINE_BOOL] = 1,
        [MACHINE_LIST] = 20,  [MACHINE_TEXT] = 64,    [MACHINE_MULTIPLY] = 4, [MACHINE_INDEX] = 4,
        [MACHINE_WRITES] = 4, [MACHINE_ALLOCATE] = 4, [MACHINE_DRAM] = 4,     [MACHINE_EMPTIES] = 4,
        [MACHINE_BOOK] = 4,   [MACHINE_NETWORK] = 4,  [MACHINE_CORE_KIND] = 4};
    for (uint32_t i = 0; i < machine_key_count; i++) {
        const struct machine_key *a = &machine_keys[i];
        assert_int_equal(a->bytes, bytes[a->type]);
        assert_true(strlen(a->help) > 0);
        for (uint32_t j = 0; j < i; j++) {
            const struct machine_key *b = &machine_keys[j];
            if (a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes)
                fail_msg("%s.%s and %s.%s share a field", a->section, a->name, b->section, b->name);
            if (!strcmp(a->section, b->section) && !strcmp(a->name, b->name))
                fail_msg("%s.%s is there twice", a->section, a->name);
        }
    }
}

#define FIELD(f)                                                      \
    {                                                                 \
        offsetof(struct machine, f), sizeof(((struct machine *)0)->f) \
    }
#define READ_ONLY_CACHE(c)                                                                         \
    FIELD(c.sector_bytes), FIELD(c.global_writes), FIELD(c.local_writes), FIELD(c.write_allocate), \
        FIELD(c.latency_cycles), FIELD(c.banks), FIELD(c.port_bytes)
/* A field that is added to a configuration and forgotten in the table is found here. */
static void test_every_field_has_a_key(void **state)
{
    static const struct {
        size_t offset, bytes;
    } without_key[] = {
        FIELD(name),
        FIELD(mem.core_count),
        FIELD(mem.cores_per_port),
        READ_ONLY_CACHE(sm.l1c),
        READ_ONLY_CACHE(sm.l1t),
        READ_ONLY_CACHE(sm.l1i),
        FIELD(sm.l1d.port_bytes),
        FIELD(mem.l2.cache.latency_cycles),
        FIELD(mem.l2.cache.banks),
        {offsetof(struct machine, mem) - 4, 4}, /* padding */
    };
    bool covered[sizeof(struct machine) / 4] = {false};
    (void)state;
    for (uint32_t i = 0; i < machine_key_count; i++)
        for (size_t at = machine_keys[i].offset; at < machine_keys[i].offset + machine_keys[i].bytes; at++)
            covered[at / 4] = true;
    for (size_t i = 0; i < sizeof without_key / sizeof *without_key; i++)
        for (size_t at = without_key[i].offset; at < without_key[i].offset + without_key[i].bytes; at++)
            covered[at / 4] = true;
    for (uint32_t i = 0; i < machine_key_count; i++)
        if (machine_keys[i].bytes == 8)
            covered[machine_keys[i].offset / 4 - 1] = true; /* padding, or the field before */
    for (size_t i = 0; i < sizeof covered / sizeof *covered; i++)
        if (!covered[i])
            fail_msg("the bytes from %zu of struct machine (sm at %zu, mem at %zu) belong to no key", i * 4,
                     offsetof(struct machine, sm), offsetof(struct machine, mem));
}

static void test_overrides(void **state)
{
    (void)state;
    static const char *const set[] = {"core.warps=16",
                                      "l1d.sets=64",
                                      "core.warps=24",
                                      "clock.core_mhz=616.25",
                                      "rules.dram_scheduler=fifo",
                                      "latency.integer=4, 13, 4, 5, 99"};
    struct machine m;
    struct error e = {0};
    assert_true(machine_load(&m, "machines/gtx480.ini", set, sizeof set / sizeof *set, &e));
    assert_int_equal(m.sm.warps, 24); /* the last one counts */
    assert_int_equal(m.sm.l1d.sets, 64);
    assert_int_equal(m.mem.core_khz, 616250);
    assert_int_equal(m.mem.dram.scheduler, DRAM_FIFO);
    assert_int_equal(m.sm.integer.latency[4], 99);
    refuse_set("core.warps=65", 12, "expected a whole number from 1 to 64");
    refuse_set("core.warp=4", 6, "did you mean warps?");
    refuse_set("cor.warps=4", 1, "did you mean [core]?");
    refuse_set("warps=4", 1, "expected section.key=value");
    refuse_set("core.warps", 1, "expected section.key=value");
    refuse_set("core.warps=", 12, "expected a whole number");
}

/* Every value of every rulebook can be read, and a mistake that is marked is one of the rule's values. */
static void test_rulebooks(void **state)
{
    struct machine m;
    struct machine_complaint why;
    uint32_t rules = 0, mistakes = 0;
    (void)state;
    machine_set_defaults(&m);
    assert_int_equal(machine_keys[MACHINE_RULEBOOK].type, MACHINE_BOOK);
    for (uint32_t i = 0; i < machine_key_count; i++) {
        const struct machine_key *k = &machine_keys[i];
        assert_true(!strcmp(k->section, "rules") == !!k->read);
        rules += !!k->read;
        mistakes += k->mistake != NULL;
        for (uint32_t book = 0; book < MACHINE_BOOKS; book++) {
            const char *value = machine_value_in(k, book);
            if (!machine_parse(&m, k, value, strlen(value), &why))
                fail_msg("%s.%s in %s: %s", k->section, k->name, machine_books[book].name, why.expected);
            if (k->in[book] && !strcmp(k->in[book], k->value))
                fail_msg("%s: %s says what all rulebooks say", k->name, machine_books[book].name);
        }
        if (k->mistake && !machine_parse(&m, k, k->mistake, strlen(k->mistake), &why))
            fail_msg("%s, mistake: %s", k->name, why.expected);
        if (k->read && !*k->read)
            fail_msg("%s: where was it read?", k->name);
    }
    assert_true(rules > 40 && mistakes > 5);
}

static const char *book_of(const struct machine *m) { return machine_books[m->rulebook].name; }

/* Whose rules, and the single ones that differ: in a file, wherever they stand in it, and by --set. */
static void test_rules(void **state)
{
    struct machine m = load_text("");
    struct error e = {0};
    (void)state;
    assert_string_equal(book_of(&m), "gpgpusim-3");
    m = load_text("[rules]\nschedulers_take_turns = false\n[l2]\nsector_bytes = 32\n[machine]\nrules = gpgpusim-4\n");
    assert_string_equal(book_of(&m), "gpgpusim-4");
    assert_true(m.mem.l2.upper_halves_slip && !m.sm.schedulers_take_turns);
    m = load_text("[machine]\nrules = ccws-2012\n");
    assert_int_equal(m.sm.l1d.index, SET_INDEX_MULTIPLIED);
    static const char *const sets[] = {"rules.code_packed=true", "machine.rules=gpgpusim-2",
                                       "rules.ends_in_fetch=true"};
    assert_true(machine_load(&m, "machines/gtx480.ini", sets, 3, &e));
    assert_string_equal(book_of(&m), "gpgpusim-2");
    assert_true(m.sm.code_packed && m.sm.ends_in_fetch && !m.sm.fetch_moves_on);
    refuse("[machine]\nrules = gpgpusim-5\n", 2, 9, "expected gpgpusim-2, gpgpusim-3, gpgpusim-4 or ccws-2012");
    refuse("[machine]\nrules = hopper\n", 2, 9, "write based_on = h200 instead"); /* a rulebook once */
    m = load_text("[machine]\nbased_on = h200\ncores = 6\n");
    assert_true(m.cores == 6 && m.sm.kind == CORE_KIND_sub_cores && m.sm.exact_sectors && !m.mem.l2.upper_halves_slip);
    refuse("[rules]\ncode_backed = true\n", 2, 1, "did you mean code_packed?");
    refuse("[machine]\nrules = gpgpusim-3\n[l2]\nsector_bytes = 32\n", 4, 16, "divides lines");
    refuse("[l2]\nsector_bytes = 32\n[machine]\nrules = gpgpusim-3\n", 4, 9, "divides lines"); /* the book's rule */
}

/* Keys that became rules say so, under their old names. */
static void test_old_spellings(void **state)
{
    (void)state;
    refuse("[issue]\n  code_packed = true\n", 2, 3, "issue.code_packed is a rule");
    refuse("[l2]\nindex = hashed\n", 2, 1, "rules.l2_index");
    refuse_set("lsu.vectors_by_element=true", 5, "rules.vectors_by_element");
    refuse_set("dram.scheduler=fifo", 6, "rules.dram_scheduler");
    refuse_set("l2.upper_halves_slip=true", 4, "rules.l2_upper_halves_slip");
    refuse_set("rules.sub_cores=true", 7, "write core_kind = sub_cores instead");
}

static void test_based_on(void **state)
{
    struct machine m;
    char path[256];
    (void)state;
    m = load_text("[machine]\nbased_on = ccws\ncores = 6\n");
    assert_int_equal(m.cores, 6);
    assert_int_equal(m.sm.warps, 32);
    assert_string_equal(book_of(&m), "ccws-2012");
    assert_string_equal(m.name, "test");
    /* Of a path, which is seen from the file's folder; a base's single rules end where another book is named. */
    file_of("one.ini", "[rules]\ncode_packed = false\n[core]\nwarps = 16\n");
    m = load_text("[machine]\nbased_on = ./one.ini\n[rules]\nends_in_fetch = false\n");
    assert_true(m.sm.warps == 16 && !m.sm.code_packed && !m.sm.ends_in_fetch);
    m = load_text("[machine]\nbased_on = one.ini\nrules = gpgpusim-3\n");
    assert_true(m.sm.warps == 16 && m.sm.code_packed);
    file_of("gtx480.ini", "[core]\nwarps = 3\n"); /* the machine beside the file, for files of that folder only */
    setenv("HEDDLE_MACHINES", folder, 1);
    assert_int_equal(load_text("[machine]\nbased_on = gtx480\n").sm.warps, 3);
    assert_int_equal(load_shipped("c2050").sm.warps, 48);
    file_of("ccws.ini", "[machine]\nbased_on = c2050\n"); /* c2050 is not beside it */
    assert_int_equal(load_text("[machine]\nbased_on = ccws\n").cores, 14);
    unsetenv("HEDDLE_MACHINES");
    snprintf(path, sizeof path, "rm %s/gtx480.ini %s/ccws.ini", folder, folder);
    assert_int_equal(system(path), 0);
    refuse("[machine]\ncores = 6\nbased_on = ccws\n", 3, 1, "before all other keys");
    refuse("[machine]\nbased_on =\n", 2, 1, "expected the machine");
    refuse("[machine]\nbased_on = gtx48\n", 2, 12, "did you mean gtx480?");
    refuse("[machine]\nbased_on = ./nothing.ini\n", 2, 12, "No such file");
    refuse("[machine]\nbased_on = ./test.ini\n", 2, 12, "is based on itself");
    refuse("[core]\nbased_on = ccws\n", 2, 1, "unknown key based_on");
    file_of("one.ini", "[machine]\nbased_on = ./test.ini\n");
    refuse("[machine]\nbased_on = ./one.ini\n", 2, 12, "one.ini:2:12"); /* the file in which the circle closes */
    file_of("one.ini", "[core]\nwarps = 65\n");
    refuse("[machine]\nbased_on = ./one.ini\n", 2, 9, "one.ini:2:9");
    refuse("[machine]\nbased_on = ./one.ini\n", 2, 9, "test.ini is based on it");
    for (int i = 2; i <= 9; i++) {
        char name[16], text[64];
        snprintf(name, sizeof name, "%d.ini", i);
        snprintf(text, sizeof text, "[machine]\nbased_on = ./%d.ini\n", i + 1);
        file_of(name, text);
    }
    refuse("[machine]\nbased_on = ./2.ini\n", 2, 12, "more than 8 machines");
}

/* Where every value came from. */
struct origins {
    char cores[512], warps[512], ways[512], sets[512], slip[512], packed[512];
};
static void take_origin(void *context, const char *section, const char *key, const char *value, const char *origin)
{
    struct origins *o = context;
    const struct {
        const char *section, *key;
        char *to;
    } wanted[] = {{"machine", "cores", o->cores},
                  {"core", "warps", o->warps},
                  {"l1d", "ways", o->ways},
                  {"l1d", "sets", o->sets},
                  {"rules", "l2_upper_halves_slip", o->slip},
                  {"rules", "code_packed", o->packed}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!strcmp(section, wanted[i].section) && !strcmp(key, wanted[i].key))
            snprintf(wanted[i].to, 512, "%s %s", value, origin);
}

static void test_origins(void **state)
{
    struct machine m;
    struct error e = {0};
    struct origins o;
    char expected[256];
    const char *const sets[] = {"l1d.ways=2", "rules.code_packed=false"};
    (void)state;
    file_of("one.ini", "[core]\nwarps = 16\n");
    if (!machine_trace(&m, file_of("test.ini", "[machine]\nbased_on = ./one.ini\ncores = 6\n"), sets, 2, take_origin,
                       &o, &e))
        fail_msg("%s", e.text);
    snprintf(expected, sizeof expected, "6 %s/test.ini:3", folder);
    assert_string_equal(o.cores, expected);
    snprintf(expected, sizeof expected, "16 base %s/./one.ini:2", folder);
    assert_string_equal(o.warps, expected);
    assert_string_equal(o.sets, "8 default");
    assert_string_equal(o.ways, "2 command line");
    assert_string_equal(o.slip, "false rulebook gpgpusim-3");
    assert_string_equal(o.packed, "false command line");
}

static void test_form(void **state)
{
    (void)state;
    struct machine m = load_text("\xef\xbb\xbf; with a mark\r\n[core]\r\n  warps=0x10 ; half\r\n# a "
                                 "comment\r\nshared_bytes = 16k\r\n\r\n[ l1d ]\nmiss_queue = 3 #;\n");
    assert_int_equal(m.sm.warps, 16);
    assert_int_equal(m.sm.shared_bytes, 16 << 10);
    assert_int_equal(m.sm.l1d.miss_queue, 3);
    refuse("warps = 3\n", 1, 1, "expected a [section]");
    refuse("[core]\nwarps\n", 2, 1, "expected key = value");
    refuse("[core\nwarps = 3\n", 1, 6, "expected ']'");
    refuse("[core]\nwarps =   ; nothing\n", 2, 8, "expected a value of core.warps");
    refuse("[core]\nwarps = 3\n\nwarps = 4\n", 4, 1, "given twice; first on line 2");
    refuse("[cores]\n", 1, 2, "did you mean [core]?");
    refuse("[nothing_like_it]\n", 1, 2, "unknown section");
    refuse("[core]\nwraps = 3\n", 2, 1, "did you mean warps?");
    refuse("[core]\nt_rc = 3\n", 2, 1, "there is one in [dram]");
}

static void test_values(void **state)
{
    (void)state;
    refuse("[l1d]\nways = 0\n", 2, 8, "expected a whole number from 1 to 64");
    refuse("[l1d]\nways = 4.5\n", 2, 8, "expected a whole number");
    refuse("[l1d]\nways = -4\n", 2, 8, "expected a whole number");
    refuse("[l1d]\nways = four\n", 2, 8, "expected a whole number");
    refuse("[core]\n  warps = 65\n", 2, 11, "from 1 to 64");
    refuse("[machine]\nmemory_bytes = 99999999999999999999\n", 2, 16, "expected a whole number");
    refuse("[machine]\nmemory_bytes = 17179869184G\n", 2, 16, "expected a whole number");
    refuse("[l1d]\nmshr_merge = 0\n", 2, 14, "from 1 to");
    refuse("[l2]\ninput_queue = 0\n", 2, 15, "from 1 to");
    refuse("[interconnect]\nflit_bytes = 0\n", 2, 14, "from 1 to");
    refuse("[clock]\nl2_mhz = 0\n", 2, 10, "expected a clock");
    refuse("[clock]\nl2_mhz = 0.0001\n", 2, 10, "expected a clock");
    refuse("[clock]\nl2_mhz = .5\n", 2, 10, "expected a clock");
    refuse("[clock]\nl2_mhz = 1e3\n", 2, 10, "expected a clock");
    refuse("[rules]\nl1_skips_global = maybe\n", 2, 19, "expected true or false");
    refuse("[rules]\nl1d_index = hash\n", 2, 13, "expected linear, hashed or multiplied");
    refuse("[machine]\nscheduler = a b\n", 2, 13, "without spaces");
    refuse("[latency]\ninteger = 4,13,4,5\n", 2, 19, "expected five");
    refuse("[latency]\ninteger = 4,13,4,5,1,1\n", 2, 21, "expected five");
    refuse("[latency]\ninteger = 4,13, 0,5,145\n", 2, 17, "expected five whole numbers from 1 to 512");
    refuse("[latency]\ninteger = 4,13,4,513,145\n", 2, 16 + 2, "from 1 to 512");
    refuse("[collector]\nregister_banks = 65\n", 2, 18, "from 1 to 64");
}

static void test_contradictions(void **state)
{
    (void)state;
    refuse("[machine]\ncores = 10\ncores_per_cluster = 3\n", 3, 21, "10 cores cannot be divided into clusters of 3");
    refuse("[issue]\nschedulers = 4\n[core]\nwarps = 3\n", 4, 9, "4 schedulers (issue.schedulers) have only 3 warps");
    refuse("[issue]\nfetch_bytes = 12\n", 2, 15, "a multiple of 8");
    refuse("[collector]\nsp_collectors = 60\n", 2, 17, "70 operand collectors");
    refuse("[lsu]\nshared_banks = 24\n", 2, 16, "a power of two");
    refuse("[latency]\ninteger_initiation = 1,2,5,1,8\n", 2, 26,
           "mul has an initiation interval of 5 cycles but a latency of 4");
    refuse("[latency]\nsfu = 4\n", 2, 7, "latency.sfu");
    refuse("[l1d]\nline_bytes = 96\n", 2, 14, "a power of two");
    refuse("[l1d]\nsector_bytes = 48\n", 2, 16, "does not divide a line of 128 bytes");
    refuse("[l1d]\nsector_bytes = 256\n", 2, 16, "does not divide a line of 128 bytes");
    refuse("[l1d]\nsets = 48\n[rules]\nl1d_index = hashed\n", 4, 13, "needs a power of two of sets, not 48");
    refuse("[l2]\nsets = 48\n[rules]\nl2_index = multiplied\n", 4, 12,
           "l2: a multiplied index needs a power of two of sets, not 48");
    refuse("[l1c]\nline_bytes = 256\n", 2, 14, "larger than a line of the L2");
    refuse("[dram]\nchannel_bit = 6\n", 2, 15, "expected at least 7");
    refuse("[l1i]\nsets = 0\n", 2, 8, "instruction cache");
    refuse("[l2]\nsets = 0\n", 2, 8, "needs its L2");
    refuse("[rules]\nl2_stores_fetch = true\nl2_write_allocate = false\n", 3, 21,
           "where rules.l2_write_allocate = true");
    refuse("[l2]\nsector_bytes = 32\n", 2, 16, "l2.sector_bytes = 32 divides lines");
    refuse("[l2]\nmiss_queue = 2\n", 2, 14, "needs 3 places of the miss queue, and l2.miss_queue = 2");
    refuse("[rules]\nl1d_global_writes = back-fetch\n", 2, 21, "only stores to the L2");
    refuse("[rules]\nl2_stores_fetch = false\nl2_global_writes = back-fetch\n[l2]\nmiss_queue = 2\n", 5, 14,
           "needs 3 places");
    refuse("[l2]\nways = 64\nline_bytes = 256\nsets = 65536\n", 4, 8, "an L2 of 6 GiB");
    refuse("[l2]\nslices_per_channel = 3\n", 2, 22, "a power of two");
    refuse("[l2]\nslices_per_channel = 32\n", 2, 22, "chosen by the bank");
    refuse("[l2]\nslices_per_channel = 16\n[dram]\nchannels = 17\n", 4, 12, "at most 256 slices");
    refuse("[dram]\nbanks = 18\n", 2, 9, "cannot be divided into 4 groups");
    refuse("[dram]\nburst_length = 6\n", 2, 16, "whole cycles");
    refuse("[dram]\nt_rc = 27\n", 2, 8, "shorter than dram.t_ras = 28");
    refuse("[dram]\nt_ras = 41\n", 2, 9, "dram.t_rc = 40 is shorter");
    refuse("[dram]\nt_rcd = 41\n", 2, 9, "dram.t_rc = 40 is shorter than dram.t_rcd");
    refuse("[dram]\nt_rcd = 29\n", 2, 9, "dram.t_ras = 28 is shorter than dram.t_rcd");
    refuse("[dram]\nt_ccd = 1\n", 2, 9, "shorter than a burst of 2 cycles");
    refuse("[dram]\nt_ccdl = 1\n", 2, 10, "shorter than dram.t_ccd = 2");
    refuse("[dram]\nt_wl = 17\n", 2, 8, "would be negative");
    refuse("[dram]\nmap = RRBCX.SS\n", 2, 7, "has a 'X'");
    refuse("[dram]\nmap = dramid@8;RBCSS\n", 2, 7, "dram.channel_bit");
    refuse("[dram]\nmap = RRCCSS\n", 2, 7, "no B (bank) bits");
    refuse("[dram]\nmap = SSRRBBCC\n", 2, 7, "does not end in S");
    refuse("[dram]\nmap = RRBBBBBCCSSSSSS\n", 2, 7, "5 bank bits, for more than the 16 banks");
    refuse("[dram]\nmap = RRRRBBBBCBSSSSSS\n[l2]\nslices_per_channel = 2\n", 2, 7, "5 bank bits");
    refuse("[dram]\nmap = RRRRBBBCBSSSSSS\n[l2]\nslices_per_channel = 2\n", 4, 22, "divides a line of 128 bytes");
}

/* Odd, but nothing that contradicts itself. */
static void test_odd_machines_are_allowed(void **state)
{
    (void)state;
    load_text("[dram]\nt_ras = 28\nt_rp = 20\n"); /* t_rc below their sum: t_rp holds anyway */
    load_text("[dram]\nt_wl = 14\nt_cl = 12\n");
    load_text("[dram]\nbank_groups = 1\nt_ccdl = 0\nt_rtpl = 0\n");
    load_text("[l1d]\nsets = 48\n");
    load_text("[l1d]\nsets = 0\n[l1t]\nsets = 0\n[l1c]\nsets = 0\n");
    load_text("[core]\nwarps = 1\n[issue]\nschedulers = 1\n");
    load_text("[dram]\nchannels = 1\n");
    load_text("[dram]\nmap = RRRRBBBCBSSSSSS\n"); /* one slice: any bank bit will do */
}

static void test_places(void **state)
{
    (void)state;
    struct machine m;
    struct error e = {0};
    assert_false(machine_load(&m, "gtx48", NULL, 0, &e));
    assert_non_null(strstr(e.text, "no machine gtx48"));
    e = (struct error){0};
    assert_false(machine_load(&m, "./nothing-here.ini", NULL, 0, &e));
    assert_non_null(strstr(e.text, "No such file"));
    e = (struct error){0};
    assert_false(machine_load(&m, "/tmp/", NULL, 0, &e));
    assert_non_null(strstr(e.text, "directory"));
    file_of("mine.ini", "[machine]\ncores = 7\n");
    setenv("HEDDLE_MACHINES", folder, 1);
    assert_true(machine_load(&m, "mine", NULL, 0, NULL));
    assert_int_equal(m.cores, 7);
    assert_string_equal(m.name, "mine");
    e = (struct error){0};
    assert_false(machine_load(&m, "mime", NULL, 0, &e));
    assert_non_null(strstr(e.text, "did you mean mine?"));
    unsetenv("HEDDLE_MACHINES");
    assert_true(machine_load(&m, "gtx480", NULL, 0, NULL)); /* wherever it is run: inside the library */
    assert_int_equal(m.cores, 15);
}

struct visited {
    uint32_t count, numbers;
    char l1d_sets[32], map[64];
    bool map_is_number;
};
static void visit(void *context, const char *section, const char *key, const char *value, bool is_number)
{
    struct visited *v = context;
    v->count++;
    v->numbers += is_number;
    if (!strcmp(section, "l1d") && !strcmp(key, "sets"))
        snprintf(v->l1d_sets, sizeof v->l1d_sets, "%s", value);
    if (!strcmp(key, "map")) {
        snprintf(v->map, sizeof v->map, "%s", value);
        v->map_is_number = is_number;
    }
}

static void test_visit(void **state)
{
    (void)state;
    struct machine m = load_shipped("gtx480");
    struct visited v = {0};
    machine_visit(&m, visit, &v);
    assert_int_equal(v.count, machine_key_count);
    assert_true(v.numbers > 100 && v.numbers < v.count);
    assert_string_equal(v.l1d_sets, "8");
    assert_string_equal(v.map, "RRRR.RRRRRRRR.BBBBCCCC.CCSSSSSS");
    assert_false(v.map_is_number);
}

static bool import(const char *path, const char *to, char **notes, struct error *e)
{
    size_t size = 0;
    FILE *out = fopen(to, "w"), *words = open_memstream(notes, &size);
    assert_non_null(out);
    bool good = machine_import(path, out, words, e);
    fclose(out);
    fclose(words);
    return good;
}

static struct machine import_file(const char *path, const char *expected_note)
{
    struct machine m = {0};
    struct error e = {0};
    char to[128], *notes = NULL;
    snprintf(to, sizeof to, "%s/imported.ini", folder);
    if (!import(path, to, &notes, &e) || !machine_load(&m, to, NULL, 0, &e))
        fail_msg("%s", e.text);
    if (*expected_note ? !strstr(notes, expected_note) : *notes)
        fail_msg("expected the note '%s', got: %s", expected_note, notes);
    free(notes);
    return m;
}

static void test_import(void **state)
{
    (void)state;
    struct machine m = import_file("tests/data/import/gpgpusim.config", "not carried over: -gpgpu_invented_option 7");
    assert_int_equal(m.cores, 8);
    assert_int_equal(m.mem.core_count, 4);
    assert_int_equal(m.sm.warps, 24);
    assert_int_equal(m.sm.integer_multiply, MULTIPLY_ON_SP);
    assert_true(m.sm.schedulers_take_turns && !m.sm.enters_lsu_at_once && m.sm.banks_at_once && m.sm.banks_by_name &&
                m.sm.fetch_moves_on && m.sm.ends_in_fetch && m.sm.fetch_sends_at_once && m.sm.code_packed &&
                m.launches_go_on && !m.sm.counts_dynamic_shared);
    assert_int_equal(m.sm.shuffle_latency, 32);
    assert_int_equal(m.sm.sfu_latency, 9);
    assert_int_equal(m.sm.l1d.sector_bytes, 32);
    assert_int_equal(m.sm.l1d.index, SET_INDEX_HASHED);
    assert_int_equal(m.sm.l1d.mshr_entries, 64);
    assert_int_equal(m.sm.l1d.miss_queue, 7);
    assert_int_equal(m.sm.l1d.latency_cycles, 35);
    assert_int_equal(m.sm.past_l1_segment, 32);
    assert_int_equal(m.sm.atomic_parts, 1);
    assert_true(m.sm.vectors_by_element);
    assert_true(m.sm.texel_blocks);
    assert_true(m.sm.fence_drops_l1);
    assert_int_equal(m.sm.launch_empties, LAUNCH_EMPTIES_L1D);
    assert_false(m.sm.fence_waits_for_stores);
    assert_false(m.sm.local_by_block);
    assert_int_equal(m.sm.l1c.mshr_merge, 24);
    assert_int_equal(m.sm.l1t.ways, 5);
    assert_int_equal(m.sm.l1t.miss_queue, 96);
    assert_int_equal(m.sm.texture_results, 2);
    assert_int_equal(m.mem.l2.cache.port_bytes, 32);
    assert_true(m.mem.l2.cache.write_allocate && !m.mem.l2.cache.stores_fetch);
    assert_int_equal(m.mem.l2.input_queue, 61);
    assert_int_equal(m.mem.l2.dram_queue, 62);
    assert_int_equal(m.mem.l2.return_queue, 63);
    assert_int_equal(m.mem.l2.reply_queue, 64);
    assert_int_equal(m.mem.network.flit_bytes, 40);
    assert_int_equal(m.mem.network.input_flits, 73);
    assert_int_equal(m.mem.network.speedup, 2);
    assert_int_equal(m.mem.network.injection_flits, 9);
    assert_int_equal(m.mem.network.ejection_flits, 16);
    assert_int_equal(m.mem.network.hop_cycles, 4);
    assert_int_equal(m.mem.dram.scheduler, DRAM_FIFO);
    assert_int_equal(m.mem.dram.t_rtpl, 2);
    assert_int_equal(m.mem.dram.channel_bit, 9);
    assert_true(m.mem.dram.group_by_low_bits);
    assert_string_equal(m.mem.dram.map, "RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS");
    assert_int_equal(m.mem.core_khz, 700500);
    m = import_file("tests/data/import/old.config", "");
    assert_int_equal(m.cores, 30);
    assert_int_equal(m.sm.warps, 32);
    assert_int_equal(m.sm.l1d.sets, 0);
    assert_int_equal(m.sm.l1i.mshr_merge, 32);
    assert_int_equal(m.sm.integer_multiply, MULTIPLY_ON_SFU);
    assert_true(!m.sm.schedulers_take_turns && m.sm.enters_lsu_at_once && !m.sm.banks_at_once && m.sm.banks_by_name &&
                m.sm.fetch_moves_on && m.sm.ends_in_fetch && m.sm.fetch_sends_at_once && m.sm.code_packed &&
                m.launches_go_on && m.sm.counts_dynamic_shared);
    assert_int_equal(m.sm.coalesce_parts, 2);
    assert_int_equal(m.sm.lsu_steps, 2);
    assert_int_equal(m.sm.past_l1_segment, 128);
    assert_true(m.mem.l2.cache.write_allocate && m.mem.l2.cache.stores_fetch);
    assert_true(m.sm.local_by_block);
    assert_false(m.sm.fence_drops_l1);
    assert_int_equal(m.sm.launch_empties, LAUNCH_EMPTIES_CACHES);
    assert_int_equal(m.sm.issue_per_warp, 2);
    assert_int_equal(m.mem.network.input_flits, 19);
    assert_int_equal(m.mem.network.output_flits, 28);
    assert_int_equal(m.mem.network.injection_flits, 0);
    assert_int_equal(m.mem.network.hop_cycles, 0);
    assert_int_equal(m.mem.network.speedup, 1);
    assert_int_equal(m.mem.dram.t_rc, 35);
    assert_int_equal(m.mem.dram.banks, 8);
    assert_int_equal(m.mem.dram.queue, 16);
}

/* What a launch begins with: told by options of several names, and by the release. */
static void test_import_of_flushes(void **state)
{
    (void)state;
#define LINES_FIT "-gpgpu_cache:il1 4:128:4,L:R:f:N,A:2:32,4\n"
    const struct {
        const char *text, *note;
        enum launch_empties empties;
    } files[] = {
        {LINES_FIT, "", LAUNCH_EMPTIES_NOTHING},
        {LINES_FIT "-gpgpu_flush_l1_cache 1\n", "", LAUNCH_EMPTIES_L1D},
        {LINES_FIT "-gpgpu_flush_l1_cache 0\n-gpgpu_pipeline_widths 2,0,0,1,1,2,0,0,1,1,2\n", "",
         LAUNCH_EMPTIES_L1D}, /* 4.x */
        {LINES_FIT "-gpgpu_flush_l2_cache 1\n", "assumed: -gpgpu_flush_l2_cache", LAUNCH_EMPTIES_CACHES},
        {LINES_FIT "-gpgpu_flush_l2_cache 0\n", "", LAUNCH_EMPTIES_NOTHING},
        {LINES_FIT "-gpgpu_flush_cache 1\n", "", LAUNCH_EMPTIES_CACHES},
        {LINES_FIT "-gpgpu_flush_cache 0\n", "", LAUNCH_EMPTIES_NOTHING},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_int_equal(import_file(file_of("flush.config", files[i].text), files[i].note).sm.launch_empties,
                         files[i].empties);
}

/* An imported file that is wrong: the place in it. */
static void refuse_import_at(const char *text, int line, int column, const char *words, int source_line)
{
    struct error e = {0};
    char to[128], *notes = NULL;
    snprintf(to, sizeof to, "%s/imported.ini", folder);
    bool good = import(file_of("bad.config", text), to, &notes, &e);
    free(notes);
    if (good || e.line != line || e.column != column || !strstr(e.text, words))
        fail_msg("line %d: expected %d:%d '%s', got %s", source_line, line, column, words, good ? "a machine" : e.text);
}
#define refuse_import(text, line, column, words) refuse_import_at(text, line, column, words, __LINE__)

static void test_import_of_bad_files(void **state)
{
    (void)state;
    refuse_import("", 0, 0, "holds no options");
    refuse_import("# nothing\n", 0, 0, "holds no options");
    refuse_import("hello\n", 1, 1, "expected -option value");
    refuse_import("-gpgpu_n_mem six\n", 1, 14, "expected a whole number");
    refuse_import("\n -gpgpu_n_mem\n-gpgpu_n_clusters 4\n", 3, 1, "expected a value");
    refuse_import("-gpgpu_clock_domains 1:2:3\n", 1, 22, "expected four clocks");
    refuse_import("-gpgpu_clock_domains 1:2:x:4\n", 1, 22, "'x' is no clock");
    refuse_import("-gpgpu_shader_core_pipeline 1024:16\n", 1, 29, "warps of 16 threads");
    refuse_import("-gpgpu_cache:dl1 S:32\n", 1, 18, "expected sets:line bytes:ways");
    refuse_import("-gpgpu_cache:dl1 32:128:4\n", 1, 18, "expected the policies");
    refuse_import("-gpgpu_cache:dl1 32:128:4,L:L\n", 1, 18, "expected replacement:write:allocate");
    refuse_import("-gpgpu_cache:dl1 32:128:4,L:L:m:N,A:32\n", 1, 18, "miss registers");
    refuse_import("-gpgpu_dram_timing_opt 8:2\n", 1, 24, "expected 10 to 14 numbers");
    refuse_import("-gpgpu_dram_timing_opt nbk=x\n", 1, 24, "'x' is no whole number");
    refuse_import("-gpgpu_dram_timing_opt \"nbk=8\n", 1, 24, "not closed");
    refuse_import("-gpgpu_pipeline_widths 1,1,1,1,1,1,1,1\n", 1, 24, "expected 7, 9, 11 or 13");
    refuse_import("-gpgpu_mem_addr_mapping 0000DDD0\n", 1, 25, "not modelled");
    refuse_import("-ptx_opcode_latency_int 1,2\n", 1, 25, "expected 5");
    struct error e = {0};
    assert_false(machine_import("/nonexistent/x.config", stdout, stderr, &e));
    assert_non_null(strstr(e.text, "No such file"));
}

/* What our ranges refuse keeps the import alive, is said, and the other keys come over. */
static void test_import_of_what_is_too_large(void **state)
{
    (void)state;
    struct machine m =
        import_file(file_of("large.config", "-gpgpu_cache:il1 N:4:128:4,L:R:f:N:L,A:2:32,4\n-gpgpu_n_clusters "
                                            "5\n-gpgpu_cache:dl1 S:4:128:256,L:L:s:N:P,A:512:64,16\n"),
                    "l1d.ways = 256: expected a whole number from 1 to 64; it stays 16");
    assert_int_equal(m.cores, 15);
    assert_int_equal(m.sm.l1d.mshr_entries, 512);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_are_the_gtx480),
        cmocka_unit_test(test_papers_values),
        cmocka_unit_test(test_printed_file_reads_back_the_same),
        cmocka_unit_test(test_every_key_can_be_set),
        cmocka_unit_test(test_keys_have_fields_of_their_own),
        cmocka_unit_test(test_every_field_has_a_key),
        cmocka_unit_test(test_overrides),
        cmocka_unit_test(test_rulebooks),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_old_spellings),
        cmocka_unit_test(test_based_on),
        cmocka_unit_test(test_origins),
        cmocka_unit_test(test_form),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_odd_machines_are_allowed),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_visit),
        cmocka_unit_test(test_import),
        cmocka_unit_test(test_import_of_flushes),
        cmocka_unit_test(test_import_of_bad_files),
        cmocka_unit_test(test_import_of_what_is_too_large),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
