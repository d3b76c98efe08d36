/*
 * mummer: short reads of DNA matched against a reference through its suffix tree (after MUMmerGPU), a thread per read.
 *
 * For every place where a match could begin, the longest one there: from the node that is known to fit, down edge by
 * edge. The children of a node, the span of an edge and the reference itself are fetched from textures of two
 * dimensions. Which of four children is next, whether there is one, how far an edge fits and whether it ends are
 * branches on the data. The next beginning follows the node's suffix link, so that what is known to fit is not compared
 * again.
 */
#include "device_texture.h"

enum { COLUMNS = 1024 /* of all textures */, NOTHING = 0, ROOT = 1 };

/* What the host looks up in its tree: `node` is the end of the last edge that fits, if only in part. */
struct match {
    unsigned length;
    unsigned node;
};

struct tree {
    texture_2d edges;     /* by node: first and last + 1 of the reference on the edge to it, and the suffix link */
    texture_2d children;  /* by node: for A, C, G, T */
    texture_2d reference; /* letters */
};

static inline __device__ texel fetch(texture_2d texture, unsigned at)
{
    return texture_fetch_2d(texture, at % COLUMNS, at / COLUMNS);
}

/* The branches for the letters stay apart, as a switch would compile to without a table. */
static inline __device__ unsigned child_of(const tree &tree, unsigned node, unsigned letter)
{
    texel children = fetch(tree.children, node);
    unsigned child;

    if (letter == 'A') {
        keep_branch();
        child = children.x;
    } else if (letter == 'C') {
        keep_branch();
        child = children.y;
    } else if (letter == 'G') {
        keep_branch();
        child = children.z;
    } else {
        child = children.w;
    }
    return child;
}

/*
 * Read i is the letters from offsets[i] to offsets[i + 1], at least `least` of them. It gets a match for each beginning
 * that leaves `least` letters, one after the other.
 */
extern "C" __global__ void mummer_match(tree tree, const unsigned char *reads, const int *offsets, int count, int least,
                                        match *matches)
{
    int read = blockIdx.x * blockDim.x + threadIdx.x;

    if (read < count) {
        int begin = offsets[read];
        int end = offsets[read + 1];
        match *own = matches + (begin - read * (least - 1));
        unsigned node = ROOT;
        int at = begin; /* the letters before it lead to the node */

#pragma unroll 1
        for (int start = begin; start <= end - least; start++) {
            unsigned last = node;
            int matched = at;
#pragma unroll 1
            while (matched < end) {
                unsigned child = child_of(tree, node, reads[matched]);
                if (child == NOTHING) {
                    keep_branch();
                    break;
                }
                texel edge = fetch(tree.edges, child);
                unsigned position = edge.x;
                last = child;
                /* The first letter is the one that chose the child. */
#pragma unroll 1
                do {
                    position++;
                    matched++;
                } while (position < edge.y && matched < end && fetch(tree.reference, position).x == reads[matched]);
                if (position < edge.y) {
                    keep_branch();
                    break;
                }
                node = child;
                at = matched;
            }
            own[start - begin].length = matched - start;
            own[start - begin].node = last;
            if (node == ROOT) {
                keep_branch();
                at = start + 1;
            } else {
                node = fetch(tree.edges, node).z;
            }
        }
    }
}
