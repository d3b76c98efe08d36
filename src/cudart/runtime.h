/* What the files of the runtime library share. It is a layer over the driver API of heddle/cuda.h, and knows nothing
 * else of Heddle: the libraries of CUDA 11, 12 and 13 are these same files, but for versioned/, which is compiled once
 * for each (CUDART_MAJOR: 11, 12 or 13).
 *
 * A typical function:
 *
 *     RTAPI cudaError_t cudaStreamCreate(cudaStream_t *out) { return rt_leave(rt_enter() ?: cuStreamCreate(out, 0));
 * } */
#ifndef HEDDLE_CUDART_RUNTIME_H
#define HEDDLE_CUDART_RUNTIME_H

#include "cudart/types.h"

#define RTAPI __attribute__((visibility("default")))
/* Another name for a function of the same file, such as the forms for per-thread default streams. */
#define RT_ALIAS(name, target) \
    extern __typeof__(target) alias_##name __asm__(#name) __attribute__((alias(#target), visibility("default")));

/* Before anything that needs the device: the context of this thread's device is made, and made current. Not to be used
 * where CUDA does not start the device (versions, error texts). */
int rt_enter(void);
/* At the end: a CUresult or a cudaError_t, whose numbers agree. Anything but success is kept as the thread's last
 * error. */
cudaError_t rt_leave(int result);
/* Of this thread. */
int rt_device(void);
void rt_set_device(int device);

/* What the compiler registered, by the address that stands for it in the host program. Modules are loaded when
 * something of theirs is first asked for. Needs rt_enter. */
int rt_function(const void *host, CUfunction *out); /* rt_no_function: not registered. Takes a cudaKernel_t too. */
int rt_symbol(const void *host, CUdeviceptr *address, size_t *bytes); /* cudaErrorInvalidSymbol */
int rt_texture_reference(
    const void *host, CUtexref *out,
    bool *reads_normalized); /* cudaErrorInvalidTexture. Whether integers are read as 0 to 1 or -1 to 1. */
int rt_surface_reference(const void *host, CUsurfref *out); /* cudaErrorInvalidSurface */
/* Errors and habits that differ between the generations of CUDA (versioned/errors.c). */
int rt_no_function(const void *host); /* no kernel is known by that address */
bool rt_choosing_starts(void);        /* does cudaSetDevice make the context, and make it current? */
int rt_bad_shape(void);               /* a launch whose grid or block is empty or beyond the device's limits */
/* All that was loaded goes with the contexts: cudaDeviceReset. */
void rt_forget_modules(void);

/* A function that is not there: says so once, with the caller, and returns cudaErrorNotSupported, which is kept. */
cudaError_t rt_missing(const char *function, const void *caller);

#endif
