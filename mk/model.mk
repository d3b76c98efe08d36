# The model (src/model): a second libcuda.so.1, in which it stands in the place of src/sm. `heddle run --model` chooses it.
MODEL_FOLDER := $(BUILD)/lib/model
# What a core does not do itself: the decoded program, how a launch divides the L1, rows of warps.
MODEL_SHARED := src/sm/program.c src/sm/line_policy.c src/sm/hopper.c src/sm/carveout.c src/sm/phases.c src/sm/warp_log.c
MODEL_OBJECTS := $(call objects,$(wildcard src/model/*.c))
MODEL_OTHERS := $(filter-out $(call objects,$(wildcard src/sm/*.c)),$(CORE_OBJECTS)) $(call objects,$(MODEL_SHARED)) $(CUDA_OBJECTS)
MODEL_LIBRARY := $(MODEL_FOLDER)/libcuda.so.1

$(BUILD)/obj/src/model/%.o: ROOM_CFLAGS := $(if $(filter release,$(MODE)),-O3)

# The runtime API is the same; it stands beside the library so that this one folder is all that a program needs. defs:
# the model has all that the rest of Heddle asks of a core.
$(MODEL_LIBRARY): $(MODEL_OBJECTS) $(MODEL_OTHERS) mk/libcuda.map mk/model.mk
	@mkdir -p $(@D)
	$(CC) -shared -Wl,-soname,libcuda.so.1 -Wl,--version-script=mk/libcuda.map $(if $(SANITIZE_$(MODE)),,-Wl,-z,defs) $(MODEL_OBJECTS) $(MODEL_OTHERS) -o $@ $(ALL_LDFLAGS) $(LIBS)
	ln -sf libcuda.so.1 $(@D)/libcuda.so
	for runtime in $(notdir $(CUDART_LIBRARIES)); do ln -sf ../$$runtime $(@D)/$$runtime; done

-include $(MODEL_OBJECTS:.o=.d)
