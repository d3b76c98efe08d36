/* The filter of launches: see launch_filter.h. A name is compared once for each kernel, not for each launch. */
#include "gpu/launch_filter.h"

#include "base/demangle.h"
#include "base/out_of_memory.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_SHOWN = 12 };

struct launched_kernel {
    struct launched_kernel *next;
    char *name;
    bool fits;
    uint64_t launches;
};

static char *copy(const char *text)
{
    char *s = strdup(text);
    if (!s)
        out_of_memory();
    return s;
}

/* Ranges */

static const char *read_number(const char *at, uint64_t *to)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(at, &end, 10);
    *to = n;
    return isdigit((unsigned char)*at) && !errno ? end : NULL;
}

/* "N", "A-B" or "A-"; returns what follows, or NULL. */
static const char *read_range(const char *at, struct launch_range *to)
{
    at = read_number(at, &to->first);
    to->last = to->first;
    if (!at || *at != '-')
        return at;
    if (!at[1] || at[1] == ',') {
        to->last = UINT64_MAX;
        return at + 1;
    }
    at = read_number(at + 1, &to->last);
    return at && to->first <= to->last ? at : NULL;
}

static bool read_ranges(struct launch_filter *f, const char *text, struct error *e)
{
    const char *at = text;
    for (bool more = true; more; at++) {
        struct launch_range range;
        at = read_range(at, &range);
        if (!at || (*at && *at != ','))
            return error_set(e, ERROR_NOT_FOUND,
                             "--launch needs numbers from 0 and ranges of them, as 0,3-5,9-, not '%.100s'", text);
        f->ranges = realloc(f->ranges, (f->range_count + 1) * sizeof *f->ranges);
        if (!f->ranges)
            out_of_memory();
        f->ranges[f->range_count++] = range;
        more = *at == ',';
    }
    return true;
}

static bool is_in_range(const struct launch_filter *f, uint64_t number)
{
    for (uint32_t i = 0; i < f->range_count; i++)
        if (number >= f->ranges[i].first && number <= f->ranges[i].last)
            return true;
    return !f->range_count;
}

/* Kernels */

static bool fits(const struct launch_filter *f, const char *kernel)
{
    for (uint32_t i = 0; i < f->kernel_count; i++)
        if (demangled_is(kernel, f->kernels[i]))
            return true;
    return !f->kernel_count;
}

static struct launched_kernel *known(struct launch_filter *f, const char *kernel)
{
    struct launched_kernel *k = strmap_get(&f->known, kernel, strlen(kernel));
    if (k)
        return k;
    k = calloc(1, sizeof *k);
    if (!k)
        out_of_memory();
    k->name = copy(kernel);
    k->fits = fits(f, kernel);
    *f->end = k;
    f->end = &k->next;
    strmap_put(&f->known, k->name, strlen(k->name), k);
    return k;
}

bool launch_filter_times(struct launch_filter *f, uint64_t number, const char *kernel, bool outside)
{
    return number >= f->skip && is_in_range(f, number) && !(f->region && outside) && known(f, kernel)->fits;
}

void launch_filter_count(struct launch_filter *f, const char *kernel, bool timed)
{
    known(f, kernel)->launches++;
    f->timed += timed;
    f->functional += !timed;
}

/* Its life */

struct launch_filter *launch_filter_create(const struct launch_filter_spec *s, struct error *e)
{
    struct launch_filter *f = calloc(1, sizeof *f);
    if (!f || (s->kernel_count && !(f->kernels = calloc(s->kernel_count, sizeof *f->kernels))))
        out_of_memory();
    f->end = &f->first;
    f->skip = s->skip;
    f->region = s->region;
    for (; f->kernel_count < s->kernel_count; f->kernel_count++)
        f->kernels[f->kernel_count] = copy(s->kernels[f->kernel_count]);
    if (!s->launches || !*s->launches)
        return f;
    f->launches = copy(s->launches);
    if (read_ranges(f, s->launches, e))
        return f;
    launch_filter_destroy(f);
    return NULL;
}

void launch_filter_destroy(struct launch_filter *f)
{
    if (!f)
        return;
    for (struct launched_kernel *k = f->first, *next; k; k = next) {
        next = k->next;
        free(k->name);
        free(k);
    }
    for (uint32_t i = 0; i < f->kernel_count; i++)
        free(f->kernels[i]);
    strmap_free(&f->known);
    free(f->kernels);
    free(f->launches);
    free(f->ranges);
    free(f);
}

void launch_filter_explain(const struct launch_filter *f, struct error *e)
{
    uint32_t shown = 0;
    bool fit = false;
    for (const struct launched_kernel *k = f->first; k; k = k->next)
        fit |= k->fits;
    error_set(e, ERROR_NOT_FOUND, "no launch was timed: %s",
              !fit        ? "no kernel that the program launched is called so"
              : f->region ? "none that was chosen is between cudaProfilerStart and cudaProfilerStop"
                          : "the program has none with such a number");
    error_note(e, "it has %llu, with numbers from 0, of these kernels:", (unsigned long long)f->functional);
    for (const struct launched_kernel *k = f->first; k; k = k->next) {
        if (shown++ == NAMES_SHOWN) {
            error_note(e, "  and others");
            return;
        }
        char *name = demangled(k->name);
        error_note(e, "  %.160s (%llu)", name, (unsigned long long)k->launches);
        free(name);
    }
}
