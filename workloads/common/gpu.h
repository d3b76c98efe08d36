/*
 * gpu.h: the CUDA driver API as the workloads use it: one device, its primary context, the one module that was linked
 * into the program (embed.S). A call that fails is named on stderr with its error, and ends the program with status
 * 1. */
#ifndef WORKLOADS_GPU_H
#define WORKLOADS_GPU_H

#include <stddef.h>

#include "heddle/cuda.h"

#define CHECK(call) gpu_check((call), #call, __FILE__, __LINE__)
void gpu_check(CUresult result, const char *call, const char *file, int line);

struct gpu {
    CUdevice device;
    CUmodule module;
};

struct shape {
    unsigned x;
    unsigned y;
};

/*
 * Makes the context of the device current and loads the module: gpu_open_device, then gpu_load_module. Heddle lays
 * memory out in the order of allocation. A program that wants its data before the variables of the module takes the
 * two steps one by one, and allocates in
 * between. */
void gpu_open(struct gpu *gpu);
void gpu_open_device(struct gpu *gpu);
void gpu_load_module(struct gpu *gpu);
void gpu_close(struct gpu *gpu);
CUfunction gpu_kernel(const struct gpu *gpu, const char *name);

CUdeviceptr gpu_alloc_zeroed(size_t bytes);
CUdeviceptr gpu_upload(const void *data, size_t bytes);
void gpu_download(void *data, CUdeviceptr from, size_t bytes);
void gpu_free(CUdeviceptr memory);

/* Fills a variable of the module, all of it: `bytes` must be its size. */
void gpu_fill_constant(const struct gpu *gpu, const char *name, const void *data, size_t bytes);

/* A texture object over `count` floats in linear memory, fetched by integer position. */
CUtexObject gpu_texture_f32(CUdeviceptr memory, size_t count);

/* An array of width x height bytes and a texture object over it: read as integers, no filter, clamped to its edges. */
CUarray gpu_upload_array_u8(const void *data, size_t width, size_t height);
CUtexObject gpu_texture_u8(CUarray array);
void gpu_free_array(CUarray array);

/*
 * A texture object over a two-dimensional array of its own: `rows` rows of `columns` texels, one after the other in
 * `texels`, with 1, 2 or 4 unsigned integers of 1 or 4 bytes each. Fetched as integers at integer
 * coordinates. */
struct gpu_texture_2d {
    CUarray array;
    CUtexObject object;
};
void gpu_texture_2d_open(struct gpu_texture_2d *texture, const void *texels, size_t columns, size_t rows,
                         unsigned channels, unsigned channel_bytes);
void gpu_texture_2d_close(struct gpu_texture_2d *texture);

/* Launches on the default stream and waits; `arguments` points at each argument in turn. */
void gpu_launch(CUfunction kernel, struct shape grid, struct shape block, void **arguments);

/* The same by name, with blocks and threads in one dimension. */
void gpu_launch_named(const struct gpu *gpu, const char *kernel, unsigned blocks, unsigned threads, void **arguments);

/* Blocks of `block` threads that cover `threads`. */
unsigned gpu_blocks(size_t threads, unsigned block);

#endif
