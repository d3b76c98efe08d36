/* What a program hands over to be loaded as a module: told apart by how it begins and, where something is needed to
 * explain it, by its header. */
#ifndef HEDDLE_PTX_IMAGE_H
#define HEDDLE_PTX_IMAGE_H

#include "ptx/fatbin.h"

enum image_kind {
    IMAGE_EMPTY,
    IMAGE_TEXT,    /* which the parser reads, or refuses */
    IMAGE_FATBIN,  /* with PTX in it */
    IMAGE_NO_PTX,  /* a fat binary without */
    IMAGE_DAMAGED, /* a fat binary or an ELF file with impossible lengths */
    IMAGE_CUBIN,
    IMAGE_HOST_ELF,
    IMAGE_LTO_IR,
    IMAGE_BITCODE,
    IMAGE_ARCHIVE,
    IMAGE_UNKNOWN,
};

struct image {
    enum image_kind kind;
    uint32_t architecture; /* of a cubin: 80 for sm_80 */
    uint16_t elf_machine;
    struct fatbin_contents contents;
    uint8_t first[8];
    uint32_t first_count; /* of them that could be read: the rest is missing or follows a zero */
    struct error damage;
};

/* limit: as for fatbin_find_ptx. */
void image_recognise(struct image *image, const void *data, size_t limit);

/* Says what an image is and how its maker gets at PTX, unless it is TEXT or a FATBIN. Returns false. */
bool image_refuse(const struct image *image, const char *name, struct error *e);

#endif
