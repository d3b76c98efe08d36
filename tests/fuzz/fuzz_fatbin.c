/* libFuzzer entry: the fat-binary reader, and what tells images apart, on any bytes. */
#include "ptx/image.h"

#include <stdint.h>
#include <stdlib.h>

static bool look(const char *text, size_t size, void *user)
{
    size_t *sum = user;
    for (size_t i = 0; i < size; i++)
        *sum += (unsigned char)text[i]; /* touch all of it */
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error e = {0};
    size_t sum = 0;
    if (fatbin_is(data, size))
        fatbin_find_ptx(data, size, look, &sum, &e);
    fatbin_has_code(data, size);
    struct image image;
    struct error why = {0};
    image_recognise(&image, data, size);
    image_refuse(&image, "input", &why);
    return 0;
}
