/* Any bytes as a module whose kernels are run, without time and then on a small machine. Nothing may be touched that is
 * not the kernel's, and all ends in a result or in an error with a message. FUZZ_TELL=1 in the environment: says how
 * each run ended. */
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void tell(const struct plan_result *r, const char *how)
{
    if (getenv("FUZZ_TELL"))
        fprintf(stderr, "%s: %s\n", how, r->ended ? "ended" : r->error.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plan p = plan_read((const char *)data, size);
    static struct plan_result r;
    plan_run(&p, (const char *)data, size, true, &r);
    tell(&r, "functional");
    if (r.loaded) {
        plan_run(&p, (const char *)data, size, false, &r);
        tell(&r, "timed");
    }
    return 0;
}
