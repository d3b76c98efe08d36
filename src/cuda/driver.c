/* The state of the process behind the API, and the door that every call goes through.
 *
 * NVIDIA's API has no handle for the driver itself, so its state belongs to the process: here, and in the tables of
 * object.c, memory.c and virtual.c. The executor below knows nothing of that. */
#include "cuda/internal.h"

#include <time.h>

static struct driver the_driver = {.lock = PTHREAD_MUTEX_INITIALIZER, .end_claimed = ATOMIC_FLAG_INIT};

struct driver *driver_get(void) { return &the_driver; }

/* The process's time begins when the library is loaded. */
__attribute__((constructor)) static void note_start(void) { clock_gettime(CLOCK_MONOTONIC, &the_driver.start); }

double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - the_driver.start.tv_sec) + 1e-9 * (double)(now.tv_nsec - the_driver.start.tv_nsec);
}

void api_lock(void)
{
    atomic_fetch_add(&the_driver.waiting, 1);
    pthread_mutex_lock(&the_driver.lock);
    atomic_fetch_sub(&the_driver.waiting, 1);
}

void api_unlock(void) { pthread_mutex_unlock(&the_driver.lock); }

CUresult api_enter(struct context **ctx, enum api_need need)
{
    api_lock();
    if (need == API_ANY)
        return CUDA_SUCCESS;
    if (!the_driver.initialised)
        return CUDA_ERROR_NOT_INITIALIZED;
    the_driver.on_enter(need);
    if ((need & ~(API_PASSING | API_WAITING)) == API_INIT)
        return CUDA_SUCCESS;
    struct context *current = context_current();
    if (!current)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!current->live)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (ctx)
        *ctx = current;
    return current->failure;
}

CUresult api_leave(CUresult r)
{
    if (the_driver.pending_count)
        the_driver.on_leave(&the_driver);
    api_unlock();
    return r;
}

bool driver_claim_end(struct driver *d) { return !atomic_flag_test_and_set(&d->end_claimed); }
