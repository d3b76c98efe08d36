/* Dynamic energy of the L1 data caches, the L2 and the DRAM: events times a constant each.
 *
 * The constants are GPUWattch's, as of GPGPU-Sim 3.2.2 with its GTX 480 description (40 nm, GDDR5): McPAT's energy per
 * access times the tuning factor that its authors fitted against silicon; for DRAM the energy of a command times its
 * factor. Releases before and after differ by up to several times, so that only ratios between runs mean something:
 * "this policy spends half of what that one does", not watts.
 *
 * An access merged into an outstanding miss costs as much as a hit, as in GPUWattch. Activates are part of the
 * precharge. Left out: leakage, clocks, cores, registers, shared memory, the crossbar, the other L1 caches, refresh. */
#include "gpu/energy.h"

struct access_nj {
    double read_hit, read_miss, write_hit, write_miss;
};

static const struct access_nj l1d_nj = {.read_hit = 2.58, .read_miss = 1.83, .write_hit = 0.19, .write_miss = 1.78};
static const struct access_nj l2_nj = {.read_hit = 2.81, .read_miss = 0.10, .write_hit = 13.85, .write_miss = 14.8};
static const double dram_read_nj = 77.47 * 0.33, dram_write_nj = 35.47 * 0.40,
                    dram_precharge_nj = 38.48 * 0.11; /* per command */

static double cache_nj(const struct cache_counters *c, const struct access_nj *nj)
{
    uint64_t read_misses = c->misses - c->write_misses, write_hits = c->writes - c->write_misses;
    uint64_t read_hits = c->accesses - c->writes - read_misses;
    return (double)read_hits * nj->read_hit + (double)read_misses * nj->read_miss + (double)write_hits * nj->write_hit +
           (double)c->write_misses * nj->write_miss;
}

struct energy energy_of(const struct gpu_counters *c)
{
    const struct dram_counters *dram = &c->memory.dram;
    struct energy e = {.l1d_nj = cache_nj(&c->sm.l1d, &l1d_nj), .l2_nj = cache_nj(&c->memory.l2, &l2_nj)};
    e.dram_nj = (double)dram->reads * dram_read_nj + (double)dram->writes * dram_write_nj +
                (double)dram->precharges * dram_precharge_nj;
    e.total_nj = e.l1d_nj + e.l2_nj + e.dram_nj;
    return e;
}
