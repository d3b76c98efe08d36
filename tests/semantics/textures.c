/*
 * Textures and surfaces: kernels (as in kernels.c) with one more comment line, which says what array, texture object
 * and surface object to make:
 *   // object kind=array shape=2d size=7x5x0 format=u8n channels=4 address=wrap,clamp filter=linear normalized=1
 *   kind      array mipmap linear pitch
 *   shape     1d 2d 3d a1d a2d cube acube; size: width, height, depth or layers; levels: of mipmaps
 *   format    u8 u16 u32 s8 s16 s32 f16 f32; u8n u16n s8n s16n: read as normalised floats; channels
 *   address filter mip normalized min max bias srgb   the sampler's; border=integers: its border is whole numbers
 *   coords    plain (inside, edges, ties, outside), odd (huge, infinite, not a number), each (one thread a texel, and a
 * margin), inside (no margin) data      texels: plain, wild (any bits), index (counting), extreme (many at the limits
 * of integers) surface   1: the array allows surface access; readback=1: the array's texels are the end of the output
 * The input starts with the texture's and the surface's handle; 64 bytes per thread follow from byte 64 (enum
 * word). */
#include "vectors.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum word { AT = 0, LAYER = 3, LEVEL = 4, DX = 5, DY = 8, WHOLE = 11, WHOLE_LEVEL = 14, NOISE = 15, WORDS = 16 };
enum { INPUT_HEAD = 64, MAX_LEVELS = 8, PITCH = 256 };
enum kind { ARRAY, MIPMAP, LINEAR, PITCHED };
enum coords { PLAIN, ODD, EACH, INSIDE };
enum data { DATA_PLAIN, DATA_WILD, DATA_INDEX, DATA_EXTREME };

struct scene {
    enum kind kind;
    enum coords coords;
    enum data data;
    char shape[8];
    unsigned size[3], levels, channels;
    CUarray_format format;
    int normalised_reading, surface, readback, integer_border;
    CUDA_TEXTURE_DESC sampling;
    uint64_t random;
    /* made */
    CUarray array;
    CUmipmappedArray mipmap;
    CUdeviceptr memory;
    CUtexObject texture;
    CUsurfObject surface_object;
};

/* ---- the object line ---- */

static int choice(const char *value, const char *const *names, int count)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(value, names[i]))
            return i;
    return -1;
}

static int set_format(struct scene *scene, const char *value)
{
    static const char *const names[] = {"u8", "u16", "u32", "s8", "s16", "s32", "f16", "f32"};
    static const CUarray_format formats[] = {
        CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT8,
        CU_AD_FORMAT_SIGNED_INT16,  CU_AD_FORMAT_SIGNED_INT32,   CU_AD_FORMAT_HALF,           CU_AD_FORMAT_FLOAT};
    char name[8];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(value, "n"), value);
    int found = choice(name, names, 8);
    if (found < 0)
        return -1;
    scene->format = formats[found];
    scene->normalised_reading = strchr(value, 'n') != NULL;
    if (found < 6 && !scene->normalised_reading)
        scene->sampling.flags |= CU_TRSF_READ_AS_INTEGER;
    return 0;
}

/* One mode for all axes, or one an axis. */
static int set_address(struct scene *scene, const char *value)
{
    static const char *const names[] = {"wrap", "clamp", "mirror", "border"};
    for (int axis = 0; axis < 3; axis++) {
        char name[16];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(value, ","), value);
        int found = choice(name, names, 4);
        if (found < 0)
            return -1;
        scene->sampling.addressMode[axis] = (CUaddress_mode)found;
        if (strchr(value, ','))
            value = strchr(value, ',') + 1;
    }
    return 0;
}

static int set_words(struct scene *scene, const char *key, const char *value)
{
    static const char *const kinds[] = {"array", "mipmap", "linear", "pitch"},
                             *const coords[] = {"plain", "odd", "each", "inside"},
                             *const data[] = {"plain", "wild", "index", "extreme"};
    int number;
    if (!strcmp(key, "kind") && (number = choice(value, kinds, 4)) >= 0)
        scene->kind = (enum kind)number;
    else if (!strcmp(key, "coords") && (number = choice(value, coords, 4)) >= 0)
        scene->coords = (enum coords)number;
    else if (!strcmp(key, "shape"))
        snprintf(scene->shape, sizeof scene->shape, "%s", value);
    else if (!strcmp(key, "size"))
        return sscanf(value, "%ux%ux%u", &scene->size[0], &scene->size[1], &scene->size[2]) == 3 ? 0 : -1;
    else if (!strcmp(key, "format"))
        return set_format(scene, value);
    else if (!strcmp(key, "address"))
        return set_address(scene, value);
    else if (!strcmp(key, "filter"))
        scene->sampling.filterMode = strcmp(value, "linear") ? CU_TR_FILTER_MODE_POINT : CU_TR_FILTER_MODE_LINEAR;
    else if (!strcmp(key, "mip"))
        scene->sampling.mipmapFilterMode = strcmp(value, "linear") ? CU_TR_FILTER_MODE_POINT : CU_TR_FILTER_MODE_LINEAR;
    else if (!strcmp(key, "data") && (number = choice(value, data, 4)) >= 0)
        scene->data = (enum data)number;
    else if (!strcmp(key, "border"))
        scene->integer_border = !strcmp(value, "integers");
    else
        return -1;
    return 0;
}

static int set_number(struct scene *scene, const char *key, const char *value)
{
    double number = atof(value);
    if (!strcmp(key, "channels"))
        scene->channels = (unsigned)number;
    else if (!strcmp(key, "levels"))
        scene->levels = (unsigned)number;
    else if (!strcmp(key, "readback"))
        scene->readback = number != 0;
    else if (!strcmp(key, "surface"))
        scene->surface = number != 0;
    else if (!strcmp(key, "normalized"))
        scene->sampling.flags |= number != 0 ? CU_TRSF_NORMALIZED_COORDINATES : 0;
    else if (!strcmp(key, "srgb"))
        scene->sampling.flags |= number != 0 ? CU_TRSF_SRGB : 0;
    else if (!strcmp(key, "min"))
        scene->sampling.minMipmapLevelClamp = (float)number;
    else if (!strcmp(key, "max"))
        scene->sampling.maxMipmapLevelClamp = (float)number;
    else if (!strcmp(key, "bias"))
        scene->sampling.mipmapLevelBias = (float)number;
    else
        return -1;
    return 0;
}

static int parse_object(struct scene *scene, const struct kernel *kernel, char *message, size_t size)
{
    static const float border[4] = {0.3f, -0.6f, 1.5f, 7.0f};
    static const int integers[4] = {7, -3, 300, 70000};
    const char *line = strstr(kernel->ptx, "// object ");
    char words[512], *save = NULL;
    *scene = (struct scene){.channels = 1, .levels = 1};
    scene->sampling.maxMipmapLevelClamp = 100.0f;
    scene->random = hash_bytes(HASH_START, kernel->name, strlen(kernel->name));
    snprintf(words, sizeof words, "%.*s", line ? (int)strcspn(line + 10, "\n") : 0, line ? line + 10 : "");
    for (char *word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *value = strchr(word, '=');
        if (value)
            *value++ = 0;
        if (!value || (set_words(scene, word, value) && set_number(scene, word, value)))
            return snprintf(message, size, "unknown word in the object line: %s", word);
    }
    memcpy(scene->sampling.borderColor, scene->integer_border ? (const void *)integers : border, sizeof border);
    if (!scene->size[0] || !scene->shape[0])
        return snprintf(message, size, "no object line with shape and size");
    return 0;
}

static int is_cube(const struct scene *scene) { return strstr(scene->shape, "cube") != NULL; }

static int is_layered(const struct scene *scene) { return scene->shape[0] == 'a'; }

static unsigned channel_bytes(const struct scene *scene)
{
    switch (scene->format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8: return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF: return 2;
    default: return 4;
    }
}

static unsigned texel_bytes(const struct scene *scene) { return channel_bytes(scene) * scene->channels; }

/* ---- texels ---- */

static uint32_t channel_value(struct scene *scene, size_t index)
{
    uint64_t r = splitmix64(&scene->random);
    uint32_t bits = (uint32_t)r, choose = (uint32_t)(r >> 32), sign = 1u << (8 * channel_bytes(scene) - 1);
    if (scene->data == DATA_WILD)
        return bits;
    if (scene->data == DATA_INDEX)
        return (uint32_t)index;
    if (scene->data == DATA_EXTREME && choose % 4 < 3)
        return choose % 4 ? sign - choose % 2 : 0;
    if (scene->format == CU_AD_FORMAT_FLOAT)
        return (bits & 0x807fffffu) | (123 + choose % 9) << 23;
    if (scene->format == CU_AD_FORMAT_HALF)
        return (bits & 0x83ffu) | (11 + choose % 9) << 10;
    if (choose % 8)
        return bits;
    static const uint32_t edges[4] = {0, 0xffffffffu, 0x80808080u, 0x7fff7f7fu};
    return edges[choose / 8 % 4];
}

static void fill_texels(struct scene *scene, unsigned char *texels, size_t bytes)
{
    unsigned width = channel_bytes(scene);
    for (size_t at = 0; at + width <= bytes; at += width) {
        uint32_t value = channel_value(scene, at / width);
        memcpy(texels + at, &value, width);
    }
}

static unsigned at_level(unsigned size, unsigned level) { return size >> level ? size >> level : size ? 1 : 0; }

static size_t copy_extent(const struct scene *scene, unsigned level, CUDA_MEMCPY3D *copy)
{
    int keeps_depth = is_layered(scene) || is_cube(scene);
    unsigned height = at_level(scene->size[1], level),
             depth = keeps_depth ? scene->size[2] : at_level(scene->size[2], level);
    copy->WidthInBytes = (size_t)at_level(scene->size[0], level) * texel_bytes(scene);
    copy->Height = height ? height : 1;
    copy->Depth = depth ? depth : 1;
    return copy->WidthInBytes * copy->Height * copy->Depth;
}

static CUresult upload(struct scene *scene, CUarray array, unsigned level)
{
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST, .dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = array};
    size_t bytes = copy_extent(scene, level, &copy);
    unsigned char *texels = calloc(1, bytes);
    fill_texels(scene, texels, bytes);
    copy.srcHost = texels;
    copy.srcPitch = copy.WidthInBytes;
    copy.srcHeight = copy.Height;
    CUresult result = cuMemcpy3D(&copy);
    free(texels);
    return result;
}

/* The texels end the output, of which the kernel itself uses as much as is left. */
static CUresult read_back(const struct scene *scene, unsigned char *out, size_t out_bytes)
{
    CUDA_MEMCPY3D copy = {
        .srcMemoryType = CU_MEMORYTYPE_ARRAY, .srcArray = scene->array, .dstMemoryType = CU_MEMORYTYPE_HOST};
    size_t bytes = copy_extent(scene, 0, &copy);
    if (bytes > out_bytes)
        return CUDA_ERROR_INVALID_VALUE;
    copy.dstHost = out + out_bytes - bytes;
    copy.dstPitch = copy.WidthInBytes;
    copy.dstHeight = copy.Height;
    return cuMemcpy3D(&copy);
}

/* ---- objects ---- */

static CUresult make_linear(struct scene *scene, CUDA_RESOURCE_DESC *resource)
{
    size_t rows = scene->kind == PITCHED ? scene->size[1] : 1,
           bytes = scene->kind == PITCHED ? rows * PITCH : (size_t)scene->size[0] * texel_bytes(scene);
    unsigned char *texels = calloc(1, bytes);
    fill_texels(scene, texels, bytes);
    CUresult result = cuMemAlloc(&scene->memory, bytes);
    if (result == CUDA_SUCCESS)
        result = cuMemcpyHtoD(scene->memory, texels, bytes);
    free(texels);
    if (scene->kind == LINEAR) {
        resource->resType = CU_RESOURCE_TYPE_LINEAR;
        resource->res.linear.devPtr = scene->memory;
        resource->res.linear.format = scene->format;
        resource->res.linear.numChannels = scene->channels;
        resource->res.linear.sizeInBytes = bytes;
    } else {
        resource->resType = CU_RESOURCE_TYPE_PITCH2D;
        resource->res.pitch2D.devPtr = scene->memory;
        resource->res.pitch2D.format = scene->format;
        resource->res.pitch2D.numChannels = scene->channels;
        resource->res.pitch2D.width = scene->size[0];
        resource->res.pitch2D.height = scene->size[1];
        resource->res.pitch2D.pitchInBytes = PITCH;
    }
    return result;
}

static CUresult make_arrays(struct scene *scene, CUDA_RESOURCE_DESC *resource)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = scene->size[0],
                                 .Height = scene->size[1],
                                 .Depth = scene->size[2],
                                 .Format = scene->format,
                                 .NumChannels = scene->channels};
    d.Flags = (is_layered(scene) ? CUDA_ARRAY3D_LAYERED : 0) | (is_cube(scene) ? CUDA_ARRAY3D_CUBEMAP : 0) |
              (scene->surface ? CUDA_ARRAY3D_SURFACE_LDST : 0) |
              (!strcmp(scene->shape, "2d") ? CUDA_ARRAY3D_TEXTURE_GATHER : 0);
    if (scene->kind == ARRAY) {
        CUresult result = cuArray3DCreate(&scene->array, &d);
        resource->resType = CU_RESOURCE_TYPE_ARRAY;
        resource->res.array.hArray = scene->array;
        return result == CUDA_SUCCESS ? upload(scene, scene->array, 0) : result;
    }
    CUresult result = cuMipmappedArrayCreate(&scene->mipmap, &d, scene->levels);
    for (unsigned level = 0; level < scene->levels && result == CUDA_SUCCESS; level++) {
        CUarray array;
        result = cuMipmappedArrayGetLevel(&array, scene->mipmap, level);
        if (result == CUDA_SUCCESS)
            result = upload(scene, array, level);
    }
    resource->resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    resource->res.mipmap.hMipmappedArray = scene->mipmap;
    return result;
}

static CUresult make_objects(struct scene *scene)
{
    CUDA_RESOURCE_DESC resource = {0};
    CUresult result =
        scene->kind == LINEAR || scene->kind == PITCHED ? make_linear(scene, &resource) : make_arrays(scene, &resource);
    if (result == CUDA_SUCCESS)
        result = cuTexObjectCreate(&scene->texture, &resource, &scene->sampling, NULL);
    if (result == CUDA_SUCCESS && scene->surface)
        result = cuSurfObjectCreate(&scene->surface_object, &resource);
    return result;
}

static void release(struct scene *scene)
{
    if (scene->surface_object)
        cuSurfObjectDestroy(scene->surface_object);
    if (scene->texture)
        cuTexObjectDestroy(scene->texture);
    if (scene->array)
        cuArrayDestroy(scene->array);
    if (scene->mipmap)
        cuMipmappedArrayDestroy(scene->mipmap);
    if (scene->memory)
        cuMemFree(scene->memory);
}

/* ---- coordinates ---- */

static uint32_t pick(struct scene *scene, uint32_t count)
{
    return (uint32_t)(splitmix64(&scene->random) >> 33) % count;
}

static float uniform(struct scene *scene, float low, float high)
{
    return low + (high - low) * (float)(splitmix64(&scene->random) >> 40) / 16777216.0f;
}

/* In texels: whole ones, middles, between representable weights, beyond both ends. */
static float plain_coordinate(struct scene *scene, unsigned size)
{
    float whole = (float)((int)pick(scene, size + 5) - 2), span = (float)size, towards;
    switch (pick(scene, 8)) {
    case 0: return whole;
    case 1: return whole + 0.5f;
    case 2: return whole + (float)pick(scene, 256) / 256.0f;
    case 3: return whole + (float)(2 * pick(scene, 256) + 1) / 512.0f;
    case 4: return uniform(scene, -1.0f, span + 1.0f);
    case 5: return uniform(scene, 0.0f, span);
    case 6: return uniform(scene, -3.0f * span, 3.0f * span);
    default:
        towards = pick(scene, 2) ? 1000.0f : -1000.0f;
        return nextafterf(whole + 0.5f * (float)pick(scene, 2), towards);
    }
}

static float odd_coordinate(struct scene *scene, unsigned size)
{
    static const float odd[] = {
        0.0f,    -0.0f,    1e-40f,     -1e-40f,     1e-30f,      -1e-30f,       INFINITY,       -INFINITY,  NAN,
        1e6f,    -1e6f,    1048576.5f, -1048577.0f, 16777216.0f, 3e9f,          -3e9f,          1e20f,      -1e20f,
        3.4e38f, -3.4e38f, 65535.5f,   32768.5f,    -32768.5f,   2147483648.0f, -2147483648.0f, 8388607.5f, 131071.5f};
    return pick(scene, 3) ? odd[pick(scene, sizeof odd / sizeof *odd)] : plain_coordinate(scene, size);
}

/* A direction: any, along an axis, towards edges and corners of the cube. */
static float direction(struct scene *scene)
{
    static const float edges[] = {-1.0f, 1.0f, 0.0f, 0.5f, -0.5f, 0.25f, -0.75f, 0.9999999f};
    if (scene->coords == ODD && !pick(scene, 3))
        return odd_coordinate(scene, 1);
    return pick(scene, 3) ? uniform(scene, -1.0f, 1.0f) : edges[pick(scene, 8)];
}

static void set_float(uint32_t *word, float value) { memcpy(word, &value, sizeof value); }

static void fill_place(struct scene *scene, unsigned thread, uint32_t *words)
{
    float scale = is_cube(scene) && pick(scene, 4) == 0 ? ldexpf(1.0f, (int)pick(scene, 20) - 10) : 1.0f;
    for (int axis = 0; axis < 3; axis++) {
        unsigned size = scene->size[axis] ? scene->size[axis] : 1;
        float at = scene->coords == ODD ? odd_coordinate(scene, size) : plain_coordinate(scene, size);
        if (thread < 64 && scene->coords == PLAIN) /* a walk along x, then one along all axes */
            at = axis == 0 || thread % 2 ? -1.0f + (float)thread * ((float)size + 2.0f) / 64.0f : 0.5f * (float)size;
        if (scene->sampling.flags & CU_TRSF_NORMALIZED_COORDINATES)
            at /= (float)size;
        set_float(&words[AT + axis], is_cube(scene) ? direction(scene) * scale : at);
        int32_t whole = (int)pick(scene, size + 4) - 2;
        static const int32_t far[] = {INT32_MIN, INT32_MAX, 65536, -65536, 1 << 20, 1 << 24, 1 << 27, (1 << 27) + 1};
        words[WHOLE + axis] = (uint32_t)(scene->coords == ODD && !pick(scene, 3) ? far[pick(scene, 8)] : whole);
    }
}

static void fill_level(struct scene *scene, uint32_t *words)
{
    float top = (float)scene->levels;
    float level = pick(scene, 3) == 0 ? (float)pick(scene, 1024) / 256.0f - 1.0f : uniform(scene, -1.5f, top + 1.0f);
    if (scene->coords == ODD)
        level = odd_coordinate(scene, 3);
    set_float(&words[LEVEL], pick(scene, 6) ? level : floorf(level) + 0.5f * (float)pick(scene, 2));
    words[WHOLE_LEVEL] = pick(scene, scene->levels + 2) - 1;
    for (int n = 0; n < 6; n++) {
        unsigned size = scene->size[n % 3] && !is_cube(scene) ? scene->size[n % 3] : 1;
        float slope = 0.0f;
        if (pick(scene, 5)) {
            int power = (int)pick(scene, scene->levels + 3) - 1;
            slope = ldexpf(uniform(scene, -1.0f, 1.0f), power);
        }
        if (pick(scene, 4) == 0)
            slope = ldexpf(1.0f, (int)pick(scene, scene->levels + 3) - 1);
        set_float(&words[n < 3 ? DX + n : DY + n - 3],
                  scene->sampling.flags & CU_TRSF_NORMALIZED_COORDINATES ? slope / (float)size : slope);
    }
}

/* Thread n has the n-th texel of the array and of a margin around it; after the last it starts again, with the same
 * noise. */
static void fill_each(struct scene *scene, unsigned thread, uint32_t *words)
{
    int margin = scene->coords == EACH ? 2 : 0;
    unsigned span[3], total = 1;
    for (int axis = 0; axis < 3; axis++) {
        span[axis] = scene->size[axis] ? scene->size[axis] + 2 * (unsigned)margin : 1;
        total *= span[axis];
    }
    unsigned index = thread % total;
    uint64_t noise = scene->random + index;
    for (int axis = 0; axis < 3; axis++) {
        words[WHOLE + axis] = index % span[axis] - (scene->size[axis] ? (unsigned)margin : 0);
        index /= span[axis];
    }
    words[LAYER] = words[WHOLE + 2];
    words[NOISE] = (uint32_t)splitmix64(&noise);
}

static void fill_input(struct scene *scene, const struct kernel *kernel, unsigned char *in)
{
    memcpy(in, &scene->texture, 8);
    memcpy(in + 8, &scene->surface_object, 8);
    for (unsigned thread = 0; INPUT_HEAD + (thread + 1) * WORDS * 4 <= kernel->in_bytes; thread++) {
        uint32_t words[WORDS] = {0};
        unsigned layers = is_cube(scene) ? scene->size[2] / 6 : scene->size[2];
        if (scene->coords == EACH || scene->coords == INSIDE) {
            fill_each(scene, thread, words);
        } else {
            fill_place(scene, thread, words);
            fill_level(scene, words);
            words[LAYER] = pick(scene, layers + 3) - 1;
            words[NOISE] = (uint32_t)splitmix64(&scene->random);
        }
        memcpy(in + INPUT_HEAD + thread * sizeof words, words, sizeof words);
    }
}

/* ---- running ---- */

int textures_run(struct device *device, const struct kernel *kernel, CUmodule module, unsigned char *out, char *message,
                 size_t message_size)
{
    struct scene scene;
    const char *name = NULL;
    unsigned char *in = calloc(1, kernel->in_bytes + INPUT_HEAD);
    int bad = parse_object(&scene, kernel, message, message_size);
    CUresult result = bad ? CUDA_SUCCESS : make_objects(&scene);
    if (result == CUDA_SUCCESS && !bad) {
        fill_input(&scene, kernel, in);
        bad = device_run(device, module, "kernel", kernel->grid, kernel->block, kernel->shared_bytes, in,
                         kernel->in_bytes, out, kernel->out_bytes, message, message_size);
        if (!bad && scene.readback)
            result = read_back(&scene, out, kernel->out_bytes);
    }
    if (!bad) /* a failed launch has taken the objects with its context */
        release(&scene);
    free(in);
    if (result != CUDA_SUCCESS) {
        cuGetErrorName(result, &name);
        snprintf(message, message_size, "making or reading the objects: %s", name ? name : "unknown error");
    }
    return bad || result != CUDA_SUCCESS ? -1 : 0;
}
