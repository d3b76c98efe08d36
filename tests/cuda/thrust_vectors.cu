// Thrust: vectors on both sides, sorting, scans, reductions, iterators.
// nvcc: -arch=compute_75 --extended-lambda
// cost: highest
#include "check.h"
#include <algorithm>
#include <numeric>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/host_vector.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>
#include <thrust/unique.h>

struct difference { __host__ __device__ int operator()(const thrust::tuple<int, int> &t) const { return thrust::get<1>(t) - thrust::get<0>(t); } };
struct square { __host__ __device__ double operator()(float x) const { return (double)x * x; } };

int main()
{
    const int n = 5000;
    random_numbers random(23);
    thrust::host_vector<int> host(n);
    for (int &x : host)
        x = random.next() % 1000;
    thrust::device_vector<int> device = host;
    thrust::sort(device.begin(), device.end());
    thrust::host_vector<int> back = device, wanted = host;
    std::sort(wanted.begin(), wanted.end());
    check(back == wanted, "sort");
    device.erase(thrust::unique(device.begin(), device.end()), device.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    check(device.size() == wanted.size() && thrust::host_vector<int>(device) == wanted, "unique");
    device = host;
    thrust::stable_sort(device.begin(), device.end(), [] __device__(int a, int b) { return a % 10 < b % 10; });
    wanted = host;
    std::stable_sort(wanted.begin(), wanted.end(), [](int a, int b) { return a % 10 < b % 10; });
    check(thrust::host_vector<int>(device) == wanted, "stable sort with a comparison of one's own");
    thrust::device_vector<float> floats(n);
    thrust::sequence(floats.begin(), floats.end(), 1.0f, 0.5f);
    double norm = thrust::transform_reduce(floats.begin(), floats.end(), square(), 0.0, thrust::plus<double>()), norm_wanted = 0;
    for (int i = 0; i < n; i++)
        norm_wanted += (1 + 0.5 * i) * (1 + 0.5 * i);
    check(close_to(norm, norm_wanted, 1e-12), "transform and reduce");
    device = host;
    thrust::device_vector<int> sums(n);
    thrust::inclusive_scan(device.begin(), device.end(), sums.begin());
    check(sums.back() == std::accumulate(host.begin(), host.end(), 0), "scan");
    thrust::device_vector<int> keys(n), values(n), out_keys(n), out_values(n);
    for (int i = 0; i < n; i++)
        wanted[i % n] = i / 100;
    keys = wanted;
    thrust::fill(values.begin(), values.end(), 2);
    auto ends = thrust::reduce_by_key(keys.begin(), keys.end(), values.begin(), out_keys.begin(), out_values.begin());
    check(ends.first - out_keys.begin() == 50 && out_values[49] == 200, "reduce by key");
    thrust::transform(thrust::device, thrust::make_counting_iterator(0), thrust::make_counting_iterator(n), device.begin(), sums.begin(),
                      [] __device__(int i, int x) { return i + x; });
    int *raw = thrust::raw_pointer_cast(sums.data()), last = 0;
    CUDA(cudaMemcpy(&last, raw + n - 1, sizeof last, cudaMemcpyDeviceToHost));
    check(last == n - 1 + host[n - 1], "counting iterators and raw pointers");
    auto first = thrust::make_zip_iterator(thrust::make_tuple(device.begin(), sums.begin()));
    int zipped = thrust::transform_reduce(first, first + n, difference(), 0, thrust::plus<int>());
    check(zipped == n * (n - 1) / 2, "zip iterators");
    device[7] = 12345;
    check(device[7] == 12345 && thrust::count(device.begin(), device.end(), 12345) == 1, "single elements");
    check(thrust::max_element(device.begin(), device.end()) - device.begin() == 7, "place of the maximum");
    return finish();
}
