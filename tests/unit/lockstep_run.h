/* For tests that run a kernel in lockstep: functional mode with a probe that hears of blocks. */
#ifndef HEDDLE_TESTS_LOCKSTEP_RUN_H
#define HEDDLE_TESTS_LOCKSTEP_RUN_H

#include "kernel_test.h"

/* probe: a spec of a built-in one, or NULL: own. The machine has one core with room for one block of 1024 threads. */
static inline void lockstep_open(struct kernel_run *k, const char *ptx, const char *spec,
                                 const struct heddle_probe *own)
{
    struct gpu_options options = {.functional = true,
                                  .policies.probe_count = 1,
                                  .max_cycles = 100000000,
                                  .machine = {.name = "test",
                                              .cores = 1,
                                              .memory_bytes = 1 << 30,
                                              .sm = {.warps = 32,
                                                     .blocks = 8,
                                                     .registers = 65536,
                                                     .register_granule = 8,
                                                     .shared_bytes = 49152,
                                                     .register_banks = 16}}};
    memset(k, 0, sizeof *k);
    if (spec && !policy_choose(&options.policies.probes[0], POLICY_PROBE, spec, &k->error))
        fail_msg("%s", k->error.text);
    if (!spec)
        options.policies.probes[0] = (struct policy_choice){.policy = &own->policy, .probe = own, .spec = "own"};
    k->gpu = gpu_create(&options, &k->error);
    if (!k->gpu)
        fail_msg("%s", k->error.text);
    struct ptx_module *m = ptx_parse("test.ptx", ptx, strlen(ptx), &k->error);
    k->image = m ? exec_image_create(k->gpu->memory, &m, 1, &k->error) : NULL;
    k->words = memory_pointer(memory_alloc(k->gpu->memory, KERNEL_WORDS * 4, 256, MEMORY_DEVICE, NULL));
}

#endif
