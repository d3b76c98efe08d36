/* The fat-binary container, as nvcc and fatbinary write it: a wrapper with a pointer to an image; an image is a header
 * and a list of entries, each PTX text or an ELF file for one architecture. PTX is packed with zstd or LZ4, or plain.
 *
 * Only PTX is of use here. Every length is checked before it is used: files come from anywhere. */
#include "ptx/fatbin.h"

#include <elf.h>
#include <limits.h>
#include <lz4.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define WRAPPER_MAGIC 0x466243B1u
#define IMAGE_MAGIC   0xBA55ED50u
#define ELF_MAGIC     0x464c457fu

enum { IMAGE_HEADER_BYTES = 16, ENTRY_HEADER_BYTES = 0x40, KIND_PTX = 1, KIND_ELF = 2, KIND_LTO = 8 };
enum { WRAPPER_LINKED = 2 };
enum { FLAG_LZ4 = 0x2000, FLAG_ZSTD = 0x8000, FLAG_SPECIFIC = 0x100000 };
enum { LZ4_MOST_RATIO = 255 };
#define MOST_TEXT_BYTES ((size_t)512 << 20)

struct wrapper {
    uint32_t magic, version;
    const void *data;
    const void *const *more;
};

struct entry {
    uint16_t kind;
    uint32_t architecture;
    uint64_t flags;
    const uint8_t *payload;
    size_t payload_bytes, packed_bytes, text_bytes;
};

static uint16_t u16_at(const uint8_t *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static uint32_t u32_at(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static uint64_t u64_at(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

bool fatbin_is(const void *data, size_t limit)
{
    if (limit < 4)
        return false;
    uint32_t magic = u32_at(data);
    return magic == WRAPPER_MAGIC || magic == IMAGE_MAGIC;
}

static enum fatbin_result malformed(struct error *e, const char *what)
{
    error_set(e, ERROR_SYNTAX, "the fat binary is damaged: %s", what);
    return FATBIN_MALFORMED;
}

/* The entry at p, of which size bytes are left; *step is the way to the next. */
static enum fatbin_result read_entry(const uint8_t *p, size_t size, struct entry *out, size_t *step, struct error *e)
{
    if (size < ENTRY_HEADER_BYTES)
        return malformed(e, "an entry is cut off in its header");
    size_t header = u32_at(p + 0x04);
    uint64_t payload = u64_at(p + 0x08);
    if (header < ENTRY_HEADER_BYTES || header > size)
        return malformed(e, "the header of an entry has an impossible size");
    if (payload > size - header)
        return malformed(e, "an entry is longer than the file");
    *out = (struct entry){
        .kind = u16_at(p),
        .architecture = u32_at(p + 0x1c),
        .flags = u64_at(p + 0x28),
        .payload = p + header,
        .payload_bytes = (size_t)payload,
        .packed_bytes = u32_at(p + 0x10),
        .text_bytes = (size_t)u64_at(p + 0x38),
    };
    *step = header + (size_t)payload;
    return FATBIN_FOUND;
}

/* Whether PTX entry a is to be preferred to b: not later than what is executed, then the latest, then without features
 * of one chip only. */
static bool better(const struct entry *a, const struct entry *b)
{
    bool a_fits = a->architecture <= FATBIN_ARCHITECTURE, b_fits = b->architecture <= FATBIN_ARCHITECTURE;
    if (a_fits != b_fits)
        return a_fits;
    if (a->architecture != b->architecture)
        return a->architecture > b->architecture;
    return !(a->flags & FLAG_SPECIFIC) && (b->flags & FLAG_SPECIFIC);
}

/* Unpacks into a new buffer, or NULL. *size is what was written. */
static char *unpack(const struct entry *en, size_t *size, struct error *e)
{
    size_t packed = en->packed_bytes ? en->packed_bytes : en->payload_bytes;
    bool zstd = en->flags & FLAG_ZSTD;
    if (packed > en->payload_bytes) {
        malformed(e, "packed PTX is longer than its entry");
        return NULL;
    }
    if (!en->text_bytes || en->text_bytes > MOST_TEXT_BYTES || (!zstd && en->text_bytes / LZ4_MOST_RATIO > packed) ||
        packed > INT_MAX) {
        malformed(e, "packed PTX states an impossible size");
        return NULL;
    }
    char *text = malloc(en->text_bytes);
    if (!text) {
        error_set(e, ERROR_NO_MEMORY, "no memory to unpack %zu bytes of PTX", en->text_bytes);
        return NULL;
    }
    bool ok;
    if (zstd) {
        size_t n = ZSTD_decompress(text, en->text_bytes, en->payload, packed);
        ok = !ZSTD_isError(n);
        *size = n;
    } else {
        int n = LZ4_decompress_safe((const char *)en->payload, text, (int)packed, (int)en->text_bytes);
        ok = n >= 0;
        *size = (size_t)n;
    }
    if (!ok) {
        malformed(e, zstd ? "zstd cannot unpack the PTX" : "LZ4 cannot unpack the PTX");
        free(text);
        return NULL;
    }
    return text;
}

static enum fatbin_result give(const struct entry *en, fatbin_visitor *visit, void *user, struct error *e)
{
    char *unpacked = NULL;
    const char *text = (const char *)en->payload;
    size_t size = en->payload_bytes;
    if (en->flags & (FLAG_ZSTD | FLAG_LZ4)) {
        unpacked = unpack(en, &size, e);
        if (!unpacked)
            return FATBIN_MALFORMED;
        text = unpacked;
    }
    enum fatbin_result r = visit(text, strnlen(text, size), user) ? FATBIN_FOUND : FATBIN_STOPPED;
    free(unpacked);
    return r;
}

/* What is done with the entries of an image, and what it was told. */
struct reader {
    void (*read)(struct reader *r, const struct entry *en);
    enum fatbin_result (*end)(struct reader *r, struct error *e); /* of an image */
    struct entry best;                                            /* PTX; kind 0: none in this image */
    fatbin_visitor *visit;
    void *user;
    struct fatbin_contents *contents;
};

static enum fatbin_result read_image(const uint8_t *p, size_t limit, struct reader *r, struct error *e)
{
    struct entry en = {0};
    if (limit < IMAGE_HEADER_BYTES)
        return malformed(e, "the image is cut off in its header");
    size_t header = u16_at(p + 6), step = 0;
    uint64_t size = u64_at(p + 8);
    if (header < IMAGE_HEADER_BYTES || header > limit || size > limit - header)
        return malformed(e, "the image is longer than the file");
    p += header;
    for (size_t left = (size_t)size; left > 0; p += step, left -= step) {
        enum fatbin_result result = read_entry(p, left, &en, &step, e);
        if (result != FATBIN_FOUND)
            return result;
        r->read(r, &en);
    }
    return r->end(r, e);
}

static void choose(struct reader *r, const struct entry *en)
{
    if (en->kind == KIND_PTX && (!r->best.kind || better(en, &r->best)))
        r->best = *en;
}

static enum fatbin_result give_best(struct reader *r, struct error *e)
{
    struct entry best = r->best;
    r->best.kind = 0;
    return best.kind ? give(&best, r->visit, r->user, e) : FATBIN_NO_PTX;
}

static bool is_listed(const struct fatbin_contents *c, uint32_t architecture)
{
    for (uint32_t i = 0; i < c->architecture_count; i++)
        if (c->architectures[i] == architecture)
            return true;
    return false;
}

static void list(struct reader *r, const struct entry *en)
{
    struct fatbin_contents *c = r->contents;
    c->has_ptx |= en->kind == KIND_PTX;
    c->lto_texts += en->kind == KIND_LTO;
    c->cubins += en->kind == KIND_ELF;
    if (en->kind == KIND_ELF && en->architecture && !is_listed(c, en->architecture) &&
        c->architecture_count < FATBIN_LISTED)
        c->architectures[c->architecture_count++] = en->architecture;
}

static enum fatbin_result listed(struct reader *r, struct error *e)
{
    (void)r, (void)e;
    return FATBIN_FOUND;
}

/* Does an ELF file have sections of code? NVIDIA's tools make one for each function: .text.NAME. */
static bool elf_has_code(const uint8_t *p, size_t size)
{
    Elf64_Ehdr h;
    Elf64_Shdr s, names;
    if (size < sizeof h)
        return true;
    memcpy(&h, p, sizeof h);
    if (h.e_shentsize != sizeof s || h.e_shoff > size || h.e_shnum > (size - h.e_shoff) / sizeof s ||
        h.e_shstrndx >= h.e_shnum)
        return true;
    memcpy(&names, p + h.e_shoff + h.e_shstrndx * sizeof names, sizeof names);
    if (names.sh_offset > size || names.sh_size > size - names.sh_offset)
        return true;
    for (unsigned i = 0; i < h.e_shnum; i++) {
        memcpy(&s, p + h.e_shoff + i * sizeof s, sizeof s);
        if (s.sh_name >= names.sh_size)
            return true;
        size_t left = (size_t)names.sh_size - s.sh_name;
        if (left >= 6 && !memcmp(p + names.sh_offset + s.sh_name, ".text.", 6))
            return true;
    }
    return false;
}

static bool entry_has_code(const struct entry *en)
{
    struct error ignored = {0};
    size_t size = en->payload_bytes;
    if (!(en->flags & (FLAG_ZSTD | FLAG_LZ4)))
        return elf_has_code(en->payload, size);
    char *unpacked = unpack(en, &size, &ignored);
    bool has_code = !unpacked || elf_has_code((const uint8_t *)unpacked, size);
    free(unpacked);
    return has_code;
}

bool fatbin_has_code(const void *image, size_t limit)
{
    const uint8_t *p = image;
    struct entry en = {0};
    struct error ignored = {0};
    if (limit < IMAGE_HEADER_BYTES || u32_at(p) != IMAGE_MAGIC)
        return true;
    size_t header = u16_at(p + 6), step = 0;
    uint64_t size = u64_at(p + 8);
    if (header < IMAGE_HEADER_BYTES || header > limit || size > limit - header)
        return true;
    p += header;
    for (size_t left = (size_t)size; left > 0; p += step, left -= step)
        if (read_entry(p, left, &en, &step, &ignored) != FATBIN_FOUND || (en.kind == KIND_ELF && entry_has_code(&en)))
            return true;
    return false;
}

static enum fatbin_result read_any(const void *data, size_t limit, struct reader *reader, struct error *e);

/* A wrapper of relocatable code points to one image a translation unit, besides the linked one, which holds machine
 * code. */
static enum fatbin_result read_wrapper(const void *data, struct reader *reader, struct error *e)
{
    struct wrapper w;
    memcpy(&w, data, sizeof w);
    if (!w.data || u32_at(w.data) != IMAGE_MAGIC)
        return malformed(e, "the wrapper does not point to an image");
    enum fatbin_result r = read_any(w.data, SIZE_MAX, reader, e);
    for (const void *const *more = w.version == WRAPPER_LINKED ? w.more : NULL; more && *more; more++) {
        if (r != FATBIN_FOUND && r != FATBIN_NO_PTX)
            return r;
        enum fatbin_result next = read_any(*more, SIZE_MAX, reader, e);
        if (next != FATBIN_NO_PTX)
            r = next;
    }
    return r;
}

static enum fatbin_result read_any(const void *data, size_t limit, struct reader *reader, struct error *e)
{
    uint32_t magic = limit < 4 ? 0 : u32_at(data);
    if (magic == WRAPPER_MAGIC && limit == SIZE_MAX)
        return read_wrapper(data, reader, e);
    if (magic == IMAGE_MAGIC)
        return read_image(data, limit, reader, e);
    return magic == ELF_MAGIC ? FATBIN_NO_PTX : malformed(e, "it does not begin as one");
}

enum fatbin_result fatbin_find_ptx(const void *data, size_t limit, fatbin_visitor *visit, void *user, struct error *e)
{
    struct reader reader = {.read = choose, .end = give_best, .visit = visit, .user = user};
    enum fatbin_result r = read_any(data, limit, &reader, e);
    if (r == FATBIN_NO_PTX)
        error_set(e, ERROR_UNSUPPORTED, "only machine code is present, no PTX");
    return r;
}

bool fatbin_list(const void *data, size_t limit, struct fatbin_contents *out, struct error *e)
{
    struct reader reader = {.read = list, .end = listed, .contents = out};
    *out = (struct fatbin_contents){0};
    return read_any(data, limit, &reader, e) == FATBIN_FOUND;
}
