/* The texture cache with a queue of fragments, after GPGPU-Sim's. Every access, hit or miss, stays in the queue
 * until its data is there and all accesses before it have left; then it waits among a few results for writeback. A
 * line that misses counts as present for the accesses after it; its data comes later, and the queue bridges that
 * time.
 *
 * This file also has the places of texels: memory has them row by row, but caches may see them in blocks of
 * neighbouring rows and columns. */
#include "sm/core.h"

enum { BLOCK_STRIDE = 64 };

/* Columns of a block: 8 words of a line of 128 bytes, fewer where texels are larger. */
static uint32_t block_columns(uint32_t line_bytes, uint32_t texel_bytes)
{
    uint32_t columns = line_bytes >= 128 ? 16 : 8;
    for (uint32_t words = texel_bytes / 4; words; words /= 4)
        columns /= 2;
    return columns;
}

/* A block is as large as a line, but GPGPU-Sim puts blocks 64 bytes apart: with lines of 128 bytes each one covers
 * half of the next. */
void sm_texel_blocks(const struct texture_array *a, uint32_t line_bytes, uint32_t mask, uint64_t address[32])
{
    uint32_t texel = texture_texel_bytes(a), columns = block_columns(line_bytes, texel), row_bytes = columns * texel,
             rows = line_bytes / row_bytes;
    for (; mask && a->pitch_bytes; mask &= mask - 1) {
        uint64_t *at = &address[__builtin_ctz(mask)], offset = *at - a->data, y = offset / a->pitch_bytes,
                 x = offset % a->pitch_bytes;
        uint64_t block = y / rows * a->width / columns + x / row_bytes;
        *at = a->data + block * BLOCK_STRIDE + y % rows * row_bytes + x % row_bytes;
    }
}

bool sm_texture_access(struct sm *c, const struct packet *p)
{
    struct lsu_textures *t = &c->lsu.textures;
    const struct cache_config *g = &c->config->l1t;
    if (t->fragment_count == g->mshr_entries || c->lsu.l1t_head->misses.count == g->mshr_merge ||
        t->fragment_misses == g->miss_queue)
        return false; /* until a fragment leaves or a miss is sent; this unit does both */
    uint32_t at = (t->fragment_head + t->fragment_count++) % g->mshr_entries;
    bool miss = cache_read_now(c->lsu.l1t, p, c->warps[p->warp].age, at) == CACHE_MISS;
    struct packet line = {.address = p->address & ~(uint64_t)(g->line_bytes - 1), .bytes = (uint16_t)g->line_bytes};
    t->fragments[at] = (struct sm_fragment){.id = (uint16_t)p->token, .miss = miss};
    if (miss)
        t->fragments[at].missing = (uint16_t)core_link_answers(&c->net, &line);
    t->fragment_misses += miss;
    return true;
}

void sm_texture_answer(struct sm *c, const struct packet *p) { c->lsu.textures.fragments[p->token].missing--; }

void sm_texture_cycle(struct sm *c)
{
    struct lsu_textures *t = &c->lsu.textures;
    if (c->lsu.l1t_head->misses.count)
        sm_send_misses(c, c->lsu.l1t, ORIGIN_L1T);
    if (!textures_move(t) || t->count >= c->config->texture_results)
        return;
    const struct sm_fragment *f = &t->fragments[t->fragment_head];
    textures_put(t, f->id);
    t->fragment_misses -= f->miss;
    t->fragment_head = (t->fragment_head + 1) % c->config->l1t.mshr_entries;
    t->fragment_count--;
}
