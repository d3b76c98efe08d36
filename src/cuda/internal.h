/* What the files of the driver share: the process-wide state, the registry of live handles, and the objects of the
 * handles.
 *
 * Every API call runs under one lock (api_enter .. api_leave), launches included. What is given to streams waits in
 * queues (queue.h); a stream that captures runs nothing. A handle is the address of its object; it is looked up among
 * the live ones before it is touched. */
#ifndef HEDDLE_CUDA_INTERNAL_H
#define HEDDLE_CUDA_INTERNAL_H

#include "base/error.h"
#include "base/read_file.h"
#include "cuda/options.h"
#include "exec/exec.h"
#include "gpu/gpu.h"

#pragma GCC visibility push(default)
#include "heddle/cuda.h"
#pragma GCC visibility pop

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define CUAPI __attribute__((visibility("default")))
/* Another name for a function of the same file: older versions with the same arguments, and the forms for per-thread
 * default streams, which take the legacy stream here: more is ordered than needs be. The name may be a macro of cuda.h,
 * hence the assembler name. */
#define API_ALIAS(name, target) \
    extern __typeof__(target) alias_##name __asm__(#name) __attribute__((alias(#target), visibility("default")));

enum object_kind {
    OBJECT_CONTEXT = 1,
    OBJECT_MODULE,
    OBJECT_FUNCTION,
    OBJECT_LIBRARY,
    OBJECT_KERNEL,
    OBJECT_STREAM,
    OBJECT_EVENT,
    OBJECT_ARRAY,
    OBJECT_MIPMAP,
    OBJECT_TEXREF,
    OBJECT_SURFREF,
    OBJECT_LINK,
    OBJECT_POOL,
    OBJECT_PHYSICAL,
    OBJECT_TEXTURE,
    OBJECT_GRAPH,
    OBJECT_NODE,
    OBJECT_GRAPH_EXEC,
    OBJECT_USER,
};

/* Head of every object. Objects of a context are destroyed with it. */
struct object {
    enum object_kind kind;
    struct context *owner; /* NULL: of the process */
    void (*destroy)(struct object *o);
};

void *object_new(size_t size_bytes, enum object_kind kind, struct context *owner,
                 void (*destroy)(struct object *));           /* NULL: out of memory */
void *object_find(const void *handle, enum object_kind kind); /* NULL: not a live object of that kind */
void object_free(struct object *o);                           /* out of the registry; calls destroy, then frees it */
void objects_free_of(struct context *owner);
/* Calls visit for each live object of a kind, until it returns false. */
void objects_each(enum object_kind kind, bool (*visit)(struct object *o, void *user), void *user);

struct context {
    struct object object;
    bool live, primary;
    uint32_t retained; /* primary: retain count; others: attach count */
    unsigned int flags, api_version;
    uint64_t id;
    CUresult failure; /* sticky: what a kernel did */
    uint64_t stack_bytes, printf_bytes, heap_bytes;
    bool printf_used, heap_used; /* by a kernel that was launched: their sizes are fixed from then on */
    size_t limits[8];            /* those that only keep their value, by CUlimit */
    CUfunc_cache cache_config;
    CUsharedconfig shared_config;
    struct lane *legacy; /* of its legacy stream, made when first needed */
    CUresult late;       /* what went wrong with work that was accepted: reported once, by a call that waits */
};

/* A module in one context. */
struct module {
    struct object object;
    struct exec_image *image;
    struct function **functions; /* one per entry of the image, made when first asked for */
    struct library *library;     /* or NULL */
};

struct function {
    struct object object;
    struct module *module;
    const struct exec_function *exec;
    bool launched;               /* at least once */
    bool spill_said;             /* that its registers do not fit was reported */
    bool refusal_said;           /* a launch of it was refused, and the reason reported */
    uint32_t max_dynamic_shared; /* opt-in; see function.c */
    int carveout, cluster[3], cluster_policy;
    bool nonportable_cluster;
    CUfunc_cache cache_config;
    CUsharedconfig shared_config;
    uint32_t block[3], shared_bytes; /* of the calls before CUDA 4: cuFuncSetBlockShape and so on */
    uint8_t *params;
    uint32_t params_bytes, params_capacity;
};

struct kernel { /* of a library; stands for one function a context */
    struct object object;
    struct library *library;
    char *name;
    int set_attributes[CU_FUNC_ATTRIBUTE_MAX];
    uint32_t set_mask;
};

struct stream {
    struct object object;
    unsigned int flags;
    int priority;
    uint64_t id;
    CUlaunchAttributeValue policy_window, sync_policy;
    struct lane *lane;       /* its work, made when first needed */
    struct capture *capture; /* that it takes part in, or NULL */
    CUgraphNode *last;       /* while it does: the nodes that its next work comes after */
    CUgraphEdgeData *last_edges;
    size_t last_count;
};

struct event {
    struct object object;
    unsigned int flags;
    bool recorded;         /* or on its way: */
    uint64_t lane, seq;    /* of the work that records it last; seq 0: it is not pending */
    uint64_t cycles;       /* simulated, of all kernels before it */
    double seconds;        /* of the host */
    uint64_t capture_id;   /* it was last recorded in that capture, which may have ended; 0: in none */
    CUgraphNode *captured; /* the nodes it stands for there */
    size_t captured_count;
};

/* What a call needs before it may run. */
enum api_need {
    API_ANY,
    API_INIT,
    API_CONTEXT,
    API_PASSING = 4, /* added: what is pending is left alone, as the call touches nothing of it */
    API_WAITING = 8  /* added: the call takes away what pending work may use, so it waits for all of it */
};

struct driver {
    pthread_mutex_t lock;
    bool initialised;
    struct options options;
    struct gpu *gpu;
    struct context *primary;
    uint64_t next_id, module_count;
    struct timespec start;
    volatile int interrupt;
    volatile int ending;     /* a signal ends the process: from now on every kernel stops at once */
    atomic_flag end_claimed; /* somebody writes the results */
    uint32_t guards;         /* under which ctrl-C sets it */
    bool guarded;
    struct sigaction their_action;
    struct error outcome; /* last failure of a kernel or a module */
    bool probe_failed;    /* to write what it counted */
    bool nothing_timed;   /* launches were chosen to be timed, and there were none such */
    bool file_failed;     /* a timeline, a trace or a file of warps that was asked for could not be written */
    bool launch_refused;  /* a launch came to nothing for want of support */
    struct pool *default_pool, *pool;
    bool has_region;          /* the program said which launches are of interest (profiler.c) */
    struct capture *captures; /* under way */
    struct lane *lanes;       /* with or without work */
    uint64_t next_seq;
    uint32_t pending_count;
    uint32_t own_threads; /* that the program knows nothing of */
    bool files_finished;  /* timeline, trace and warps are complete, or as complete as they will be */
    atomic_uint waiting;  /* threads that want the lock */
    atomic_uint patient;  /* those of them that only look again */
    uint64_t pops;        /* pieces of work that are done */
    double driven_at;     /* the last time somebody drove the queues */
    uint32_t waiters;     /* calls that drive the queues until what they wait for is done */
    struct watch *watch;  /* or NULL */
    /* What queues do before a call runs, and, where work is left, after it; set by cuInit. */
    void (*on_enter)(enum api_need need);
    void (*on_leave)(struct driver *d);
};

struct driver *driver_get(void);
/* When the process ends, in whatever way: timeline and results are completed. (finish.c) */
void driver_finish(struct driver *d, int exit_status);
/* Whether the caller is the first to end the process, and so the one who calls driver_finish. */
bool driver_claim_end(struct driver *d);
/* The process ends here, while one of its threads cannot go on inside the simulator: results as far as they are there,
 * nothing more from policies. (finish.c) */
_Noreturn void driver_finish_stuck(struct driver *d, const struct error *e, int exit_status);

/* Locks, also when it fails; *ctx is the current context for API_CONTEXT. */
CUresult api_enter(struct context **ctx, enum api_need need);
CUresult api_leave(CUresult r);
void api_unlock(void);    /* in the middle of a call, */
void api_lock(void);      /* and back: all that was looked up may be gone */
double seconds_now(void); /* since the library was loaded */

/* context.c */
struct context *context_current(void);
struct context *context_act(
    struct context *ctx); /* current in this thread, whatever it has set, until NULL is; returns the one before */
CUresult context_lookup(CUcontext handle, struct context **ctx); /* NULL handle: the current one */
struct context *context_primary(void);                           /* made when first asked for */
void context_fail(struct context *ctx, const struct error *e);   /* sticky, and reported once */

/* device.c */
size_t device_persisting_bytes(void);
void limits_note_launch(struct context *ctx,
                        const struct function *f); /* limits.c: before the first launch of a function */

/* errors.c */
CUresult result_of(const struct error *e);
void driver_report(const struct error *e); /* stderr, and kept as the outcome */
void driver_keep(const struct error *e);   /* the same without a word: it was said before */
void driver_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* memory.c */
struct allocation {
    uint64_t base, size_bytes;
    enum memory_kind kind;
    struct context *owner;
    unsigned int flags;
    bool registered; /* cuMemHostRegister: the memory is the program's */
    bool is_pool;    /* cuMemAllocAsync */
    struct pool *pool;
    bool is_pool_host; /* from a pool in the host's memory, which the device sees when it has been given access */
    bool is_graph;     /* made by a graph */
};
CUresult allocation_new(struct context *ctx, uint64_t bytes, uint64_t align, enum memory_kind kind, unsigned int flags,
                        uint64_t *address);
struct allocation *allocation_find(uint64_t address); /* the one that holds the address, or NULL */
CUresult allocation_drop(struct allocation *a);
CUresult allocation_release(uint64_t address);   /* pool.c: one that cuMemFreeAsync was given */
bool allocation_add(const struct allocation *a); /* a range that memory already knows */
void allocation_forget(uint64_t base);
void allocations_free_of(struct context *ctx);
void pool_gave_back(const struct allocation *a); /* pool.c */
bool pool_host_release(uint64_t base);           /* the same: memory of allocations that have is_pool_host */
void allocations_each(void (*visit)(const struct allocation *a, void *user), void *user);
void graph_memory_freed(uint64_t address); /* graph_memory.c */
bool graph_memory_holds(uint64_t address,
                        uint64_t bytes); /* the same: memory that a graph has, or will have when it runs */
/* Whether the device, or a copy, may touch all of [address, address + bytes). */
bool device_range_ok(uint64_t address, uint64_t bytes);
bool range_is_copyable(enum memory_kind kind);
/* Where a pointer of unified addressing points: device memory that is all there, or host memory. */
enum pointer_class { POINTER_DEVICE, POINTER_HOST, POINTER_BAD };
enum pointer_class pointer_classify(uint64_t address, uint64_t bytes);

/* array.c */
struct array {
    struct object object;
    struct texture_array texels;
    unsigned int flags, width, height, depth; /* as described by the caller */
    CUarray_format format;
    struct mipmap *of;
    uint32_t level;
};
struct mipmap {
    struct object object;
    struct array **levels;
    struct texture_array *texels;
    uint32_t level_count;
};

bool array_format(CUarray_format format, unsigned int channels, struct texture_array *t); /* false: not supported */

/* copy.c */
CUresult copy_3d(const CUDA_MEMCPY3D *c);
CUresult copy_3d_check(const CUDA_MEMCPY3D *c);
CUresult memset_check(uint64_t address, size_t pitch, uint32_t element_bytes, size_t width, size_t height);
CUresult memset_fill(uint64_t address, size_t pitch, uint32_t value, uint32_t element_bytes, size_t width,
                     size_t height);

/* stream.c */
CUresult stream_check(CUstream handle);
struct stream *stream_find(CUstream handle); /* NULL for the legacy stream */
CUresult mem_ops_check(const CUstreamBatchMemOpParams *ops, unsigned int count);
/* From the first that is not done on; stops at one that waits for a value that is not there. */
CUresult mem_ops_run(const CUstreamBatchMemOpParams *ops, unsigned int count, uint32_t *done);

/* event.c */
void event_record_now(struct event *e);
void event_record_later(struct event *e, uint64_t lane, uint64_t seq); /* by that work */

/* capture.c. Work goes to streams by stream_submit (work.h), which asks for itself. */
struct graph;
CUresult stream_captures(CUstream handle,
                         bool *captures); /* or CUDA's error for a stream that a capture makes unusable */
/* Calls that nobody can capture. A capture that they would touch is invalid from then on. */
CUresult capture_refuse(CUstream handle);
CUresult capture_refuse_context(const struct context *ctx);
CUresult capture_refuse_event(const struct event *e);
CUresult capture_refuse_unsafe(void); /* calls that some modes forbid to threads: those that may wait for the device */
CUresult capture_event(struct event *e, CUstream handle); /* of a stream that captures */
CUresult capture_wait(CUstream handle, const struct event *e);
void capture_leave(struct stream *s);
bool capture_into(const struct graph *g);

/* module.c, function.c, library.c */
struct jit_log {
    char *error_buffer, *info_buffer;
    size_t error_bytes, info_bytes;
    void **error_size, **info_size; /* where the lengths written go */
    bool verbose;
    void **wall_time;
};
CUresult jit_log_read(struct jit_log *log, unsigned int count, const CUjit_option *options, void **values);
void jit_log_write(const struct jit_log *log, const struct error *e, const char *info);
/* The texts of one program, to be linked into one image. */
struct ptx_texts {
    char **texts;
    size_t *sizes;
    char **names;
    uint32_t count;
};
void ptx_texts_free(struct ptx_texts *t);
bool ptx_texts_add(struct ptx_texts *t, const char *name, const char *text, size_t size);
struct image;
CUresult image_result(const struct image *image); /* of one that cannot be loaded */
/* From anything cuModuleLoadData takes. limit: bytes known to be readable, SIZE_MAX where not known. */
CUresult ptx_texts_read(struct ptx_texts *t, const char *name, const void *data, size_t limit, struct error *e);
struct ptx_module **ptx_texts_parse(const struct ptx_texts *texts,
                                    struct error *e); /* as many as there are texts; NULL: an error */
void ptx_modules_free(struct ptx_module **modules, uint32_t count);
struct module *module_new(struct context *ctx, const struct ptx_texts *texts, struct error *e);
/* Takes the modules over, also on failure. lazy: kernels are decoded when they are asked for. */
struct module *module_of(struct context *ctx, struct ptx_module **modules, uint32_t count, bool lazy, struct error *e);
CUresult load_failed(CUresult r, const struct error *e,
                     const struct jit_log *log); /* r: CUDA_SUCCESS, take it from e */
CUresult module_global(const struct module *m, const char *name, CUdeviceptr *address, size_t *size);
struct function *module_function(struct module *m, const char *name, CUresult *r);
struct function *function_new(struct module *m, const struct exec_function *exec);
CUresult function_resolve(CUfunction handle, struct function **f); /* a CUkernel too */
CUresult function_attribute(const struct function *f, CUfunction_attribute attribute, int *value);
CUresult function_set_attribute(struct function *f, CUfunction_attribute attribute, int value);
CUresult function_param(const struct function *f, size_t index, size_t *offset, size_t *size);
struct function *kernel_function(struct kernel *k, struct context *ctx, CUresult *r);
/* The text a linker state produced, inside the blob cuLinkComplete returned; false: not one of those. */
bool link_blob_read(const void *data, size_t limit, struct ptx_texts *t);

/* launch.c */
struct launch_shape {
    uint32_t grid[3], block[3], cluster[3], shared_bytes;
    bool cooperative;
};
CUresult launch_attributes(const CUlaunchConfig *c, struct launch_shape *s);
bool launch_attribute_known(CUlaunchAttributeID id);
CUresult launch_check(struct function *f, struct launch_shape *s);
/* The parameters of a launch in one new block, to be freed by the caller; and a launch with such a block. */
CUresult launch_pack(const struct function *f, void **params, void **extra, uint8_t **out);
/* NULL: there is nothing to run, *r says why. */
struct residency *launch_start(struct function *f, const struct launch_shape *s, const uint8_t *params, int priority,
                               CUresult *r);
/* One that has ended. CUDA_ERROR_LAUNCH_TIMEOUT: it ran past its own limit. CUDA_SUCCESS also where its context has
 * failed: others get that error. *failed: everything else has to end too. */
CUresult launch_finish(struct residency *grid, struct context *ctx, bool *failed);
void launch_guard(void);   /* from here on ctrl-C stops kernels, */
void launch_unguard(void); /* as long as one of those who asked for it has not ended that */

/* texture.c */
void texture_refs_free_of(struct module *m);
void texture_bind_all(struct module *m); /* texture references of the module, before it runs */

/* stats.c */
void stats_write(const struct driver *d, int exit_status);
/* From now on signals that end the process write the results first. (interrupt.c) */
void interrupt_watch(struct driver *d);
/* From now on a crash in a policy of a shared object says so. (policy_crash.c) */
void policy_crash_watch(void);

#endif
