/* raytrace: host program; see raytrace.cu for what the kernels do. */
#include <math.h>
#include <stdlib.h>

#include "array.h"
#include "gpu.h"
#include "random.h"
#include "workload.h"

enum { SPHERES = 64, BOUNCES = 4, WIDTH = 16, HEIGHT = 16 };

static const int sides[SIZE_COUNT] = {32, 128, 400};

struct sphere {
    float x, y, z, square;
};

struct ray {
    float at[3], to[3];
};

/* Each step as the device takes it, so that the same spheres are hit. */
static float distance_to(const struct ray *ray, const struct sphere *sphere)
{
    float x = sphere->x - ray->at[0], y = sphere->y - ray->at[1], z = sphere->z - ray->at[2];
    float along = fmaf(x, ray->to[0], fmaf(y, ray->to[1], z * ray->to[2]));
    float aside = fmaf(x, x, fmaf(y, y, z * z)) - along * along;

    if (aside > sphere->square || along < 0.0f)
        return -1.0f;
    float distance = along - sqrtf(sphere->square - aside);
    return distance > 1e-3f ? distance : -1.0f;
}

static struct ray first_ray(int x, int y, int side)
{
    float dx = (x + 0.5f) * (2.0f / side) - 1.0f, dy = (y + 0.5f) * (2.0f / side) - 1.0f;
    float scale = 1.0f / sqrtf(fmaf(dx, dx, fmaf(dy, dy, 1.0f)));

    return (struct ray){{0.0f, 0.0f, 0.0f}, {dx * scale, dy * scale, scale}};
}

static int nearest_sphere(const struct ray *ray, const struct sphere *spheres, float *distance)
{
    int nearest = -1;

    *distance = 1e30f;
    for (int i = 0; i < SPHERES; i++) {
        float here = distance_to(ray, &spheres[i]);
        if (here > 0.0f && here < *distance) {
            *distance = here;
            nearest = i;
        }
    }
    return nearest;
}

static void advance(struct ray *ray, float distance, const struct sphere *sphere, float normal[3])
{
    const float centre[3] = {sphere->x, sphere->y, sphere->z};
    float scale = 1.0f / sqrtf(sphere->square);

    for (int i = 0; i < 3; i++) {
        ray->at[i] = fmaf(ray->to[i], distance, ray->at[i]);
        normal[i] = (ray->at[i] - centre[i]) * scale;
    }
}

static void reference_mirrors(const struct sphere *spheres, struct ray ray, float *light, uint32_t *hits)
{
    float share = 1.0f, distance, normal[3];

    *light = 0.0f;
    for (*hits = 0; *hits < BOUNCES; ++*hits) {
        int sphere = nearest_sphere(&ray, spheres, &distance);
        if (sphere < 0) {
            *light = fmaf(share, 0.5f * (ray.to[1] + 1.0f), *light);
            return;
        }
        advance(&ray, distance, &spheres[sphere], normal);
        float along = 2.0f * fmaf(ray.to[0], normal[0], fmaf(ray.to[1], normal[1], ray.to[2] * normal[2]));
        for (int i = 0; i < 3; i++)
            ray.to[i] = fmaf(-along, normal[i], ray.to[i]);
        share *= 0.7f;
    }
}

static uint32_t reference_shadow(const struct sphere *spheres, struct ray ray)
{
    float distance, normal[3];
    int sphere = nearest_sphere(&ray, spheres, &distance);

    if (sphere < 0)
        return 2;
    advance(&ray, distance, &spheres[sphere], normal);
    ray.to[0] = 0.0f, ray.to[1] = 0.8f, ray.to[2] = -0.6f;
    int lit = fmaf(normal[1], 0.8f, normal[2] * -0.6f) > 0.0f;
    for (int i = 0; i < SPHERES && lit; i++)
        lit = i == sphere || distance_to(&ray, &spheres[i]) < 0.0f;
    return lit;
}

int main(int argc, char **argv)
{
    static const struct workload workload = {
        .name = "raytrace",
        .summary = "Spheres that mirror each other, and their shadows, a ray per thread.",
        .inputs = {"32x32 pixels", "128x128 pixels", "400x400 pixels"},
    };
    int side = sides[workload_parse(&workload, argc, argv)];
    size_t count = (size_t)side * side;
    uint64_t state = workload_seed(1980);
    struct sphere spheres[SPHERES];
    float *light = workload_alloc(count, sizeof(float));
    uint32_t *hits = workload_alloc(count, sizeof(uint32_t)), *lit = workload_alloc(count, sizeof(uint32_t));
    struct gpu gpu;

    for (int i = 0; i < SPHERES; i++) {
        float radius = 0.2f + 0.4f * random_float(&state);
        float x = 6.0f * random_float(&state) - 3.0f, y = 6.0f * random_float(&state) - 3.0f;
        float z = 3.0f + 4.0f * random_float(&state);
        spheres[i] = (struct sphere){x, y, z, radius * radius};
    }
    for (size_t i = 0; i < count; i++) {
        reference_mirrors(spheres, first_ray(i % side, i / side, side), &light[i], &hits[i]);
        lit[i] = reference_shadow(spheres, first_ray(i % side, i / side, side));
    }
    gpu_open(&gpu);
    gpu_fill_constant(&gpu, "raytrace_spheres", spheres, sizeof spheres);
    CUdeviceptr image = gpu_alloc_zeroed(count * sizeof(float)), counts = gpu_alloc_zeroed(count * sizeof(uint32_t));
    struct shape grid = {side / WIDTH, side / HEIGHT}, block = {WIDTH, HEIGHT};
    gpu_launch(gpu_kernel(&gpu, "raytrace_mirrors"), grid, block, (void *[]){&image, &counts, &side});
    size_t mismatches = array_check("light", image, light, count, 1e-4f, 1e-5f);
    mismatches += array_check_u32("hits", counts, hits, count);
    gpu_launch(gpu_kernel(&gpu, "raytrace_shadow"), grid, block, (void *[]){&counts, &side});
    mismatches += array_check_u32("lit", counts, lit, count);
    gpu_free(image);
    gpu_free(counts);
    gpu_close(&gpu);
    free(light);
    free(hits);
    free(lit);
    return workload_verdict(&workload, mismatches, 3 * count, "pixels");
}
