# The slow twin of the core (tests/twin): a second libcuda.so.1 with tests/twin/sm in place of src/sm.
TWIN := $(BUILD)/twin
TWIN_OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/twin/sm/*.c))
# Of src/sm both have the decoded program.
TWIN_OTHERS := $(filter-out $(call objects,$(wildcard src/sm/*.c)),$(CORE_OBJECTS)) $(call objects,src/sm/program.c src/sm/phases.c) $(CUDA_OBJECTS)
$(BUILD)/obj/tests/twin/%.o: ROOM_CFLAGS := $(if $(filter release,$(MODE)),-O3)

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
	sh tests/twin/compare.sh $(BUILD) all

-include $(TWIN_OBJECTS:.o=.d)
