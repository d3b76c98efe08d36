/* Hashes of what a run is made of (XXH3, 128 bits). A part is a tag, its length and its bytes, so that "ab","c" and
 * "a","bc" differ. */
#include "sweep/key.h"

#include "base/out_of_memory.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct key_hash {
    XXH3_state_t *state;
};

struct key_hash *key_hash_new(void)
{
    struct key_hash *h = malloc(sizeof *h);
    if (!h || !(h->state = XXH3_createState()))
        out_of_memory();
    return h;
}

void key_hash_free(struct key_hash *h)
{
    if (!h)
        return;
    XXH3_freeState(h->state);
    free(h);
}

void key_start(struct key_hash *h) { XXH3_128bits_reset(h->state); }

/* Numbers as bytes in one order on every machine. */
static void add_number(struct key_hash *h, uint64_t number)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(number >> (8 * i));
    XXH3_128bits_update(h->state, bytes, sizeof bytes);
}

void key_part(struct key_hash *h, const char *tag, const void *data, size_t size)
{
    XXH3_128bits_update(h->state, tag, strlen(tag) + 1);
    add_number(h, size);
    if (size)
        XXH3_128bits_update(h->state, data, size);
}

void key_text(struct key_hash *h, const char *tag, const char *text) { key_part(h, tag, text, strlen(text)); }

void key_number(struct key_hash *h, const char *tag, uint64_t number)
{
    XXH3_128bits_update(h->state, tag, strlen(tag) + 1);
    add_number(h, sizeof number);
    add_number(h, number);
}

void key_digest_part(struct key_hash *h, const char *tag, const struct key_digest *d)
{
    key_part(h, tag, d->bytes, sizeof d->bytes);
}

struct key_digest key_finish(struct key_hash *h)
{
    struct key_digest d;
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(h->state));
    memcpy(d.bytes, canonical.digest, sizeof d.bytes);
    return d;
}

void key_write(const struct key_digest *d, char out[KEY_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < sizeof d->bytes; i++) {
        out[2 * i] = digits[d->bytes[i] >> 4];
        out[2 * i + 1] = digits[d->bytes[i] & 15];
    }
    out[KEY_BYTES - 1] = '\0';
}

static void add_loaded(void *user, const struct elf_loaded *piece)
{
    struct key_hash *h = user;
    key_number(h, "address", piece->address);
    key_number(h, "flags", piece->flags);
    key_part(h, "bytes", piece->bytes.data, piece->bytes.size);
}

struct key_digest key_program(struct key_hash *h, const struct elf_program *p)
{
    key_start(h);
    if (p->is_elf && elf_program_visit_loaded(p, add_loaded, h))
        key_text(h, "kind", "elf");
    else
        key_part(h, "file", p->file.data, p->file.size);
    return key_finish(h);
}

bool key_file(struct key_hash *h, const char *path, struct key_digest *out, struct error *e)
{
    struct elf_bytes file;
    if (!elf_map_file(&file, path, e))
        return false;
    key_start(h);
    key_part(h, "file", file.data, file.size);
    *out = key_finish(h);
    elf_unmap_file(&file);
    return true;
}
