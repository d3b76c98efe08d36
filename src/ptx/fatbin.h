/* Fat binaries: the PTX in them. */
#ifndef HEDDLE_PTX_FATBIN_H
#define HEDDLE_PTX_FATBIN_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FATBIN_ARCHITECTURE = 90
}; /* the highest that is executed; PTX for a later one is taken only where there is no other */

enum fatbin_result {
    FATBIN_FOUND,
    FATBIN_NO_PTX, /* well formed, but it holds machine code only, or nothing */
    FATBIN_MALFORMED,
    FATBIN_STOPPED, /* visit returned false */
};

/* text has size bytes and is not terminated; it lives until visit returns. */
typedef bool fatbin_visitor(const char *text, size_t size, void *user);

/* Does data begin as a wrapper or an image does? limit: bytes that may be read. */
bool fatbin_is(const void *data, size_t limit);

/* Does an image, of which limit bytes may be read, hold machine code of kernels or functions? What cannot be read
 * counts as such. A linker that found no GPU code leaves an ELF file without any. */
bool fatbin_has_code(const void *image, size_t limit);

enum { FATBIN_LISTED = 8 };

struct fatbin_contents {
    bool has_ptx;
    uint32_t cubins, lto_texts;
    uint32_t architecture_count, architectures[FATBIN_LISTED]; /* of cubins: the first ones, each once */
};

/* What is inside; false where it is damaged. limit: as below. */
bool fatbin_list(const void *data, size_t limit, struct fatbin_contents *out, struct error *e);

/* Calls visit with the best PTX of each image: once for an ordinary module, once a translation unit for relocatable
 * code. limit is the number of bytes at data that may be read. SIZE_MAX means that data is memory of the process,
 * placed there by a loader: then the lengths it states are believed, and a wrapper, which holds pointers, is followed.
 * Otherwise nothing outside of the limit is read, whatever data says. */
enum fatbin_result fatbin_find_ptx(const void *data, size_t limit, fatbin_visitor *visit, void *user, struct error *e);

#endif
