// Surface objects: kernels that read and write arrays of one to three dimensions and of layers, at their edges too, and textures of what was written.
// nvcc: -arch=compute_75
#include "check.h"

static cudaSurfaceObject_t surface_of(cudaArray_t a)
{
    cudaResourceDesc r = {};
    cudaSurfaceObject_t s = 0;
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    CUDA(cudaCreateSurfaceObject(&s, &r));
    return s;
}

__global__ void double_it(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int w, int h)
{
    int x = threadIdx.x, y = threadIdx.y;
    if (x < w && y < h)
        surf2Dwrite(2 * surf2Dread<float>(from, x * sizeof(float), y), to, x * sizeof(float), y);
}
__global__ void edges(cudaSurfaceObject_t s, float *out)
{
    out[0] = surf2Dread<float>(s, -4, 0, cudaBoundaryModeZero);
    out[1] = surf2Dread<float>(s, 1000, 1, cudaBoundaryModeClamp);
    surf2Dwrite(99.0f, s, -4, 0, cudaBoundaryModeZero);
    out[2] = surf2Dread<float>(s, 0, 0);
}
__global__ void number3(cudaSurfaceObject_t s, int w, int h, int d)
{
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    if (x < w && y < h && z < d)
        surf3Dwrite(make_int2(x + 10 * y + 100 * z, -x), s, x * sizeof(int2), y, z);
}
__global__ void number_layers(cudaSurfaceObject_t s, int w, int h)
{
    int x = threadIdx.x, y = threadIdx.y, layer = threadIdx.z;
    if (x < w && y < h)
        surf2DLayeredwrite((unsigned char)(x + 8 * y + 32 * layer), s, x, y, layer);
}
__global__ void one_row(cudaSurfaceObject_t s) { surf1Dwrite((short)(-3 * (int)threadIdx.x), s, threadIdx.x * sizeof(short)); }
__global__ void texture_sum(cudaTextureObject_t t, float *out, int w, int h)
{
    float sum = 0;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            sum += tex2D<float>(t, x + 0.5f, y + 0.5f);
    *out = sum;
}

static void two_dimensions()
{
    enum { W = 7, H = 5 };
    float in[H][W], out[H][W], *results = zeros<float>(4);
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
    cudaArray_t a, b;
    for (int i = 0; i < W * H; i++)
        in[i / W][i % W] = i + 1.0f;
    CUDA(cudaMallocArray(&a, &f, W, H, cudaArraySurfaceLoadStore));
    CUDA(cudaMallocArray(&b, &f, W, H, cudaArraySurfaceLoadStore));
    CUDA(cudaMemcpy2DToArray(a, 0, 0, in, sizeof in[0], sizeof in[0], H, cudaMemcpyHostToDevice));
    cudaSurfaceObject_t from = surface_of(a), to = surface_of(b);
    double_it<<<1, dim3(8, 8)>>>(from, to, W, H);
    CUDA(cudaMemcpy2DFromArray(out, sizeof out[0], b, 0, 0, sizeof out[0], H, cudaMemcpyDeviceToHost));
    bool good = true;
    for (int i = 0; i < W * H; i++)
        good &= out[i / W][i % W] == 2 * in[i / W][i % W];
    check(good, "from one surface to another");
    edges<<<1, 1>>>(to, results);
    std::vector<float> got = download(results, 3);
    check(got[0] == 0 && got[1] == 28 && got[2] == 2, "outside there is nothing, or the edge");

    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = b;
    cudaTextureDesc how = {};
    cudaTextureObject_t t;
    CUDA(cudaCreateTextureObject(&t, &r, &how, nullptr));
    texture_sum<<<1, 1>>>(t, results, W, H);
    check(download(results, 1)[0] == W * H * (W * H + 1), "a texture of what was written");
    CUDA(cudaDestroyTextureObject(t));

    cudaResourceDesc back;
    CUDA(cudaGetSurfaceObjectResourceDesc(&back, to));
    check(back.resType == cudaResourceTypeArray && back.res.array.array == b, "what it was made of");
    CUDA(cudaDestroySurfaceObject(from));
    CUDA(cudaDestroySurfaceObject(to));
    CUDA(cudaDestroySurfaceObject(0));
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = results;
    r.res.linear.desc = f;
    r.res.linear.sizeInBytes = 16;
    check(cudaCreateSurfaceObject(&to, &r) != cudaSuccess, "linear memory is no surface");
    cudaGetLastError();
    CUDA(cudaFreeArray(a));
    CUDA(cudaFreeArray(b));
    CUDA(cudaFree(results));
}

static void other_shapes()
{
    enum { W = 6, H = 4, D = 3 };
    int2 box[D][H][W];
    unsigned char layers[D][H][8];
    short row[16];
    cudaArray_t a;
    cudaMemcpy3DParms c = {};
    cudaChannelFormatDesc i2 = cudaCreateChannelDesc<int2>(), u = cudaCreateChannelDesc<unsigned char>(), s = cudaCreateChannelDesc<short>();
    CUDA(cudaMalloc3DArray(&a, &i2, make_cudaExtent(W, H, D), cudaArraySurfaceLoadStore));
    cudaSurfaceObject_t object = surface_of(a);
    number3<<<1, dim3(8, 4, 4)>>>(object, W, H, D);
    c.srcArray = a;
    c.dstPtr = make_cudaPitchedPtr(box, sizeof box[0][0], W, H);
    c.extent = make_cudaExtent(W, H, D);
    c.kind = cudaMemcpyDeviceToHost;
    CUDA(cudaMemcpy3D(&c));
    check(box[0][0][0].x == 0 && box[2][3][5].x == 235 && box[2][3][5].y == -5 && box[1][2][3].x == 123, "three dimensions");
    CUDA(cudaDestroySurfaceObject(object));
    CUDA(cudaFreeArray(a));

    CUDA(cudaMalloc3DArray(&a, &u, make_cudaExtent(8, H, D), cudaArraySurfaceLoadStore | cudaArrayLayered));
    object = surface_of(a);
    number_layers<<<1, dim3(8, 4, D)>>>(object, 8, H);
    c.srcArray = a;
    c.dstPtr = make_cudaPitchedPtr(layers, 8, 8, H);
    c.extent = make_cudaExtent(8, H, D);
    CUDA(cudaMemcpy3D(&c));
    check(layers[0][0][7] == 7 && layers[1][2][3] == 51 && layers[2][3][7] == 95, "layers");
    CUDA(cudaDestroySurfaceObject(object));
    CUDA(cudaFreeArray(a));

    CUDA(cudaMallocArray(&a, &s, 16, 0, cudaArraySurfaceLoadStore));
    object = surface_of(a);
    one_row<<<1, 16>>>(object);
    CUDA(cudaMemcpy2DFromArray(row, sizeof row, a, 0, 0, sizeof row, 1, cudaMemcpyDeviceToHost));
    check(row[0] == 0 && row[5] == -15 && row[15] == -45, "one dimension");
    CUDA(cudaDestroySurfaceObject(object));
    CUDA(cudaFreeArray(a));
}

static void level_of_mipmap()
{
    cudaMipmappedArray_t m;
    cudaArray_t level;
    float in[4][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}}, out[4][4];
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
    CUDA(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(8, 8, 0), 2, cudaArraySurfaceLoadStore));
    CUDA(cudaGetMipmappedArrayLevel(&level, m, 1));
    CUDA(cudaMemcpy2DToArray(level, 0, 0, in, sizeof in[0], sizeof in[0], 4, cudaMemcpyHostToDevice));
    cudaSurfaceObject_t object = surface_of(level);
    double_it<<<1, dim3(8, 8)>>>(object, object, 4, 4);
    CUDA(cudaMemcpy2DFromArray(out, sizeof out[0], level, 0, 0, sizeof out[0], 4, cudaMemcpyDeviceToHost));
    check(out[0][0] == 2 && out[1][3] == 16 && out[3][3] == 0, "a level of a mipmapped array");
    CUDA(cudaDestroySurfaceObject(object));
    CUDA(cudaFreeMipmappedArray(m));
}

int main()
{
    two_dimensions();
    other_shapes();
    level_of_mipmap();
    return finish();
}
