# Speed: thousand warp instructions per second, single thread, functional and with time; and what a simulated warp instruction costs in host instructions.
.PHONY: bench bench-baseline
BENCH_PROGRAMS := $(TIMING_PROGRAMS) $(BUILD)/bench/spots
bench: all $(BENCH_PROGRAMS)
	sh bench/run.sh $(BUILD)
# The numbers that later runs are compared with.
bench-baseline: all $(BENCH_PROGRAMS)
	BENCH_RUNS=0 BENCH_BASELINE="$$($(CC) --version | head -n 1)" sh bench/timed.sh $(BUILD) >/dev/null

# Textures, directed rounding, contended atomics: what no workload leans on.
$(BUILD)/bench/spots: bench/spots.c $(BUILD)/lib/libcuda.so.1
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Iinclude/heddle $< $(BUILD)/lib/libcuda.so.1 -o $@ $(ALL_LDFLAGS) -Wl,-rpath,'$$ORIGIN/../lib'

# Microbenchmarks: what instructions, caches and memory of a GPU take (bench/silicon/README.md). `make silicon` is for a
# machine with a GPU; the program is also built for Heddle's library.
SILICON_SOURCES := $(wildcard bench/silicon/*.c)
.PHONY: silicon
silicon:
	@mkdir -p $(BUILD)/silicon
	sh bench/silicon/record.sh $(BUILD)/silicon
$(BUILD)/bench/silicon: $(SILICON_SOURCES) $(wildcard bench/silicon/*.h bench/silicon/*.def) $(BUILD)/lib/libcuda.so.1
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Ibench/silicon $(SILICON_SOURCES) $(BUILD)/lib/libcuda.so.1 -o $@ $(ALL_LDFLAGS) -Wl,-rpath,'$$ORIGIN/../lib'
