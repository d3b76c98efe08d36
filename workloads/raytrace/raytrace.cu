/*
 * raytrace: 64 spheres in constant memory seen through a pinhole: a thread per pixel follows its ray over up to four
 * mirrors. Rays that hit nothing end early, so lanes diverge. raytrace_shadow asks whether the first hit of each pixel
 * sees the light, and stops at the first sphere in between.
 */
#include "device_warp.h"

enum { SPHERES = 64, BOUNCES = 4, WIDTH = 16, HEIGHT = 16 };

__constant__ float4 raytrace_spheres[SPHERES]; /* centre and square of the radius */

struct ray {
    float x, y, z, dx, dy, dz;
};

/* The nearest hit further than a little, or a negative number. */
static inline __device__ float distance_to(const ray &ray, float4 sphere)
{
    float x = sphere.x - ray.x, y = sphere.y - ray.y, z = sphere.z - ray.z;
    float along = __fmaf_rn(x, ray.dx, __fmaf_rn(y, ray.dy, z * ray.dz));
    float aside = __fmaf_rn(x, x, __fmaf_rn(y, y, z * z)) - along * along;

    if (aside > sphere.w || along < 0.0f)
        return -1.0f;
    float distance = along - __fsqrt_rn(sphere.w - aside);
    return distance > 1e-3f ? distance : -1.0f;
}

static inline __device__ ray first_ray(int x, int y, int side)
{
    float dx = (x + 0.5f) * __fdiv_rn(2.0f, side) - 1.0f, dy = (y + 0.5f) * __fdiv_rn(2.0f, side) - 1.0f;
    float scale = __fdiv_rn(1.0f, __fsqrt_rn(__fmaf_rn(dx, dx, __fmaf_rn(dy, dy, 1.0f))));

    return {0.0f, 0.0f, 0.0f, dx * scale, dy * scale, scale};
}

static inline __device__ int nearest_sphere(const ray &ray, float *distance)
{
    int nearest = -1;

    *distance = 1e30f;
#pragma unroll 1
    for (int i = 0; i < SPHERES; i++) {
        float here = distance_to(ray, raytrace_spheres[i]);
        if (here > 0.0f && here < *distance) {
            *distance = here;
            nearest = i;
        }
    }
    return nearest;
}

/* Moves the ray to its hit; returns the normal there. */
static inline __device__ float4 advance(ray &ray, float distance, float4 sphere)
{
    ray.x = __fmaf_rn(ray.dx, distance, ray.x);
    ray.y = __fmaf_rn(ray.dy, distance, ray.y);
    ray.z = __fmaf_rn(ray.dz, distance, ray.z);
    float scale = __fdiv_rn(1.0f, __fsqrt_rn(sphere.w));
    float4 normal = {(ray.x - sphere.x) * scale, (ray.y - sphere.y) * scale, (ray.z - sphere.z) * scale, 0.0f};
    return normal;
}

extern "C" __global__ void raytrace_mirrors(float *__restrict__ image, unsigned *__restrict__ hits, int side)
{
    int x = blockIdx.x * WIDTH + threadIdx.x, y = blockIdx.y * HEIGHT + threadIdx.y;
    ray ray = first_ray(x, y, side);
    float light = 0.0f, share = 1.0f;
    unsigned count = 0;

#pragma unroll 1
    for (int bounce = 0; bounce < BOUNCES; bounce++) {
        float distance;
        int sphere = nearest_sphere(ray, &distance);
        if (sphere < 0) {
            light = __fmaf_rn(share, 0.5f * (ray.dy + 1.0f), light); /* the sky */
            break;
        }
        float4 normal = advance(ray, distance, raytrace_spheres[sphere]);
        float along = 2.0f * __fmaf_rn(ray.dx, normal.x, __fmaf_rn(ray.dy, normal.y, ray.dz * normal.z));
        ray.dx = __fmaf_rn(-along, normal.x, ray.dx);
        ray.dy = __fmaf_rn(-along, normal.y, ray.dy);
        ray.dz = __fmaf_rn(-along, normal.z, ray.dz);
        share *= 0.7f;
        count++;
    }
    image[y * side + x] = light;
    hits[y * side + x] = count;
}

extern "C" __global__ void raytrace_shadow(unsigned *__restrict__ lit, int side)
{
    int x = blockIdx.x * WIDTH + threadIdx.x, y = blockIdx.y * HEIGHT + threadIdx.y;
    ray ray = first_ray(x, y, side);
    float distance;
    int sphere = nearest_sphere(ray, &distance);
    unsigned result = 2; /* nothing there */

    if (sphere >= 0) {
        float4 normal = advance(ray, distance, raytrace_spheres[sphere]);
        ray.dx = 0.0f, ray.dy = 0.8f, ray.dz = -0.6f;
        result = __fmaf_rn(normal.y, 0.8f, normal.z * -0.6f) > 0.0f;
#pragma unroll 1
        for (int i = 0; i < SPHERES && result; i++)
            result = i == sphere || distance_to(ray, raytrace_spheres[i]) < 0.0f;
    }
    lit[y * side + x] = result;
}
