/* Demangles by libstdc++, which is opened when it is first needed: Heddle itself has no C++. Where it is not installed,
 * names stay as they are. */
#include "base/demangle.h"

#include "base/out_of_memory.h"

#include <dlfcn.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef char *demangler(const char *name, char *buffer, size_t *size, int *status);

/* The library stays open: others may be using it. */
static demangler *found;

static void find(void)
{
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "__cxa_demangle") : NULL;
    memcpy(&found, &symbol, sizeof found); /* a pointer to data is no pointer to a function */
}

static char *copy(const char *text, size_t length)
{
    char *s = strndup(text, length);
    if (!s)
        out_of_memory();
    return s;
}

char *demangled(const char *name)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int status = -1;
    char *out = NULL;
    if (!strncmp(name, "_Z", 2)) {
        pthread_once(&once, find);
        out = found ? found(name, NULL, NULL, &status) : NULL;
    }
    return out && status == 0 ? out : copy(name, strlen(name));
}

/* Finds the first character of `stops` that is in no bracket, or the end. "(anonymous namespace)" is a name. */
static const char *outside(const char *text, const char *stops)
{
    static const char anonymous[] = "(anonymous namespace)";
    int depth = 0;
    for (const char *at = text; *at; at++) {
        if (!strncmp(at, anonymous, sizeof anonymous - 1)) {
            at += sizeof anonymous - 2;
            continue;
        }
        if (!depth && strchr(stops, *at))
            return at;
        depth += *at == '<' || *at == '(';
        depth -= depth && (*at == '>' || *at == ')');
    }
    return text + strlen(text);
}

/* Cuts off the result, which only the name of a template has, and always has. */
static const char *after_result(const char *text)
{
    const char *blank = outside(text, " (");
    return *blank == ' ' && *outside(blank + 1, "(") == '(' ? blank + 1 : text;
}

/* Finds the last of the names that "::" connects. */
static const char *last_name(const char *text)
{
    const char *last = text;
    for (const char *at = text; *(at = outside(at, ":")) == ':'; at += at[1] == ':' ? 2 : 1)
        if (at[1] == ':')
            last = at + 2;
    return last;
}

/* Copies the name without its result, up to one of these characters. */
static char *name_up_to(const char *name, const char *stops)
{
    char *whole = demangled(name);
    const char *from = after_result(whole);
    char *part = copy(from, (size_t)(outside(from, stops) - from));
    free(whole);
    return part;
}

char *demangled_short(const char *name) { return name_up_to(name, "("); }

char *demangled_plain(const char *name) { return name_up_to(name, "<("); }

static bool is(const char *text, size_t length, const char *asked)
{
    char *part = copy(text, length);
    bool same = !strcmp(part, asked) || fnmatch(asked, part, FNM_NOESCAPE) == 0;
    free(part);
    return same;
}

bool demangled_is(const char *name, const char *asked)
{
    char *whole = demangled(name);
    const char *from = after_result(whole), *own = from;
    const char *parameters = outside(from, "("), *arguments = outside(from, "<(");
    char *plain = copy(from, (size_t)(arguments - from));
    own += last_name(plain) - plain;
    const struct {
        const char *from, *to;
    } parts[] = {{whole, whole + strlen(whole)},
                 {from, from + strlen(from)},
                 {from, parameters},
                 {from, arguments},
                 {own, parameters},
                 {own, arguments}};
    bool same = is(name, strlen(name), asked);
    for (size_t i = 0; !same && i < sizeof parts / sizeof *parts; i++)
        same = is(parts[i].from, (size_t)(parts[i].to - parts[i].from), asked);
    free(plain);
    free(whole);
    return same;
}
