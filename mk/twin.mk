# The core against the model (tests/twin): a probe that sums up the order of issue, and a program that compares results.
TWIN := $(BUILD)/twin

$(TWIN)/order.so: tests/twin/order.c include/heddle/policy.h
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -shared $< -o $@ $(ALL_LDFLAGS)

$(TWIN)/same: tests/twin/same.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $< -o $@ $(ALL_LDFLAGS) -ljansson

.PHONY: twin twin-all
twin: $(MODEL_LIBRARY) $(TWIN)/order.so $(TWIN)/same
twin-all: all twin $(BUILD)/tests/random
	sh tests/script.sh tests/twin/compare.sh $(BUILD) all
