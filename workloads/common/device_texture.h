/*
 * device_texture.h: textures of two dimensions with integers in them, as gpu_texture_2d_open makes them (device.h has
 * those over linear
 * memory). */
#ifndef WORKLOADS_DEVICE_TEXTURE_H
#define WORKLOADS_DEVICE_TEXTURE_H

#include "device.h"

typedef unsigned long long texture_2d; /* a texture object, as cuTexObjectCreate returns it */

/* Channels that the texture does not have are 0, the fourth of them 1. */
struct texel {
    unsigned x;
    unsigned y;
    unsigned z;
    unsigned w;
};

/* The texel at integer coordinates (PTX ISA, "tex"). */
static inline __device__ texel texture_fetch_2d(texture_2d texture, int column, int row)
{
    texel texel;

    asm("tex.2d.v4.u32.s32 {%0, %1, %2, %3}, [%4, {%5, %6}];"
        : "=r"(texel.x), "=r"(texel.y), "=r"(texel.z), "=r"(texel.w)
        : "l"(texture), "r"(column), "r"(row));
    return texel;
}

#endif
