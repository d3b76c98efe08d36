// 3D memory: boxes copied between pitched memory, host memory and arrays, and fills of boxes.
// nvcc: -arch=compute_75
// nvcc: -arch=compute_75 -default-stream per-thread
#include "check.h"

enum { W = 9, H = 5, D = 4 };
typedef int box[D][H][W];
static box in, out;

static int at(int x, int y, int z) { return x + 10 * y + 100 * z; }
static bool holds(const box &b, int x0, int y0, int z0, int w, int h, int d, int dx, int dy, int dz)
{
    for (int z = 0; z < d; z++)
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++)
                if (b[z0 + z][y0 + y][x0 + x] != at(x0 + x + dx, y0 + y + dy, z0 + z + dz))
                    return false;
    return true;
}

static cudaPitchedPtr host(box &b) { return make_cudaPitchedPtr(b, sizeof b[0][0], W, H); }
static void clear()
{
    for (auto &slice : out)
        for (auto &line : slice)
            for (int &v : line)
                v = -1;
}

static void pitched()
{
    cudaPitchedPtr p;
    cudaMemcpy3DParms c = {};
    cudaExtent all = make_cudaExtent(W * sizeof(int), H, D);
    CUDA(cudaMalloc3D(&p, all));
    check(p.pitch >= W * sizeof(int) && p.xsize == W * sizeof(int) && p.ysize == H, "pitched memory of a box");
    c.srcPtr = host(in);
    c.dstPtr = p;
    c.extent = all;
    c.kind = cudaMemcpyHostToDevice;
    CUDA(cudaMemcpy3D(&c));
    clear();
    c.srcPtr = p;
    c.dstPtr = host(out);
    c.kind = cudaMemcpyDeviceToHost;
    CUDA(cudaMemcpy3DAsync(&c, 0));
    CUDA(cudaStreamSynchronize(0));
    check(holds(out, 0, 0, 0, W, H, D, 0, 0, 0), "there and back");
    clear();
    c.srcPos = make_cudaPos(2 * sizeof(int), 1, 1);
    c.dstPos = make_cudaPos(0, 2, 0);
    c.extent = make_cudaExtent(5 * sizeof(int), 3, 2);
    CUDA(cudaMemcpy3D(&c));
    check(holds(out, 0, 2, 0, 5, 3, 2, 2, -1, 1) && out[0][1][0] == -1 && out[0][2][5] == -1 && out[2][2][0] == -1, "a box inside");

    CUDA(cudaMemset3D(make_cudaPitchedPtr((char *)p.ptr + p.pitch, p.pitch, p.xsize, p.ysize), 0, make_cudaExtent(3 * sizeof(int), 2, 3)));
    c = {};
    c.srcPtr = p;
    c.dstPtr = host(out);
    c.extent = all;
    c.kind = cudaMemcpyDefault;
    CUDA(cudaMemcpy3D(&c));
    check(out[0][1][0] == 0 && out[2][2][2] == 0 && out[0][0][0] == at(0, 0, 0) && out[0][1][3] == at(3, 1, 0) && out[1][3][0] == at(0, 3, 1) && out[3][1][0] == at(0, 1, 3),
          "a fill of a box");
    check_error(cudaMemset3D(p, 0, make_cudaExtent(4, H + 1, 2)), cudaErrorInvalidValue, "a fill of more rows than a slice has");
    c.srcPtr.pitch = 4;
    check_error(cudaMemcpy3D(&c), cudaErrorInvalidPitchValue, "a pitch that is less than a row");
    c.srcPtr = p;
    c.kind = (cudaMemcpyKind)12;
    check_error(cudaMemcpy3D(&c), cudaErrorInvalidMemcpyDirection, "no such direction");
    c.extent.depth = 0;
    check_error(cudaMemcpy3D(&c), cudaSuccess, "a box of nothing");
    cudaGetLastError();
    CUDA(cudaFree(p.ptr));
}

static void arrays()
{
    cudaArray_t a, b, wide;
    cudaChannelFormatDesc i1 = cudaCreateChannelDesc<int>(), i4 = cudaCreateChannelDesc<int4>();
    cudaMemcpy3DParms c = {};
    CUDA(cudaMalloc3DArray(&a, &i1, make_cudaExtent(W, H, D)));
    CUDA(cudaMalloc3DArray(&b, &i1, make_cudaExtent(W, H, D)));
    CUDA(cudaMalloc3DArray(&wide, &i4, make_cudaExtent(W, H, D)));
    c.srcPtr = host(in);
    c.dstArray = a;
    c.extent = make_cudaExtent(W, H, D);
    c.kind = cudaMemcpyHostToDevice;
    CUDA(cudaMemcpy3D(&c));
    c = {};
    c.srcArray = a;
    c.dstArray = b;
    c.srcPos = make_cudaPos(1, 1, 1);
    c.extent = make_cudaExtent(W - 1, H - 1, D - 1);
    c.kind = cudaMemcpyDeviceToDevice;
    CUDA(cudaMemcpy3D(&c));
    c = {};
    clear();
    c.srcArray = b;
    c.dstPtr = host(out);
    c.dstPos = make_cudaPos(0, 0, 1);
    c.extent = make_cudaExtent(W - 1, H - 1, D - 1);
    c.kind = cudaMemcpyDeviceToHost;
    CUDA(cudaMemcpy3D(&c));
    check(holds(out, 0, 0, 1, W - 1, H - 1, D - 1, 1, 1, 0) && out[0][0][0] == -1 && out[1][0][W - 1] == -1, "through arrays, with positions in elements");

    c.dstPos.x = 2 * sizeof(int);
    check_error(cudaMemcpy3D(&c), cudaErrorInvalidValue, "rows that reach into the next");
    c.dstPos.x = 0;
    c.srcPos.x = 2;
    check_error(cudaMemcpy3D(&c), cudaErrorInvalidValue, "past the end of the array");
    c.srcPos.x = 0;
    c.kind = cudaMemcpyHostToDevice;
    check_error(cudaMemcpy3D(&c), cudaErrorInvalidValue, "an array is not the host");
    c.dstArray = a;
    check_error(cudaMemcpy3D(&c), cudaErrorInvalidValue, "to an array and a pointer");
    c = {};
    c.srcArray = a;
    c.dstArray = wide;
    c.extent = make_cudaExtent(2, 2, 2);
    c.kind = cudaMemcpyDeviceToDevice;
    check_error(cudaMemcpy3D(&c), cudaErrorInvalidValue, "between arrays of other elements");

    cudaStream_t stream;
    CUDA(cudaStreamCreate(&stream));
    cudaMemcpy3DBatchOp op = {};
    op.src.type = cudaMemcpyOperandTypePointer;
    op.src.op.ptr.ptr = in;
    op.src.op.ptr.rowLength = W;
    op.src.op.ptr.layerHeight = H;
    op.dst.type = cudaMemcpyOperandTypeArray;
    op.dst.op.array.array = a;
    op.dst.op.array.offset.y = 2;
    op.extent = make_cudaExtent(3, 3, 2);
    op.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    CUDA(cudaMemcpy3DBatchAsync(1, &op, 0, stream));
    CUDA(cudaStreamSynchronize(stream));
    c = {};
    c.srcArray = a;
    c.dstPtr = host(out);
    c.extent = make_cudaExtent(W, H, D);
    c.kind = cudaMemcpyDeviceToHost;
    CUDA(cudaMemcpy3D(&c));
    check(holds(out, 0, 2, 0, 3, 3, 2, 0, -2, 0) && out[1][4][3] == at(3, 4, 1) && out[2][2][0] == at(0, 2, 2), "a batch of boxes");
    CUDA(cudaStreamDestroy(stream));
    cudaGetLastError();
    CUDA(cudaFreeArray(a));
    CUDA(cudaFreeArray(b));
    CUDA(cudaFreeArray(wide));
}

int main()
{
    for (int z = 0; z < D; z++)
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                in[z][y][x] = at(x, y, z);
    pitched();
    arrays();
    return finish();
}
