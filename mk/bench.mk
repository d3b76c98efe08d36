# Speed: thousand warp instructions a second, a workload, single thread.
.PHONY: bench
bench: all
	sh bench/run.sh $(BUILD)
