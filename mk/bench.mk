# Speed: thousand warp instructions per second, single thread, functional and with time; and what a simulated warp instruction costs in host instructions.
.PHONY: bench bench-baseline
BENCH_PROGRAMS := $(TIMING_PROGRAMS) $(BUILD)/bench/spots
bench: all $(BENCH_PROGRAMS)
	sh bench/run.sh $(BUILD)
# The numbers that later runs are compared with.
bench-baseline: all $(BENCH_PROGRAMS)
	BENCH_RUNS=0 BENCH_BASELINE=bench/baseline sh bench/timed.sh $(BUILD) >/dev/null

# Textures, directed rounding, contended atomics: what no workload leans on.
$(BUILD)/bench/spots: bench/spots.c $(BUILD)/lib/libcuda.so.1
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Iinclude/heddle $< $(BUILD)/lib/libcuda.so.1 -o $@ $(ALL_LDFLAGS) -Wl,-rpath,'$$ORIGIN/../lib'
