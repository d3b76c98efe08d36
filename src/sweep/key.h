/* Content keys: a hash of parts, each with a tag and its length, so that no two lists of parts look alike. */
#ifndef HEDDLE_SWEEP_KEY_H
#define HEDDLE_SWEEP_KEY_H

#include "base/error.h"
#include "program/elf.h"
#include "store/store.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a part of a key was hashed to; itself a part of others. */
struct key_digest {
    uint8_t bytes[16];
};

struct key_hash; /* a hash under way; one can be used for many digests, one after the other */
struct key_hash *key_hash_new(void);
void key_hash_free(struct key_hash *h);

void key_start(struct key_hash *h);
void key_part(struct key_hash *h, const char *tag, const void *data, size_t size);
void key_text(struct key_hash *h, const char *tag, const char *text);
void key_number(struct key_hash *h, const char *tag, uint64_t number);
void key_digest_part(struct key_hash *h, const char *tag, const struct key_digest *d);
struct key_digest key_finish(struct key_hash *h);
void key_write(const struct key_digest *d, char out[KEY_BYTES]); /* in hexadecimal */

/* What of a program is loaded when it is executed, less its ELF header (which has the place of the debugging
 * information) and its build identifier; all bytes of a file that is no ELF file. */
struct key_digest key_program(struct key_hash *h, const struct elf_program *p);
/* All bytes of a file. */
bool key_file(struct key_hash *h, const char *path, struct key_digest *out, struct error *e);

#endif
