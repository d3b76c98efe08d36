/* One writer at a time: a lock on FILE.lock, which the kernel gives back however the process ends, so that a file left
 * behind by a killed sweep locks nothing. Inside stands who holds it.
 *
 * The lock is the process' own (fcntl, not flock): the runs that a sweep starts do not inherit it, and a sweep that was
 * killed can be started again while its last run is still being ended. The price: it does not keep one process from
 * opening a store twice. */
#include "base/out_of_memory.h"
#include "store/sql.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HOST_BYTES = 256 };

static char *lock_name(const char *file)
{
    char *name = NULL;
    if (asprintf(&name, "%s.lock", file) < 0)
        out_of_memory();
    return name;
}

static struct flock whole_file(void) { return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET}; }

/* Process and host that the file names; false where it names none. */
static bool read_holder(int fd, long *pid, char host[HOST_BYTES])
{
    char text[HOST_BYTES + 32] = "";
    ssize_t got = pread(fd, text, sizeof text - 1, 0);
    return got > 0 && sscanf(text, "%ld %255s", pid, host) == 2;
}

static void write_holder(int fd)
{
    char host[HOST_BYTES] = "";
    gethostname(host, sizeof host - 1);
    if (ftruncate(fd, 0) == 0)
        dprintf(fd, "%ld %s\n", (long)getpid(),
                *host ? host : "localhost"); /* only for the message of others: on a full disk it stays empty */
}

static bool refuse(int fd, const char *path, struct error *e)
{
    static const char advice[] = "wait for it, or use another file (-o)";
    struct flock lock = whole_file();
    char host[HOST_BYTES];
    long named;
    if (fcntl(fd, F_GETLK, &lock) < 0 || lock.l_type == F_UNLCK)
        lock.l_pid = 0; /* it has ended since */
    bool has_name = read_holder(fd, &named, host);
    /* The kernel knows the process best, but not one of another host or container. What the file says may be of the one
     * before. */
    if (has_name && (lock.l_pid <= 0 || lock.l_pid == named))
        return error_set(e, ERROR_IO, "%s is being written by process %ld on %s; %s", path, named, host, advice);
    if (lock.l_pid > 0)
        return error_set(e, ERROR_IO, "%s is being written by process %ld; %s", path, (long)lock.l_pid, advice);
    return error_set(e, ERROR_IO, "%s is being written by another process; %s", path, advice);
}

/* The one before may have removed the name between our open and our lock; then others would lock another file of that
 * name. */
static bool still_named(int fd, const char *name)
{
    struct stat ours, there;
    return fstat(fd, &ours) == 0 && stat(name, &there) == 0 && ours.st_ino == there.st_ino &&
           ours.st_dev == there.st_dev;
}

int store_lock(const char *file, const char *path, struct error *e)
{
    char *name = lock_name(file);
    int fd = -1;
    for (;;) {
        struct flock lock = whole_file();
        fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0) {
            if (errno == EROFS || errno == EACCES || errno == EPERM)
                error_set(e, ERROR_IO, "cannot write in the folder of %s: %s; use another file (-o)", path,
                          strerror(errno));
            else
                error_set(e, ERROR_IO, "cannot make %s: %s", name, strerror(errno));
            break;
        }
        if (fcntl(fd, F_SETLK, &lock) < 0) {
            if (errno == EACCES || errno == EAGAIN)
                refuse(fd, path, e);
            else
                error_set(e, ERROR_IO, "cannot lock %s: %s", name, strerror(errno));
            close(fd);
            fd = -1;
            break;
        }
        if (still_named(fd, name)) {
            write_holder(fd);
            break;
        }
        close(fd);
    }
    free(name);
    return fd;
}

void store_unlock(const char *file, int lock)
{
    char *name = lock_name(file);
    unlink(name); /* while it is locked: see still_named */
    close(lock);
    free(name);
}
