/* The texture cache with a queue of accesses (l1t.result_queue): every access, hit or miss, stands in the queue until
 * its data is there and all accesses before it have gone. The line of a miss counts as there for accesses after it.
 * Also in this file: where texels lie that are kept in blocks. */
#include "model/model.h"

enum { BLOCK_STRIDE = 64 }; /* bytes from one block to the next, as GPGPU-Sim has it */

bool model_has_texture_queue(const struct sm *c) { return c->l1t && c->config->texture_results; }

/* Columns of a block: 16 or, of shorter lines, 8; half as many for every factor of four in a texel's words. */
static uint32_t block_columns(uint32_t line_bytes, uint32_t texel_bytes)
{
    uint32_t columns = line_bytes >= 128 ? 16 : 8;
    for (uint32_t words = texel_bytes / 4; words; words /= 4)
        columns /= 2;
    return columns;
}

void model_texel_blocks(const struct texture_array *a, uint32_t line_bytes, uint32_t mask, uint64_t address[WARP_LANES])
{
    uint32_t texel = texture_texel_bytes(a), columns = block_columns(line_bytes, texel), row_bytes = columns * texel,
             rows = line_bytes / row_bytes;
    for (uint32_t lane = 0; lane < WARP_LANES && a->pitch_bytes; lane++) {
        if (!(mask >> lane & 1))
            continue;
        uint64_t offset = address[lane] - a->data, y = offset / a->pitch_bytes, x = offset % a->pitch_bytes;
        uint64_t block = y / rows * a->width / columns + x / row_bytes;
        address[lane] = a->data + block * BLOCK_STRIDE + y % rows * row_bytes + x % row_bytes;
    }
}

static uint32_t misses_in_queue(const struct fragments *q)
{
    uint32_t misses = 0;
    for (uint32_t i = 0; i < q->count; i++)
        misses += q->list[i].miss;
    return misses;
}

/* The keys of miss registers give the lengths of its queues: all accesses, requests to memory, misses. */
bool model_texture_access(struct sm *c, const struct packet *p)
{
    struct fragments *q = &c->lsu.fragments;
    const struct cache_config *g = &c->config->l1t;
    if (q->count == g->mshr_entries || cache_head(c->l1t)->misses.count == g->mshr_merge ||
        misses_in_queue(q) == g->miss_queue)
        return false;
    uint32_t number = c->lsu.fragments_left + q->count;
    bool miss = cache_read_now(c->l1t, p, c->shown[p->warp].age, number) == CACHE_MISS;
    struct packet line = {.address = p->address / g->line_bytes * g->line_bytes, .bytes = (uint16_t)g->line_bytes};
    q->list[q->count++] =
        (struct fragment){.id = p->token, .miss = miss, .missing = miss ? model_answers(c, &line) : 0};
    return true;
}

void model_texture_answer(struct sm *c, const struct packet *p)
{
    c->lsu.fragments.list[p->token - c->lsu.fragments_left].missing--;
}

void model_textures_step(struct sm *c)
{
    struct fragments *q = &c->lsu.fragments;
    struct delays *results = &c->lsu.texture_results;
    model_send_miss(c, c->l1t, ORIGIN_L1T);
    if (!q->count || q->list[0].missing || results->count >= c->config->texture_results)
        return;
    results->list[results->count++] = (struct delayed){.id = q->list[0].id};
    q->count--;
    c->lsu.fragments_left++;
    for (uint32_t i = 0; i < q->count; i++)
        q->list[i] = q->list[i + 1];
}
