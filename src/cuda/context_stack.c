/* Which context is current in each host thread. */
#include "cuda/context_stack.h"

#include <stdlib.h>

static pthread_key_t stack_key;
static pthread_once_t stack_once = PTHREAD_ONCE_INIT;

static void stack_free(void *p)
{
    struct context_stack *s = p;
    free(s->entries);
    free(s);
}

static void stack_key_make(void) { pthread_key_create(&stack_key, stack_free); }

struct context_stack *context_stack_of_thread(bool make)
{
    pthread_once(&stack_once, stack_key_make);
    struct context_stack *s = pthread_getspecific(stack_key);
    if (!s && make) {
        s = calloc(1, sizeof *s);
        if (s)
            pthread_setspecific(stack_key, s);
    }
    return s;
}

static _Thread_local struct context *acting;

struct context *context_act(struct context *ctx)
{
    struct context *before = acting;
    acting = ctx;
    return before;
}

struct context *context_current(void)
{
    if (acting)
        return acting;
    struct context_stack *s = context_stack_of_thread(false);
    return s && s->depth ? s->entries[s->depth - 1] : NULL;
}
