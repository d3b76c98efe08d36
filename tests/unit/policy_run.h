/* For tests that run a small kernel under policies of their own, on one core. */
#ifndef HEDDLE_TESTS_POLICY_RUN_H
#define HEDDLE_TESTS_POLICY_RUN_H

#include "timing_test.h"

struct policy_run {
    const char *machine;                      /* NULL: gtx480 */
    const char *const *sets;                  /* NULL: none beyond one core */
    uint32_t threads;                         /* of the simulator */
    const char *spec;                         /* of a scheduler; NULL: the machine's own */
    const struct heddle_scheduler *scheduler; /* NULL: the one of the spec */
    const struct heddle_l1 *l1;
    const struct heddle_divergence *divergence;
    const struct heddle_probe *probes[4]; /* NULL at the end */
    const char *const *probe_specs;       /* NULL, or specs with NULL at the end, before these */
};

static inline void policy_choose_own(struct policy_choice *choice, const struct heddle_policy *p)
{
    policy_release(choice);
    *choice = (struct policy_choice){.policy = p, .spec = "own"};
}

static inline void policy_open(struct timed *t, const struct policy_run *r, const char *globals, const char *body)
{
    static const char *const one_core[] = {ONE_CORE, NULL};
    const char *const *sets = r->sets ? r->sets : one_core;
    struct gpu_options options = {.threads = r->threads, .max_cycles = 20000000};
    char path[256];
    uint32_t count = 0, probe_count = 0;
    memset(t, 0, sizeof *t);
    while (sets[count])
        count++;
    while (r->probe_specs && r->probe_specs[probe_count])
        probe_count++;
    snprintf(path, sizeof path, "machines/%s.ini", r->machine ? r->machine : "gtx480");
    if (!gpu_setup(&options,
                   &(struct gpu_setup){.machine = path,
                                       .sets = sets,
                                       .set_count = count,
                                       .scheduler = r->spec,
                                       .probes = r->probe_specs,
                                       .probe_count = probe_count},
                   &t->error))
        fail_msg("%s", t->error.text);
    if (r->scheduler) {
        policy_choose_own(&options.policies.scheduler, &r->scheduler->policy);
        options.policies.scheduler.scheduler = r->scheduler;
    }
    if (r->l1) {
        policy_choose_own(&options.policies.l1, &r->l1->policy);
        options.policies.l1.l1 = r->l1;
    }
    if (r->divergence) {
        policy_choose_own(&options.policies.divergence, &r->divergence->policy);
        options.policies.divergence.divergence = r->divergence;
    }
    for (uint32_t i = 0; i < 4 && r->probes[i]; i++) {
        struct policy_choice *probe = &options.policies.probes[options.policies.probe_count++];
        policy_choose_own(probe, &r->probes[i]->policy);
        probe->probe = r->probes[i];
    }
    t->gpu = gpu_create(&options, &t->error);
    if (!t->gpu)
        fail_msg("%s", t->error.text);
    t->source = timed_kernel(globals, body);
    struct ptx_module *module = ptx_parse("test.ptx", t->source, strlen(t->source), &t->error);
    t->image = module ? exec_image_create(t->gpu->memory, &module, 1, &t->error) : NULL;
    if (!t->image)
        fail_msg("%s", t->error.text);
    t->buffer = memory_pointer(memory_alloc(t->gpu->memory, TIMED_BYTES, TIMED_BYTES, MEMORY_DEVICE, NULL));
}

#endif
