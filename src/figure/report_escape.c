/* Text inside other text: HTML, JavaScript and JSON inside a <script> element, which ends at the first "</script"
 * whatever the language thinks of it, and may not hold "<!--". */
#include "figure/report_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void escape_html(FILE *out, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<': fputs("&lt;", out); break;
        case '>': fputs("&gt;", out); break;
        case '&': fputs("&amp;", out); break;
        case '"': fputs("&quot;", out); break;
        case '\'': fputs("&#39;", out); break;
        default: putc(*text, out);
        }
}

/* A backslash after '<' changes nothing in strings, templates and regular expressions, the only places where these can
 * stand. */
void escape_script(FILE *out, const char *text, size_t bytes)
{
    const char *end = text + bytes, *from = text;
    for (const char *at = text; (at = memchr(at, '<', (size_t)(end - at))); at++) {
        size_t left = (size_t)(end - at);
        bool closes = left >= 8 && !strncasecmp(at, "</script", 8), comments = left >= 4 && !memcmp(at, "<!--", 4);
        if (!closes && !comments)
            continue;
        fwrite(from, 1, (size_t)(at + 1 - from), out);
        putc('\\', out);
        from = at + 1;
    }
    fwrite(from, 1, (size_t)(end - from), out);
}

/* In JSON '<' can stand in strings alone, where its number means the same. */
static int put_json(const char *buffer, size_t size, void *data)
{
    FILE *out = data;
    const char *end = buffer + size;
    while (buffer < end) {
        const char *at = memchr(buffer, '<', (size_t)(end - buffer));
        fwrite(buffer, 1, (size_t)((at ? at : end) - buffer), out);
        if (!at)
            break;
        fputs("\\u003c", out);
        buffer = at + 1;
    }
    return ferror(out) ? -1 : 0;
}

void escape_json(FILE *out, const json_t *json)
{
    json_dump_callback(json, put_json, out, JSON_COMPACT | JSON_REAL_PRECISION(10));
}

/* The length of the UTF-8 sequence at text, 0 where there is none. Jansson has the last word: this only finds where to
 * cut. */
static size_t sequence_bytes(const unsigned char *text)
{
    size_t length = *text < 0x80                    ? 1
                    : *text >= 0xc2 && *text < 0xe0 ? 2
                    : *text >= 0xe0 && *text < 0xf0 ? 3
                    : *text >= 0xf0 && *text < 0xf5 ? 4
                                                    : 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    json_t *probe = length > 1 ? json_stringn((const char *)text, length) : NULL;
    bool good = length == 1 || probe;
    json_decref(probe);
    return good ? length : 0;
}

json_t *text_json(const char *text)
{
    if (!text)
        return json_null();
    json_t *whole = json_string(text);
    if (whole)
        return whole;
    size_t length = strlen(text), n = 0;
    char *clean = malloc(3 * length + 1);
    if (!clean)
        return json_null();
    for (const char *at = text; *at;) {
        size_t bytes = sequence_bytes((const unsigned char *)at);
        memcpy(clean + n, bytes ? at : "\xef\xbf\xbd", bytes ? bytes : 3);
        n += bytes ? bytes : 3;
        at += bytes ? bytes : 1;
    }
    whole = json_stringn(clean, n);
    free(clean);
    return whole ? whole : json_null();
}

json_t *number_json(double value)
{
    if (!isfinite(value))
        return json_null();
    if (value == floor(value) && fabs(value) < 9e15)
        return json_integer((json_int_t)value);
    return json_real(value);
}
