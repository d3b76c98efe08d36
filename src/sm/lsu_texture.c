/* The texture cache with a queue of fragments: every access, hit or miss, stands in it until its data is there and all before it have gone, then waits among a few results for writeback. A line
 * that misses is in the cache from then on, for those behind; its own data comes later, which is what the queue is for. After GPGPU-Sim's.
 *
 * Left out: the layout of texels in blocks; textures lie in memory row by row. */
#include "sm/sm.h"

void sm_textures_init(struct sm *c, struct arena *a) { c->lsu.fragments = arena_array(a, struct sm_fragment, c->config->l1t.mshr_entries); }

bool sm_texture_access(struct sm *c, const struct packet *p)
{
    struct sm_lsu *l = &c->lsu;
    const struct cache_config *g = &c->config->l1t;
    c->busy = true;
    if (l->fragment_count == g->mshr_entries || c->textures->misses.count == g->mshr_merge || l->fragment_misses == g->miss_queue)
        return false;
    uint32_t at = (l->fragment_head + l->fragment_count++) % g->mshr_entries;
    bool miss = cache_read_now(c->l1t, p, c->warps[p->warp].age, at) == CACHE_MISS;
    l->fragments[at] = (struct sm_fragment){ .id = (uint16_t)p->token, .missing = (uint16_t)(miss ? sm_answers(c, p->address, g->line_bytes) : 0), .miss = miss };
    l->fragment_misses += miss;
    return true;
}

void sm_texture_answer(struct sm *c, const struct packet *p) { c->lsu.fragments[p->token].missing--; }

void sm_texture_cycle(struct sm *c)
{
    struct sm_lsu *l = &c->lsu;
    const uint32_t places = sizeof l->texture_hits / sizeof *l->texture_hits;
    if (c->textures->misses.count)
        sm_send_misses(c, c->l1t, ORIGIN_L1T);
    if (!sm_textures_move(l) || l->texture_count >= c->config->texture_results)
        return;
    const struct sm_fragment *f = &l->fragments[l->fragment_head];
    l->texture_hits[(l->texture_head + l->texture_count++) % places] = f->id;
    l->fragment_misses -= f->miss;
    l->fragment_head = (l->fragment_head + 1) % c->config->l1t.mshr_entries;
    l->fragment_count--;
    c->busy = true;
}
