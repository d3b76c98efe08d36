# The slow twin of the core (tests/twin): a second libcuda.so.1, with tests/twin/sm linked in place of src/sm.
TWIN := $(BUILD)/twin
# Of src/sm, what both have: the decoded program and rows of warps.
TWIN_SHARED := src/sm/program.c src/sm/line_policy.c src/sm/hopper.c src/sm/carveout.c src/sm/phases.c src/sm/warp_log.c
TWIN_SOURCES := $(wildcard tests/twin/sm/*.c)
TWIN_OBJECTS := $(patsubst %.c,$(TWIN)/obj/%.o,$(TWIN_SOURCES))
TWIN_OTHERS := $(filter-out $(call objects,$(wildcard src/sm/*.c)),$(CORE_OBJECTS)) $(call objects,$(TWIN_SHARED)) $(CUDA_OBJECTS)

$(TWIN)/obj/tests/twin/%.o: ROOM_CFLAGS := $(if $(filter release,$(MODE)),-O3)
$(TWIN)/obj/%.o: %.c mk/config.mk mk/twin.mk
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(ROOM_CFLAGS) -MMD -MP -c $< -o $@

$(TWIN)/lib/libcuda.so.1: $(TWIN_OBJECTS) $(TWIN_OTHERS) mk/libcuda.map
	@mkdir -p $(@D)
	$(CC) -shared -Wl,-soname,libcuda.so.1 -Wl,--version-script=mk/libcuda.map $(TWIN_OBJECTS) $(TWIN_OTHERS) -o $@ $(ALL_LDFLAGS) $(LIBS)

# The order of issue, as a probe.
$(TWIN)/order.so: tests/twin/order.c include/heddle/policy.h
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -shared $< -o $@ $(ALL_LDFLAGS)

$(TWIN)/same: tests/twin/same.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $< -o $@ $(ALL_LDFLAGS) -ljansson

.PHONY: twin twin-all
twin: $(TWIN)/lib/libcuda.so.1 $(TWIN)/order.so $(TWIN)/same
twin-all: all twin $(BUILD)/tests/random
	sh tests/script.sh tests/twin/compare.sh $(BUILD) all

-include $(TWIN_OBJECTS:.o=.d)
