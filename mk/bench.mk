# Speed: thousand warp instructions a second, single thread, functional and with time; and what a simulated warp instruction costs in host instructions.
.PHONY: bench bench-baseline
bench: all $(TIMING_PROGRAMS)
	sh bench/run.sh $(BUILD)
# The numbers that later runs are compared with.
bench-baseline: all $(TIMING_PROGRAMS)
	BENCH_RUNS=0 BENCH_BASELINE=bench/baseline sh bench/timed.sh $(BUILD) >/dev/null
