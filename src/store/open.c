/* Opening and closing a store.
 *
 * A writer takes the lock first, then makes or checks the file. A reader makes no store; what SQLite puts beside a file
 * in WAL mode while it is read (-wal, -shm) is gone when the last one closes it. Where the folder cannot be written to,
 * a store without a WAL is read as it lies there. */
#include "store/sql.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    WAIT_MS = 10000
}; /* for another process that holds the file: a reader that repairs after a crash, a writer that closes */

static const char magic[16] = "SQLite format 3";

/* The file's real name, so that two names of one file have one lock. */
static bool resolve(struct store *s, enum store_mode mode, struct error *e)
{
    char real[PATH_MAX];
    const char *slash = strrchr(s->path, '/');
    if (realpath(s->path, real)) {
        s->file = arena_strndup(&s->arena, real, strlen(real));
        return true;
    }
    if (errno != ENOENT)
        return error_set(e, ERROR_IO, "cannot open %s: %s", s->path, strerror(errno));
    if (mode == STORE_READ) {
        error_set(e, ERROR_NOT_FOUND, "cannot read %s: there is no such file", s->path);
        error_note(e, "'heddle sweep EXPERIMENT.ini -o %s' makes it", s->path);
        return false;
    }
    const char *folder = !slash             ? "."
                         : slash == s->path ? "/"
                                            : arena_strndup(&s->arena, s->path, (size_t)(slash - s->path));
    const char *name = slash ? slash + 1 : s->path;
    if (!*name)
        return error_set(e, ERROR_INVALID, "'%s' is not the name of a file to keep results in", s->path);
    if (!realpath(folder, real))
        return error_set(e, ERROR_NOT_FOUND, "cannot make %s: folder %s: %s", s->path, folder, strerror(errno));
    s->file = arena_printf(&s->arena, "%s/%s", real[1] ? real : "", name);
    return true;
}

static off_t size_beside(const struct store *s, const char *suffix)
{
    struct stat st;
    struct arena a = {0};
    off_t size = stat(arena_printf(&a, "%s%s", s->file, suffix), &st) == 0 ? st.st_size : -1;
    arena_free(&a);
    return size;
}

/* Something else than a database, said before SQLite is asked: it would call it damaged. */
static bool check_first_bytes(struct store *s, enum store_mode mode, struct error *e)
{
    struct stat st;
    char first[sizeof magic] = "";
    int fd = open(s->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return (mode == STORE_WRITE && errno == ENOENT) ||
               error_set(e, ERROR_IO, "cannot read %s: %s", s->path, strerror(errno));
    bool ok = true;
    if (fstat(fd, &st) < 0)
        ok = error_set(e, ERROR_IO, "cannot read %s: %s", s->path, strerror(errno));
    else if (S_ISDIR(st.st_mode))
        ok = error_set(e, ERROR_INVALID, "%s is a folder, not a file to keep results in", s->path);
    else if (!S_ISREG(st.st_mode))
        ok = error_set(e, ERROR_INVALID, "%s is not a plain file", s->path);
    else if (st.st_size == 0 || size_beside(s, "-journal") > 0)
        ; /* new, or a crash while it was made: SQLite mends that */
    else if (pread(fd, first, sizeof first, 0) < 0)
        ok = error_set(e, ERROR_IO, "cannot read %s: %s", s->path, strerror(errno));
    else if (memcmp(first, magic, sizeof magic)) {
        ok = error_set(e, ERROR_INVALID, "%s is not a results store: it does not begin as a SQLite file does", s->path);
        error_note(e, mode == STORE_WRITE ? "use another file (-o); this one is left as it is"
                                          : "'heddle sweep EXPERIMENT.ini -o FILE' makes one");
    }
    close(fd);
    return ok;
}

const char *store_uri(struct arena *a, const char *file, const char *query)
{
    char *out = arena_alloc(a, 3 * strlen(file) + strlen(query) + 8), *to = stpcpy(out, "file:");
    for (const char *from = file; *from; from++) {
        if (strchr("%?#", *from))
            to += snprintf(to, 4, "%%%02X", (unsigned char)*from);
        else
            *to++ = *from;
    }
    strcpy(to, query);
    return out;
}

static bool open_database(struct store *s, int flags, const char *query, struct error *e)
{
    int code = sqlite3_open_v2(store_uri(&s->arena, s->file, query), &s->db,
                               flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
    if (!s->db)
        return error_set(e, ERROR_NO_MEMORY, "no memory left to open %s", s->path);
    sqlite3_extended_result_codes(s->db, 1);
    sqlite3_busy_timeout(s->db, WAIT_MS);
    return code == SQLITE_OK || store_fail(s, code, e);
}

static bool make_or_check(struct store *s, struct error *e)
{
    bool empty;
    if (!open_database(s, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "", e) || !store_recognise(s, &empty, e))
        return false;
    if (sqlite3_db_readonly(s->db, "main"))
        return store_fail(s, SQLITE_READONLY, e);
    if (empty ? !store_create(s, e) : !store_upgrade(s, e))
        return false;
    /* FULL: what was once said to be stored survives a loss of power. */
    return store_exec(s, "PRAGMA journal_mode = WAL", e) &&
           store_exec(s, "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON", e);
}

static bool open_writer(struct store *s, struct error *e)
{
    bool is_new = size_beside(s, "") < 0;
    s->lock = store_lock(s->file, s->path, e);
    if (s->lock < 0)
        return false;
    if (make_or_check(s, e))
        return true;
    sqlite3_close(s->db);
    s->db = NULL;
    if (is_new && size_beside(s, "") == 0)
        unlink(s->file);
    return false;
}

static bool check_reader(struct store *s, struct error *e)
{
    bool empty = false;
    if (!store_exec(s, "PRAGMA query_only = 1", e) || !store_recognise(s, &empty, e))
        return false;
    return !empty || error_set(e, ERROR_INVALID, "%s is empty: nothing has been swept into it yet", s->path);
}

static bool open_reader(struct store *s, struct error *e)
{
    struct error first = {0};
    /* Not read-only where it can be helped: only then can SQLite clear away what it put beside the file. */
    if (open_database(s, SQLITE_OPEN_READWRITE, "", &first) && check_reader(s, &first))
        return true;
    int code = s->failure & 0xff;
    if (code != SQLITE_CANTOPEN && code != SQLITE_READONLY && code != SQLITE_IOERR)
        return error_set(e, first.kind, "%s", first.text);
    if (size_beside(s, "-wal") > 0) {
        error_set(e, ERROR_IO,
                  "cannot read %s: runs that its last writer left in %s-wal can only be taken in where the folder can "
                  "be written to",
                  s->path, s->path);
        error_note(e, "copy both files into a folder of your own and read them there");
        return false;
    }
    sqlite3_close(s->db);
    s->db = NULL;
    return open_database(s, SQLITE_OPEN_READONLY, "?immutable=1", e) && check_reader(s, e);
}

struct store *store_open(const char *path, enum store_mode mode, struct error *e)
{
    struct store *s = calloc(1, sizeof *s);
    if (!s) {
        error_set(e, ERROR_NO_MEMORY, "no memory left to open %s", path);
        return NULL;
    }
    s->lock = -1;
    s->path = arena_strndup(&s->arena, path, strlen(path));
    if (resolve(s, mode, e) && check_first_bytes(s, mode, e) &&
        (mode == STORE_WRITE ? open_writer(s, e) : open_reader(s, e)))
        return s;
    store_close(s);
    return NULL;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    for (int i = 0; i < STATEMENT_COUNT; i++)
        sqlite3_finalize(s->statements[i]);
    sqlite3_close(s->db);
    if (s->lock >= 0)
        store_unlock(s->file, s->lock);
    store_forget_names(s);
    arena_free(&s->arena);
    free(s);
}
