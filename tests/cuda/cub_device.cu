// CUB's algorithms over the whole device.
// nvcc: -arch=compute_75
// cost: highest
#include "check.h"
#include <algorithm>
#include <cub/cub.cuh>
#include <numeric>

// CUB asks twice: first for the size of its scratch memory.
template <typename F> static void with_scratch(F call)
{
    void *scratch = nullptr;
    size_t bytes = 0;
    CUDA(call(scratch, bytes));
    CUDA(cudaMalloc(&scratch, bytes ? bytes : 1));
    CUDA(call(scratch, bytes));
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaFree(scratch));
}

int main()
{
    const int n = 12345;
    std::vector<int> host(n), wanted(n);
    random_numbers random(17);
    for (int &x : host)
        x = (int)(random.next() % 2000) - 1000;
    int *in = upload(host), *out = zeros<int>(n), *one = zeros<int>(1);
    with_scratch([&](void *s, size_t &b) { return cub::DeviceReduce::Sum(s, b, in, one, n); });
    check(download(one, 1)[0] == std::accumulate(host.begin(), host.end(), 0), "sum");
    with_scratch([&](void *s, size_t &b) { return cub::DeviceReduce::Max(s, b, in, one, n); });
    check(download(one, 1)[0] == *std::max_element(host.begin(), host.end()), "maximum");
    with_scratch([&](void *s, size_t &b) { return cub::DeviceScan::InclusiveSum(s, b, in, out, n); });
    std::partial_sum(host.begin(), host.end(), wanted.begin());
    check(download(out, n) == wanted, "inclusive sum");
    with_scratch([&](void *s, size_t &b) { return cub::DeviceScan::ExclusiveSum(s, b, in, out, n); });
    wanted.insert(wanted.begin(), 0);
    wanted.pop_back();
    check(download(out, n) == wanted, "exclusive sum");
    with_scratch([&](void *s, size_t &b) { return cub::DeviceRadixSort::SortKeys(s, b, in, out, n); });
    wanted = host;
    std::sort(wanted.begin(), wanted.end());
    check(download(out, n) == wanted, "sort of keys");
    std::vector<int> places(n);
    std::iota(places.begin(), places.end(), 0);
    int *values = upload(places), *sorted_values = zeros<int>(n);
    with_scratch([&](void *s, size_t &b) { return cub::DeviceRadixSort::SortPairsDescending(s, b, in, out, values, sorted_values, n); });
    std::stable_sort(places.begin(), places.end(), [&](int a, int b) { return host[a] > host[b]; });
    check(download(sorted_values, n) == places, "sort of pairs, descending");
    std::vector<unsigned char> samples(n);
    std::vector<int> bins(256), zero_bins(256);
    for (unsigned char &c : samples)
        bins[c = random.next() % 256]++;
    unsigned char *device_samples = upload(samples);
    int *device_bins = upload(zero_bins);
    with_scratch([&](void *s, size_t &b) { return cub::DeviceHistogram::HistogramEven(s, b, device_samples, device_bins, 257, 0, 256, n); });
    check(download(device_bins, 256) == bins, "histogram");
    std::vector<char> flags(n);
    std::vector<int> chosen;
    for (int i = 0; i < n; i++)
        if ((flags[i] = host[i] % 3 == 0))
            chosen.push_back(host[i]);
    char *device_flags = upload(flags);
    with_scratch([&](void *s, size_t &b) { return cub::DeviceSelect::Flagged(s, b, in, device_flags, out, one, n); });
    check(download(one, 1)[0] == (int)chosen.size() && download(out, chosen.size()) == chosen, "selection");
    return finish();
}
