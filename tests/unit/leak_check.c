/* Linked into unit tests with sanitizers: a program that has given back all that it allocated ends without a search for
 * leaks. LeakSanitizer looks at every region of the address space, of which AArch64 has 2^28: 4 seconds per program,
 * however little it allocated. Where anything is left, the search is made as ever. What was allocated before main (by
 * the loader and the sanitizers' own libraries) is never given back, and is not counted. */
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { EARLY_MOST = 64 };

static _Atomic long live; /* allocated since begin */
static const volatile void *early[EARLY_MOST];
static int early_count; /* more than EARLY_MOST: not known, and the search is made */
static int begun;
static char stdout_buffer[BUFSIZ];

void __sanitizer_malloc_hook(const volatile void *p, size_t bytes);
void __sanitizer_free_hook(const volatile void *p);
int __lsan_is_turned_off(void);

static void begin_early(const volatile void *p)
{
    if (early_count < EARLY_MOST)
        early[early_count] = p;
    early_count++;
}

static int end_early(const volatile void *p)
{
    for (int i = 0; i < early_count && i < EARLY_MOST; i++)
        if (early[i] == p) {
            early[i] = NULL;
            return 1;
        }
    return 0;
}

void __sanitizer_malloc_hook(const volatile void *p, size_t bytes)
{
    (void)bytes;
    if (begun)
        live++;
    else
        begin_early(p);
}

void __sanitizer_free_hook(const volatile void *p)
{
    if (!end_early(p))
        live--;
}

/* The C library allocates a buffer for the standard output, and what it knows of the time zone, and never gives them
 * back: it gets this buffer, and knows the time zone before anything is counted. */
__attribute__((constructor(101))) static void begin(void)
{
    setvbuf(stdout, stdout_buffer, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, sizeof stdout_buffer);
    tzset();
    begun = 1;
}

/* Asked once, at the end. */
int __lsan_is_turned_off(void) { return live == 0 && early_count <= EARLY_MOST; }
