/* What all networks share: their table, their queues, and what they count. */
#include "mem/network.h"

#include <assert.h>

#define NETWORK(name, help) extern const struct network_ops name##_network;
#include "mem/networks.def"

static const struct network_ops *const networks[] = {
#define NETWORK(name, help) &name##_network,
#include "mem/networks.def"
};

/* Machine files are older than the choice: a router is meant where they give it queues at its ports. */
static const struct network_ops *ops_of(const struct network_config *config)
{
    if (config->network != NETWORK_AUTO)
        return networks[config->network - 1];
    return config->injection_flits || config->ejection_flits ? &router_network : &crossbar_network;
}

bool network_fits(const struct network_config *config, struct network_misfit *why)
{
    const struct network_ops *ops = ops_of(config);
    return !ops->fits || ops->fits(config, why);
}

static uint32_t power_of_two(uint32_t least)
{
    uint32_t size = 1;
    while (size < least)
        size *= 2;
    return size;
}

/* Each ring has one place more than flits have room: an input holds a packet until its last flit has left, and a router
 * places a packet before its first flit has arrived. */
static void create_queues(struct network *n, struct arena *a, const struct network_config *config)
{
    uint32_t in_size = power_of_two(config->input_flits + 1), out_size = power_of_two(config->output_flits + 1);
    uint32_t cycles = power_of_two(n->arrival_cycles + 1);
    n->input = arena_lines(a, struct network_input, n->inputs);
    n->output = arena_array(a, struct network_output, n->outputs);
    n->arriving = arena_array(a, uint64_t, (size_t)cycles * n->output_words);
    n->input_mask = in_size - 1;
    n->output_mask = out_size - 1;
    n->arriving_mask = cycles - 1;
    for (uint32_t i = 0; i < n->inputs; i++) {
        n->input[i].slots = arena_array(a, struct network_packet, in_size);
        n->input[i].left_at = arena_array(a, uint64_t, in_size);
    }
    for (uint32_t o = 0; o < n->outputs; o++)
        n->output[o].slots = arena_array(a, struct arrival, out_size);
}

struct network *network_create(struct arena *a, const struct network_config *config, enum network_direction direction,
                               uint32_t inputs, uint32_t outputs)
{
    assert(inputs <= NETWORK_PORTS_MOST && outputs <= NETWORK_PORTS_MOST && config->flit_bytes);
    struct network *n = arena_lines(a, struct network, 1);
    n->work_at = n->fresh_at = UINT64_MAX;
    n->flit_bytes = config->flit_bytes;
    n->entry_bytes = direction == NETWORK_REQUESTS ? config->request_flit_bytes : 0;
    n->inputs = inputs;
    n->outputs = outputs;
    n->input_words = (inputs + 63) / 64;
    n->output_words = (outputs + 63) / 64;
    n->direction = direction;
    n->ops = ops_of(config);
    n->state = n->ops->create(n, a, config);
    assert(n->input_room && n->flits_per_cycle);
    create_queues(n, a, config);
    n->sums = arena_new(a, struct network_counters);
    return n;
}

bool network_is_empty(const struct network *n)
{
    uint64_t waiting = 0;
    for (uint32_t w = 0; w < n->output_words; w++)
        waiting |= n->waiting[w];
    return network_idle(n) && !waiting;
}

/* Packets that have been placed count as arrived once they are ready. */
static void subtract_coming(const struct network *n, struct network_counters *sums)
{
    for (uint32_t o = 0; o < n->outputs; o++)
        for (uint64_t k = n->output[o].head; k != n->output[o].tail; k++) {
            const struct arrival *a = &n->output[o].slots[k & n->output_mask];
            if (a->ready <= n->now)
                continue;
            sums->packets_out--;
            sums->flits_out -= a->flits;
        }
}

const struct network_counters *network_counters(const struct network *n)
{
    struct network_counters sums = {.stalls = n->stalls + n->standing * (n->now - n->worked),
                                    .flits_out = n->flits_placed};
    for (uint32_t i = 0; i < n->inputs; i++) {
        sums.packets_in += n->input[i].tail;
        sums.flits_in += n->input[i].flits_in;
    }
    for (uint32_t o = 0; o < n->outputs; o++)
        sums.packets_out += n->output[o].tail;
    subtract_coming(n, &sums);
    *n->sums = sums;
    return n->sums;
}
