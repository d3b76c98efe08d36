/* Keys of the ways of a set of a cache, of which the largest is found at once: ways are in blocks, and each block has
 * its largest key in the level above, up to a level of one block. A key that grows costs a comparison a level, one that
 * shrinks a look at a block a level, if it was the largest there; neither guesses. Whoever has many such sets of the
 * same number of ways keeps their nodes himself: what is in them is anything, before ways have been made known by
 * way_tree_grow, one after the other from the first on. Then they are 0, which is no key.
 *
 * Why not an array that is searched: a replay of gc under Belady's policy with 64 and 512 ways does 14.7 and 13.5
 * million accesses per second of one processor with the tree, 10.0 and 9.6 with one block of 512. */
#ifndef HEDDLE_REPLAY_WAY_TREE_H
#define HEDDLE_REPLAY_WAY_TREE_H

#include <stdint.h>
#include <string.h>

enum { WAY_TREE_BLOCK = 16, WAY_TREE_LEVELS = 8 };
struct way_tree_shape {
    uint32_t levels, nodes;
    uint32_t start[WAY_TREE_LEVELS]; /* of each level; the first has the ways */
};

static inline struct way_tree_shape way_tree_shape_of(uint32_t ways)
{
    struct way_tree_shape s = {0};
    for (;;) {
        uint32_t blocks = (ways - 1) / WAY_TREE_BLOCK + 1;
        s.start[s.levels++] = s.nodes;
        s.nodes += blocks * WAY_TREE_BLOCK;
        if (blocks == 1)
            return s;
        ways = blocks;
    }
}

/* In four lines of comparisons that do not wait for one another. */
static inline uint64_t way_tree_largest(const uint64_t *block)
{
    uint64_t best[4] = {block[0], block[1], block[2], block[3]};
    for (uint32_t i = 4; i < WAY_TREE_BLOCK; i += 4)
        for (uint32_t k = 0; k < 4; k++)
            best[k] = block[i + k] > best[k] ? block[i + k] : best[k];
    best[0] = best[1] > best[0] ? best[1] : best[0];
    best[2] = best[3] > best[2] ? best[3] : best[2];
    return best[2] > best[0] ? best[2] : best[0];
}

/* The largest key; 0: none. */
static inline uint64_t way_tree_top(const struct way_tree_shape *s, const uint64_t *nodes)
{
    return way_tree_largest(nodes + s->start[s->levels - 1]);
}

/* A key no smaller than the way's last. */
static inline void way_tree_raise(const struct way_tree_shape *s, uint64_t *nodes, uint32_t way, uint64_t key)
{
    nodes[way] = key;
    for (uint32_t i = 1; i < s->levels; i++) {
        way /= WAY_TREE_BLOCK;
        uint64_t *node = &nodes[s->start[i] + way];
        *node = *node < key ? key : *node;
    }
}

/* Any key. */
static inline void way_tree_set(const struct way_tree_shape *s, uint64_t *nodes, uint32_t way, uint64_t key)
{
    uint64_t old = nodes[way];
    nodes[way] = key;
    for (uint32_t i = 1; i < s->levels; i++) {
        way /= WAY_TREE_BLOCK;
        uint64_t *node = &nodes[s->start[i] + way];
        if (*node > old && *node >= key)
            return;
        *node = way_tree_largest(nodes + s->start[i - 1] + (uint64_t)way * WAY_TREE_BLOCK);
    }
}

/* The next way may get a key from now on. */
static inline void way_tree_grow(const struct way_tree_shape *s, uint64_t *nodes, uint32_t way)
{
    for (uint32_t i = 0; i < s->levels && way % WAY_TREE_BLOCK == 0; i++, way /= WAY_TREE_BLOCK)
        memset(nodes + s->start[i] + way, 0, WAY_TREE_BLOCK * sizeof *nodes);
}

#endif
