/* Quoting for shells. */
#include "base/shell_quote.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

const char *shell_quote(const char *word, struct arena *a)
{
    size_t length = strlen(word), quotes = 0;
    bool plain = length > 0;
    for (const char *c = word; *c; c++) {
        plain = plain && (isalnum((unsigned char)*c) || strchr("_./:=,+@%^-", *c));
        quotes += *c == '\'';
    }
    if (plain)
        return word;
    char *out = arena_alloc(a, length + 3 * quotes + 3), *to = out;
    *to++ = '\'';
    for (const char *c = word; *c; c++) {
        if (*c == '\'') {
            memcpy(to, "'\\''", 4);
            to += 4;
        } else {
            *to++ = *c;
        }
    }
    *to = '\'';
    return out;
}
