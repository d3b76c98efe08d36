// Double precision and the mathematics library, against the host's.
// nvcc: -arch=compute_75
// nvcc: -arch=compute_75 -use_fast_math
#include "check.h"

__global__ void doubles(const double *in, double *out)
{
    double x = in[threadIdx.x], *mine = out + threadIdx.x * 16;
    mine[0] = sin(x);
    mine[1] = cos(x * 100);
    mine[2] = exp(x);
    mine[3] = log(x);
    mine[4] = pow(x, 1.7);
    mine[5] = sqrt(x);
    mine[6] = atan2(x, 2.0);
    mine[7] = erf(x);
    mine[8] = tgamma(x);
    mine[9] = cbrt(x);
    mine[10] = fmod(x * 10, 0.7);
    mine[11] = x / 3.0;
    mine[12] = tanh(x);
    mine[13] = floor(x * 7) + ceil(x) + rint(x * 3);
    mine[14] = hypot(x, 3.0);
    mine[15] = j0(x);
}
__global__ void floats(const double *in, double *out)
{
    float x = (float)in[threadIdx.x];
    double *mine = out + threadIdx.x * 8;
    mine[0] = sinf(x);
    mine[1] = expf(x);
    mine[2] = logf(x);
    mine[3] = powf(x, 2.5f);
    mine[4] = 1.0f / x;
    mine[5] = rsqrtf(x);
    mine[6] = __fdividef(x, 3.0f);
    mine[7] = tanf(x * 0.2f);
}

int main()
{
    const int n = 64;
    std::vector<double> x(n);
    for (int i = 0; i < n; i++)
        x[i] = 0.05 + i * 0.11;
    double *in = upload(x), *out = zeros<double>(n * 16);
    doubles<<<1, n>>>(in, out);
    std::vector<double> got = download(out, n * 16);
    bool good[16];
    for (int f = 0; f < 16; f++)
        good[f] = true;
    for (int i = 0; i < n; i++) {
        double v = x[i];
        double wanted[16] = {sin(v), cos(v * 100), exp(v), log(v), pow(v, 1.7), sqrt(v), atan2(v, 2.0), erf(v), tgamma(v), cbrt(v), fmod(v * 10, 0.7), v / 3.0, tanh(v),
                             floor(v * 7) + ceil(v) + rint(v * 3), hypot(v, 3.0), j0(v)};
        for (int f = 0; f < 16; f++)
            good[f] = good[f] && close_to(got[i * 16 + f], wanted[f], 4e-15);
    }
    const char *names[] = {"sin", "cos", "exp", "log", "pow", "sqrt", "atan2", "erf", "tgamma", "cbrt", "fmod", "division", "tanh", "rounding", "hypot", "j0"};
    for (int f = 0; f < 16; f++)
        check(good[f], names[f]);
    floats<<<1, n>>>(in, out);
    got = download(out, n * 8);
    bool all = true;
    for (int i = 0; i < n; i++) {
        float v = (float)x[i];
        double wanted[8] = {sin(v), exp(v), log(v), pow(v, 2.5), 1.0 / v, 1 / sqrt(v), v / 3.0, tan(v * 0.2)};
        for (int f = 0; f < 8; f++)
            all = all && close_to(got[i * 8 + f], wanted[f], 1e-4);
    }
    check(all, "single precision");
    return finish();
}
