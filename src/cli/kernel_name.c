/* Names of kernels as they fit. */
#include "cli/kernel_name.h"

#include "base/demangle.h"
#include "base/out_of_memory.h"

#include <stdlib.h>
#include <string.h>

/* Names are of one byte per character: those of kernels are ASCII. */
static char *cut(char *name, size_t width)
{
    if (strlen(name) > width)
        memcpy(name + (width > 3 ? width - 3 : 0), "...", width > 3 ? 4 : 1);
    return name;
}

/* From the last of the names that :: connects on: where the plain name has it, before template arguments. */
static char *without_namespaces(const char *shown, const char *plain)
{
    size_t length = strlen(plain), from = 0;
    for (size_t i = 0; i + 1 < length; i++)
        if (plain[i] == ':' && plain[i + 1] == ':')
            from = i + 2;
    char *copy = strdup(strncmp(shown, plain, length) ? shown : shown + from);
    if (!copy)
        out_of_memory();
    return copy;
}

char *kernel_name(const char *name, size_t width)
{
    char *shown = demangled_short(name);
    if (strlen(shown) <= width)
        return shown;
    char *plain = demangled_plain(name), *own = without_namespaces(shown, plain);
    free(plain);
    free(shown);
    return cut(own, width);
}
