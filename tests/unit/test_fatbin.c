/* Is PTX found in fat binaries of every kind, and is a damaged one refused without a byte being read outside of it? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ptx/fatbin.h"

#include <elf.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum packing { PLAIN, ZSTD, LZ4 };
enum { PTX = 1, ELF = 2, ENTRY_HEADER = 0x48 };

/* A fat binary under construction. */
struct image {
    uint8_t bytes[1 << 14];
    size_t size;
};

static void put(struct image *im, size_t at, const void *data, size_t n) { memcpy(im->bytes + at, data, n); }
static void put16(struct image *im, size_t at, uint16_t v) { put(im, at, &v, 2); }
static void put32(struct image *im, size_t at, uint32_t v) { put(im, at, &v, 4); }
static void put64(struct image *im, size_t at, uint64_t v) { put(im, at, &v, 8); }

static void image_begin(struct image *im)
{
    memset(im, 0, sizeof *im);
    put32(im, 0, 0xBA55ED50);
    put16(im, 4, 1);
    put16(im, 6, 16);
    im->size = 16;
}

static void image_add_bytes(struct image *im, int kind, uint32_t architecture, const void *data, size_t length,
                            enum packing packing, uint64_t flags)
{
    char packed[4096];
    const char *text = data;
    size_t n = length, at = im->size, padded;
    if (packing == ZSTD)
        n = ZSTD_compress(packed, sizeof packed, text, length, 3);
    else if (packing == LZ4)
        n = (size_t)LZ4_compress_default(text, packed, (int)length, sizeof packed);
    else
        memcpy(packed, text, length);
    padded = (n + 7) & ~(size_t)7;
    put16(im, at, (uint16_t)kind);
    put16(im, at + 2, 0x101);
    put32(im, at + 4, ENTRY_HEADER);
    put64(im, at + 8, padded);
    put32(im, at + 0x10, packing == PLAIN ? 0 : (uint32_t)n);
    put32(im, at + 0x1c, architecture);
    put64(im, at + 0x28, flags | (packing == ZSTD ? 0x8000 : packing == LZ4 ? 0x2000 : 0));
    put64(im, at + 0x38, packing == PLAIN ? 0 : length);
    put(im, at + ENTRY_HEADER, packed, n);
    im->size = at + ENTRY_HEADER + padded;
    put64(im, 8, im->size - 16);
}

static void image_add(struct image *im, int kind, uint32_t architecture, const char *text, enum packing packing,
                      uint64_t flags)
{
    image_add_bytes(im, kind, architecture, text, strlen(text) + 1, packing, flags); /* the NUL counts */
}

struct found {
    char text[4096];
    size_t size;
    int count;
    bool stop;
};

static bool take(const char *text, size_t size, void *user)
{
    struct found *f = user;
    assert_true(size < sizeof f->text);
    memcpy(f->text, text, size);
    f->text[size] = '\0';
    f->size = size;
    f->count++;
    return !f->stop;
}

/* From a copy of exactly that size, so that a sanitizer sees a read behind it. */
static enum fatbin_result find(const struct image *im, size_t size, struct found *f, struct error *e)
{
    uint8_t *copy = malloc(size ? size : 1);
    memcpy(copy, im->bytes, size);
    *f = (struct found){0};
    *e = (struct error){0};
    enum fatbin_result r = fatbin_find_ptx(copy, size, take, f, e);
    free(copy);
    return r;
}

static const char text[] = ".version 7.0\n.target sm_75\n// some text, some text, some text, some text, some text\n";

static void each_packing(void **state)
{
    (void)state;
    for (enum packing p = PLAIN; p <= LZ4; p++) {
        struct image im;
        struct found f;
        struct error e;
        image_begin(&im);
        image_add(&im, ELF, 75, "machine code", PLAIN, 0);
        image_add(&im, PTX, 75, text, p, 0);
        assert_int_equal(find(&im, im.size, &f, &e), FATBIN_FOUND);
        assert_int_equal(f.count, 1);
        assert_string_equal(f.text, text);
        assert_int_equal(f.size, strlen(text));
    }
}

static void choice(void **state)
{
    static const struct {
        uint32_t architectures[3];
        uint64_t flags[3];
        const char *wanted;
    } cases[] = {
        {{50, 90, 75}, {0}, "B"},              /* the highest that fits */
        {{50, 100, 75}, {0}, "C"},             /* not the later one */
        {{120, 100, 110}, {0}, "A"},           /* all later: the highest */
        {{90, 90, 80}, {0x100000, 0, 0}, "B"}, /* not for one chip only */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct image im;
        struct found f;
        struct error e;
        image_begin(&im);
        image_add(&im, PTX, cases[i].architectures[0], "A", PLAIN, cases[i].flags[0]);
        image_add(&im, PTX, cases[i].architectures[1], "B", ZSTD, cases[i].flags[1]);
        image_add(&im, PTX, cases[i].architectures[2], "C", LZ4, cases[i].flags[2]);
        assert_int_equal(find(&im, im.size, &f, &e), FATBIN_FOUND);
        assert_string_equal(f.text, cases[i].wanted);
    }
}

static void machine_code_only(void **state)
{
    struct image im;
    struct found f;
    struct error e;
    (void)state;
    image_begin(&im);
    image_add(&im, ELF, 90, "machine code", PLAIN, 0);
    assert_int_equal(find(&im, im.size, &f, &e), FATBIN_NO_PTX);
    assert_non_null(strstr(e.text, "machine code"));
    assert_int_equal(e.kind, ERROR_UNSUPPORTED);
    memcpy(im.bytes, "\177ELF", 4);
    assert_int_equal(find(&im, im.size, &f, &e), FATBIN_NO_PTX);
    image_begin(&im); /* no entry at all */
    assert_int_equal(find(&im, im.size, &f, &e), FATBIN_NO_PTX);
}

/* In the memory of the process, behind a wrapper; and relocatable code, with several images. */
static void wrapper(void **state)
{
    struct image one, two, linked;
    struct found f = {0};
    struct error e = {0};
    struct {
        uint32_t magic, version;
        const void *data;
        const void *const *more;
    } w = {0x466243B1, 1, one.bytes, NULL};
    const void *more[] = {one.bytes, two.bytes, NULL};
    (void)state;
    image_begin(&one);
    image_add(&one, PTX, 75, "first", ZSTD, 0);
    image_begin(&two);
    image_add(&two, PTX, 75, "second", PLAIN, 0);
    image_begin(&linked);
    image_add(&linked, ELF, 75, "code", PLAIN, 0);
    assert_true(fatbin_is(&w, 4));
    assert_int_equal(fatbin_find_ptx(&w, SIZE_MAX, take, &f, &e), FATBIN_FOUND);
    assert_string_equal(f.text, "first");
    f = (struct found){0};
    w.version = 2;
    w.data = linked.bytes;
    w.more = more;
    assert_int_equal(fatbin_find_ptx(&w, SIZE_MAX, take, &f, &e), FATBIN_FOUND);
    assert_int_equal(f.count, 2);
    assert_string_equal(f.text, "second");
    f = (struct found){.stop = true};
    assert_int_equal(fatbin_find_ptx(&w, SIZE_MAX, take, &f, &e), FATBIN_STOPPED);
    assert_int_equal(f.count, 1);
    /* Pointers in a file mean nothing. */
    assert_int_equal(fatbin_find_ptx(&w, sizeof w, take, &f, &e), FATBIN_MALFORMED);
}

static void truncated(void **state)
{
    (void)state;
    for (enum packing p = PLAIN; p <= LZ4; p++) {
        struct image im;
        struct found f;
        struct error e;
        image_begin(&im);
        image_add(&im, ELF, 75, "machine code", PLAIN, 0);
        image_add(&im, PTX, 75, text, p, 0);
        for (size_t size = 0; size < im.size; size++) {
            assert_int_equal(find(&im, size, &f, &e), FATBIN_MALFORMED);
            assert_int_equal(f.count, 0);
            assert_true(e.text[0]);
        }
    }
}

/* Every length in the headers, set to everything that might do harm. */
static void damaged_lengths(void **state)
{
    static const size_t at32[] = {0x04, 0x10}, at64[] = {0x08, 0x38};
    static const uint64_t values[] = {
        0, 1, 7, 0x3f, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff, 0xffffffffffffffff};
    (void)state;
    for (enum packing p = PLAIN; p <= LZ4; p++)
        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++)
            for (int field = 0; field < 6; field++) {
                struct image im;
                struct found f;
                struct error e;
                image_begin(&im);
                image_add(&im, PTX, 75, text, p, 0);
                if (field < 2)
                    put32(&im, 16 + at32[field], (uint32_t)values[v]);
                else if (field < 4)
                    put64(&im, 16 + at64[field - 2], values[v]);
                else if (field == 4)
                    put16(&im, 6, (uint16_t)values[v]);
                else
                    put64(&im, 8, values[v]);
                find(&im, im.size, &f, &e); /* any answer, but no stray read */
                assert_true(f.count <= 1);
            }
}

static void damaged_payload(void **state)
{
    (void)state;
    for (enum packing p = ZSTD; p <= LZ4; p++) {
        struct image im;
        struct found f;
        struct error e;
        int refused = 0;
        image_begin(&im);
        image_add(&im, PTX, 75, text, p, 0);
        for (size_t i = 16 + ENTRY_HEADER; i < im.size; i++) {
            im.bytes[i] ^= 0xff;
            refused += find(&im, im.size, &f, &e) == FATBIN_MALFORMED;
            im.bytes[i] ^= 0xff;
        }
        assert_true(refused > 0);
    }
}

static bool has_code(const struct image *im, size_t size);

static void garbage(void **state)
{
    uint64_t seed = 1;
    (void)state;
    for (int round = 0; round < 2000; round++) {
        struct image im;
        struct found f;
        struct error e;
        image_begin(&im);
        for (size_t i = 4; i < 300; i++) {
            seed = seed * 6364136223846793005ull + 1442695040888963407ull;
            im.bytes[i] = seed >> 60 ? 0 : (uint8_t)(seed >> 32);
        }
        find(&im, 300, &f, &e);
        has_code(&im, 300);
    }
    assert_false(fatbin_is("abcd", 4));
    assert_false(fatbin_is("\x50\xED\x55", 3));
}

/* An ELF file with two sections: their names, and one of the given name. */
struct small_elf {
    Elf64_Ehdr head;
    Elf64_Shdr sections[2];
    char names[24];
};

static struct small_elf elf_with(const char *section)
{
    struct small_elf elf = {.head = {.e_ident = ELFMAG,
                                     .e_shoff = offsetof(struct small_elf, sections),
                                     .e_shnum = 2,
                                     .e_shentsize = sizeof(Elf64_Shdr)}};
    elf.sections[0] = (Elf64_Shdr){.sh_offset = offsetof(struct small_elf, names), .sh_size = sizeof elf.names};
    elf.sections[1].sh_name = 1;
    strncpy(elf.names + 1, section, sizeof elf.names - 2);
    return elf;
}

static bool has_code(const struct image *im, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    memcpy(copy, im->bytes, size);
    bool has = fatbin_has_code(copy, size);
    free(copy);
    return has;
}

/* Host code that nvcc links comes with machine code for no function. */
static void empty_machine_code(void **state)
{
    (void)state;
    for (enum packing p = PLAIN; p <= LZ4; p++) {
        struct small_elf none = elf_with(".nv.info"), some = elf_with(".text.kernel");
        struct image im;
        image_begin(&im);
        assert_false(has_code(&im, im.size));
        image_add_bytes(&im, ELF, 75, &none, sizeof none, p, 0);
        assert_false(has_code(&im, im.size));
        for (size_t size = 0; size < im.size; size++)
            assert_true(has_code(&im, size)); /* what is cut off is not known to be empty */
        none.head.e_shnum = 0xffff;
        struct image damaged = im;
        image_add_bytes(&damaged, ELF, 80, &none, sizeof none, p, 0);
        assert_true(has_code(&damaged, damaged.size));
        image_add_bytes(&im, ELF, 80, &some, sizeof some, p, 0);
        assert_true(has_code(&im, im.size));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_packing),       cmocka_unit_test(choice),          cmocka_unit_test(machine_code_only),
        cmocka_unit_test(empty_machine_code), cmocka_unit_test(wrapper),         cmocka_unit_test(truncated),
        cmocka_unit_test(damaged_lengths),    cmocka_unit_test(damaged_payload), cmocka_unit_test(garbage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
