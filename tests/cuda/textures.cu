// Texture objects over linear memory, pitched memory, arrays and mipmapped arrays: coordinates, address modes, filters, how texels are converted, views, and what is told of an object.
// nvcc: -arch=compute_75
#include "check.h"
#include <cuda_fp16.h>
#include <cstring>

static cudaTextureObject_t texture_of(const cudaResourceDesc &r, const cudaTextureDesc &t, const cudaResourceViewDesc *view = nullptr)
{
    cudaTextureObject_t object = 0;
    CUDA(cudaCreateTextureObject(&object, &r, &t, view));
    return object;
}
static cudaResourceDesc of_array(cudaArray_t a)
{
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    return r;
}
template <typename T> static cudaArray_t array_of(const T *data, int w, int h, unsigned int flags = 0)
{
    cudaArray_t a;
    cudaChannelFormatDesc d = cudaCreateChannelDesc<T>();
    CUDA(cudaMallocArray(&a, &d, w, h, flags));
    CUDA(cudaMemcpy2DToArray(a, 0, 0, data, w * sizeof(T), w * sizeof(T), h ? h : 1, cudaMemcpyHostToDevice));
    return a;
}

// One thread a coordinate.
struct spot { float x, y, z; };
enum how { FETCH1, TEX1, TEX2, TEX3, LAYERED1, LAYERED2, CUBE, LOD2, GRAD2 };
template <typename T> __global__ void read(cudaTextureObject_t t, how h, const spot *at, T *out, int n)
{
    int i = threadIdx.x;
    if (i >= n)
        return;
    spot p = at[i];
    switch (h) {
    case FETCH1: out[i] = tex1Dfetch<T>(t, (int)p.x); break;
    case TEX1: out[i] = tex1D<T>(t, p.x); break;
    case TEX2: out[i] = tex2D<T>(t, p.x, p.y); break;
    case TEX3: out[i] = tex3D<T>(t, p.x, p.y, p.z); break;
    case LAYERED1: out[i] = tex1DLayered<T>(t, p.x, (int)p.z); break;
    case LAYERED2: out[i] = tex2DLayered<T>(t, p.x, p.y, (int)p.z); break;
    case CUBE: out[i] = texCubemap<T>(t, p.x, p.y, p.z); break;
    case LOD2: out[i] = tex2DLod<T>(t, p.x, p.y, p.z); break;
    case GRAD2: out[i] = tex2DGrad<T>(t, p.x, p.y, make_float2(p.z, 0), make_float2(0, p.z)); break;
    }
}
template <typename T> static std::vector<T> sample(cudaTextureObject_t t, how h, const std::vector<spot> &at)
{
    spot *where = upload(at);
    T *out = zeros<T>(at.size());
    read<T><<<1, 64>>>(t, h, where, out, (int)at.size());
    CUDA(cudaGetLastError());
    std::vector<T> result = download(out, at.size());
    CUDA(cudaFree(where));
    CUDA(cudaFree(out));
    return result;
}
static bool near(const std::vector<float> &got, const std::vector<float> &wanted, double tolerance = 0)
{
    for (size_t i = 0; i < wanted.size(); i++)
        if (!close_to(got[i], wanted[i], tolerance)) {
            printf("    sample %d: %g, expected %g\n", (int)i, got[i], wanted[i]);
            return false;
        }
    return true;
}

static void linear_memory()
{
    std::vector<float4> data(100);
    for (int i = 0; i < 100; i++)
        data[i] = make_float4(i, i + 0.5f, -i, 1);
    float4 *device = upload(data);
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = device;
    r.res.linear.desc = cudaCreateChannelDesc<float4>();
    r.res.linear.sizeInBytes = data.size() * sizeof(float4);
    cudaTextureObject_t t = texture_of(r, {});
    std::vector<float4> got = sample<float4>(t, FETCH1, {{0, 0, 0}, {57, 0, 0}, {99, 0, 0}});
    check(got[0].y == 0.5f && got[1].x == 57 && got[1].z == -57 && got[2].y == 99.5f, "texels of linear memory");
    cudaResourceDesc back;
    cudaTextureDesc how;
    CUDA(cudaGetTextureObjectResourceDesc(&back, t));
    CUDA(cudaGetTextureObjectTextureDesc(&how, t));
    check(back.resType == cudaResourceTypeLinear && back.res.linear.devPtr == device && back.res.linear.desc.w == 32 && back.res.linear.sizeInBytes == 1600, "what it was made of");
    check(how.readMode == cudaReadModeElementType && how.filterMode == cudaFilterModePoint && !how.normalizedCoords, "how it is read");
    CUDA(cudaDestroyTextureObject(t));
    CUDA(cudaDestroyTextureObject(0));
    check_error(cudaDestroyTextureObject(1 << 20), cudaSuccess, "the end of an object that is none");

    std::vector<unsigned char> bytes(64);
    for (int i = 0; i < 64; i++)
        bytes[i] = (unsigned char)(i * 4);
    unsigned char *small = upload(bytes);
    r.res.linear.devPtr = small;
    r.res.linear.desc = cudaCreateChannelDesc<unsigned char>();
    r.res.linear.sizeInBytes = 64;
    t = texture_of(r, {});
    check(sample<unsigned char>(t, FETCH1, {{63, 0, 0}, {1, 0, 0}}) == std::vector<unsigned char>({252, 4}), "bytes, as they are");
    CUDA(cudaDestroyTextureObject(t));
    cudaTextureDesc as_float = {};
    as_float.readMode = cudaReadModeNormalizedFloat;
    t = texture_of(r, as_float);
    check(near(sample<float>(t, FETCH1, {{63, 0, 0}, {1, 0, 0}}), {252 / 255.0f, 4 / 255.0f}, 1e-6), "bytes, as fractions");
    CUDA(cudaDestroyTextureObject(t));
    CUDA(cudaFree(small));
    CUDA(cudaFree(device));
}

static void pitched_memory()
{
    enum { W = 20, H = 6 };
    float host[H][W], *device;
    size_t pitch;
    for (int i = 0; i < W * H; i++)
        host[i / W][i % W] = (float)i;
    CUDA(cudaMallocPitch(&device, &pitch, sizeof host[0], H));
    CUDA(cudaMemcpy2D(device, pitch, host, sizeof host[0], sizeof host[0], H, cudaMemcpyHostToDevice));
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D.devPtr = device;
    r.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    r.res.pitch2D.width = W;
    r.res.pitch2D.height = H;
    r.res.pitch2D.pitchInBytes = pitch;
    cudaTextureDesc how = {};
    how.filterMode = cudaFilterModeLinear;
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    cudaTextureObject_t t = texture_of(r, how);
    check(near(sample<float>(t, TEX2, {{3.5f, 2.5f, 0}, {4.0f, 2.5f, 0}, {3.5f, 3.0f, 0}, {-5, 0.5f, 0}, {100, 100, 0}}), {43, 43.5f, 53, 0, 119}), "pitched memory, filtered and clamped");
    CUDA(cudaDestroyTextureObject(t));
    CUDA(cudaFree(device));
}

static void address_modes()
{
    const float data[4] = {10, 20, 30, 40};
    cudaArray_t a = array_of(data, 4, 0);
    const std::vector<spot> at = {{-0.125f, 0, 0}, {0.125f, 0, 0}, {0.875f, 0, 0}, {1.125f, 0, 0}, {2.375f, 0, 0}, {-1.375f, 0, 0}};
    const struct { cudaTextureAddressMode mode; const char *name; std::vector<float> wanted; } modes[] = {
        {cudaAddressModeWrap, "wrap", {40, 10, 40, 10, 20, 30}},
        {cudaAddressModeClamp, "clamp", {10, 10, 40, 40, 40, 10}},
        {cudaAddressModeMirror, "mirror", {10, 10, 40, 40, 20, 30}},
        {cudaAddressModeBorder, "border", {-7, 10, 40, -7, -7, -7}},
    };
    for (auto &m : modes) {
        cudaTextureDesc how = {};
        how.normalizedCoords = 1;
        how.addressMode[0] = m.mode;
        how.borderColor[0] = -7;
        cudaTextureObject_t t = texture_of(of_array(a), how);
        check(near(sample<float>(t, TEX1, at), m.wanted), m.name);
        CUDA(cudaDestroyTextureObject(t));
    }
    CUDA(cudaFreeArray(a));
}

static void conversions()
{
    const uchar4 colours[2] = {{0, 51, 255, 128}, {255, 102, 0, 64}};
    cudaArray_t a = array_of(colours, 2, 1);
    cudaTextureDesc how = {};
    how.readMode = cudaReadModeNormalizedFloat;
    how.filterMode = cudaFilterModeLinear;
    cudaTextureObject_t t = texture_of(of_array(a), how);
    float4 half_way = sample<float4>(t, TEX2, {{1, 0.5f, 0}})[0];
    check(near({half_way.x, half_way.y, half_way.z, half_way.w}, {0.5f, 0.3f, 0.5f, 96 / 255.0f}, 3e-3), "colours, filtered as fractions");
    CUDA(cudaDestroyTextureObject(t));
    how.sRGB = 1;
    how.filterMode = cudaFilterModePoint;
    t = texture_of(of_array(a), how);
    float4 light = sample<float4>(t, TEX2, {{0.5f, 0.5f, 0}})[0];
    check(near({light.x, light.y, light.z, light.w}, {0, 0.0331048f, 1, 128 / 255.0f}, 2e-3), "sRGB becomes linear, alpha is");
    CUDA(cudaDestroyTextureObject(t));
    CUDA(cudaFreeArray(a));

    cudaChannelFormatDesc always = cudaCreateChannelDesc(8, 8, 8, 8, cudaChannelFormatKindUnsignedNormalized8X4), told;
    CUDA(cudaMallocArray(&a, &always, 2, 1));
    CUDA(cudaMemcpy2DToArray(a, 0, 0, colours, sizeof colours, sizeof colours, 1, cudaMemcpyHostToDevice));
    CUDA(cudaGetChannelDesc(&told, a));
    check(told.f == cudaChannelFormatKindUnsignedNormalized8X4 && told.w == 8, "an array of fractions");
    how = {};
    how.readMode = cudaReadModeNormalizedFloat;
    t = texture_of(of_array(a), how);
    light = sample<float4>(t, TEX2, {{1.5f, 0.5f, 0}})[0];
    check(near({light.x, light.y, light.z, light.w}, {1, 0.4f, 0, 64 / 255.0f}, 1e-6), "is read as such");
    CUDA(cudaDestroyTextureObject(t));
    cudaResourceDesc fractions = of_array(a);
    how = {};
    check_error(cudaCreateTextureObject(&t, &fractions, &how, nullptr), cudaErrorInvalidNormSetting, "and not otherwise");
    cudaGetLastError();
    CUDA(cudaFreeArray(a));

    const short signs[3] = {-32768, -32767, 16384};
    a = array_of(signs, 3, 0);
    how = {};
    how.readMode = cudaReadModeNormalizedFloat;
    t = texture_of(of_array(a), how);
    check(near(sample<float>(t, TEX1, {{0.5f, 0, 0}, {1.5f, 0, 0}, {2.5f, 0, 0}}), {-1, -1, 16384 / 32767.0f}, 1e-6), "signed fractions");
    CUDA(cudaDestroyTextureObject(t));
    CUDA(cudaFreeArray(a));

    __half halves[2] = {__float2half(1.5f), __float2half(-0.25f)};
    cudaChannelFormatDesc d = cudaCreateChannelDescHalf();
    CUDA(cudaMallocArray(&a, &d, 2));
    CUDA(cudaMemcpy2DToArray(a, 0, 0, halves, sizeof halves, sizeof halves, 1, cudaMemcpyHostToDevice));
    t = texture_of(of_array(a), {});
    check(near(sample<float>(t, TEX1, {{0.5f, 0, 0}, {1.5f, 0, 0}}), {1.5f, -0.25f}), "half precision becomes float");
    CUDA(cudaDestroyTextureObject(t));
    CUDA(cudaFreeArray(a));

    cudaArray_t ints = array_of((const int *)colours, 2, 1);
    cudaTextureObject_t none;
    cudaResourceDesc r = of_array(ints);
    how = {};
    how.filterMode = cudaFilterModeLinear;
    check_error(cudaCreateTextureObject(&none, &r, &how, nullptr), cudaErrorInvalidFilterSetting, "integers are not filtered");
    how = {};
    how.readMode = cudaReadModeNormalizedFloat;
    check_error(cudaCreateTextureObject(&none, &r, &how, nullptr), cudaErrorInvalidNormSetting, "32-bit integers are no fractions");
    r.res.array.array = nullptr;
    check_error(cudaCreateTextureObject(&none, &r, &how, nullptr), cudaErrorInvalidResourceHandle, "no array");
    cudaGetLastError();
    CUDA(cudaFreeArray(ints));
}

static void more_dimensions()
{
    enum { N = 4 };
    float box[6][N][N];
    for (int i = 0; i < 6 * N * N; i++)
        (&box[0][0][0])[i] = (float)i;
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
    const struct { unsigned int flags; cudaExtent extent; how read; const char *name; std::vector<spot> at; std::vector<float> wanted; } kinds[] = {
        {0, {N, N, N}, TEX3, "3D", {{1.5f, 2.5f, 3.5f}, {0.5f, 0.5f, 0.5f}}, {57, 0}},
        {cudaArrayLayered, {N, N, 5}, LAYERED2, "layers", {{1.5f, 2.5f, 4}, {3.5f, 0.5f, 1}, {3.5f, 0.5f, 99}}, {73, 19, 67}},
        {cudaArrayLayered, {N, 0, 5}, LAYERED1, "layers of one dimension", {{1.5f, 0, 4}, {3.5f, 0, 1}}, {17, 7}},
        {cudaArrayCubemap, {N, N, 6}, CUBE, "a cube", {{1, 0.1f, 0.1f}, {-1, 0.1f, 0.1f}, {0.1f, 1, 0.1f}, {0.1f, 0.1f, -1}}, {5, 22, 42, 85}},
    };
    for (auto &k : kinds) {
        cudaArray_t a;
        cudaMemcpy3DParms c = {};
        cudaTextureDesc how = {};
        CUDA(cudaMalloc3DArray(&a, &f, k.extent, k.flags));
        c.srcPtr = make_cudaPitchedPtr(box, N * sizeof(float), N, k.extent.height ? N : 1);
        c.dstArray = a;
        c.extent = make_cudaExtent(N, k.extent.height ? N : 1, k.extent.depth);
        c.kind = cudaMemcpyHostToDevice;
        CUDA(cudaMemcpy3D(&c));
        for (auto &mode : how.addressMode)
            mode = cudaAddressModeClamp;
        how.normalizedCoords = k.read == CUBE;
        cudaTextureObject_t t = texture_of(of_array(a), how);
        check(near(sample<float>(t, k.read, k.at), k.wanted), k.name);
        CUDA(cudaDestroyTextureObject(t));
        CUDA(cudaFreeArray(a));
    }
}

static void mipmaps_and_views()
{
    cudaMipmappedArray_t m;
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
    CUDA(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(8, 8, 0), 4));
    for (int level = 0; level < 4; level++) {
        cudaArray_t a;
        std::vector<float> texels(64, level * 10.0f);
        int n = 8 >> level;
        CUDA(cudaGetMipmappedArrayLevel(&a, m, level));
        CUDA(cudaMemcpy2DToArray(a, 0, 0, texels.data(), n * sizeof(float), n * sizeof(float), n, cudaMemcpyHostToDevice));
    }
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeMipmappedArray;
    r.res.mipmap.mipmap = m;
    cudaTextureDesc how = {};
    how.normalizedCoords = 1;
    how.maxMipmapLevelClamp = 3;
    cudaTextureObject_t t = texture_of(r, how);
    const std::vector<spot> levels = {{0.5f, 0.5f, 0}, {0.5f, 0.5f, 1}, {0.5f, 0.5f, 2.25f}, {0.5f, 0.5f, 9}};
    check(near(sample<float>(t, LOD2, levels), {0, 10, 20, 30}), "levels of a mipmap");
    check(near(sample<float>(t, GRAD2, {{0.5f, 0.5f, 1 / 8.0f}, {0.5f, 0.5f, 1 / 2.0f}}), {0, 20}), "chosen by gradients");
    CUDA(cudaDestroyTextureObject(t));
    how.mipmapFilterMode = cudaFilterModeLinear;
    how.mipmapLevelBias = 0.5f;
    t = texture_of(r, how);
    check(near(sample<float>(t, LOD2, levels), {5, 15, 27.5f, 30}, 1e-3), "between levels, with a bias");
    CUDA(cudaDestroyTextureObject(t));
    how = {};
    how.normalizedCoords = 1;
    how.maxMipmapLevelClamp = 9;
    cudaResourceViewDesc view = {}, back;
    view.format = cudaResViewFormatFloat1;
    view.width = view.height = 8;
    view.firstMipmapLevel = 1;
    view.lastMipmapLevel = 2;
    t = texture_of(r, how, &view);
    check(near(sample<float>(t, LOD2, levels), {10, 20, 20, 20}), "a view of some levels");
    CUDA(cudaGetTextureObjectResourceViewDesc(&back, t));
    check(back.format == view.format && back.firstMipmapLevel == 1 && back.lastMipmapLevel == 2, "which it remembers");
    CUDA(cudaDestroyTextureObject(t));
    CUDA(cudaFreeMipmappedArray(m));

    const float numbers[4] = {1, 2, 4, -8};
    cudaArray_t a = array_of(numbers, 4, 1);
    view = {};
    view.format = cudaResViewFormatUnsignedInt1;
    view.width = 4;
    view.height = 1;
    t = texture_of(of_array(a), {}, &view);
    std::vector<unsigned int> bits = sample<unsigned int>(t, TEX2, {{0.5f, 0.5f, 0}, {3.5f, 0.5f, 0}});
    check(bits[0] == 0x3f800000 && bits[1] == 0xc1000000, "floats, seen as integers");
    CUDA(cudaDestroyTextureObject(t));
    view.width = 3;
    cudaResourceDesc whole = of_array(a);
    check_error(cudaCreateTextureObject(&t, &whole, &how, &view), cudaErrorInvalidValue, "a view of another size");
    cudaGetLastError();
    CUDA(cudaFreeArray(a));
}

__global__ void gather(cudaTextureObject_t t, float4 *out) { *out = tex2Dgather<float4>(t, 2, 2, 0); }
static void gathering()
{
    float host[4][4];
    for (int i = 0; i < 16; i++)
        host[i / 4][i % 4] = (float)i;
    cudaArray_t a = array_of(&host[0][0], 4, 4, cudaArrayTextureGather);
    cudaTextureObject_t t = texture_of(of_array(a), {});
    float4 *out = zeros<float4>(1);
    gather<<<1, 1>>>(t, out);
    float4 got = download(out, 1)[0];
    check(got.x == 9 && got.y == 10 && got.z == 6 && got.w == 5, "four texels gathered");
    CUDA(cudaDestroyTextureObject(t));
    CUDA(cudaFree(out));
    CUDA(cudaFreeArray(a));
}

int main()
{
    linear_memory();
    pitched_memory();
    address_modes();
    conversions();
    more_dimensions();
    mipmaps_and_views();
    gathering();
    return finish();
}
