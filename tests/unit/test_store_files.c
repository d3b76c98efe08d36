/* Does the store say what is wrong with a file that is not what it should be, and is nothing lost when a disk is full,
 * a writer is killed, or two want to write at once? */
#include "store_test.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* ---- files that are not what they should be ---- */

/* The store is not opened, and the message says so. */
static void refused(const char *path, enum store_mode mode, const char *message)
{
    struct error e = {0};
    struct store *s = store_open(path, mode, &e);
    if (s) {
        store_close(s);
        fail_msg("%s was opened; expected: %s", path, message);
    }
    if (!strstr(e.text, message))
        fail_msg("expected '%s', got '%s'", message, e.text);
}

/* Names in the test's folder that start with prefix. */
static int files_like(const char *prefix)
{
    int count = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d));)
        count += !strncmp(entry->d_name, prefix, strlen(prefix));
    closedir(d);
    return count;
}

/* A store of some 100 KiB. */
static const char *store_of(const char *name, uint32_t runs)
{
    const char *path = file_named(name);
    struct store *s = open_store(path, STORE_WRITE);
    for (uint32_t i = 0; i < runs; i++)
        put(s,
            record_of(
                i,
                "{\"cycles\": 5, \"lanes\": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]}",
                NULL));
    store_close(s);
    return path;
}

static void write_bytes(const char *path, off_t at, const void *bytes, size_t count)
{
    int fd = open(path, O_RDWR | O_CREAT, 0644);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, count, at), (ssize_t)count);
    close(fd);
}

static void copy_file(const char *from, const char *to)
{
    char command[500];
    snprintf(command, sizeof command, "cp '%s' '%s'", from, to);
    assert_int_equal(system(command), 0);
}

static void other_files_are_told_apart(void **state)
{
    (void)state;
    const char *path = file_named("text.db");
    refused(path, STORE_READ, "there is no such file");
    assert_int_equal(files_like("text.db"), 0);
    write_bytes(path, 0, "[experiment]\nname = not a database at all\n", 42);
    refused(path, STORE_READ, "is not a results store");
    refused(path, STORE_WRITE, "is not a results store");
    assert_int_equal(files_like("text.db"), 1);
    refused(folder, STORE_READ, "is a folder");
    refused(folder, STORE_WRITE, "is a folder");
    refused("", STORE_WRITE, "not the name of a file");
    refused(file_named("no/such/folder.db"), STORE_WRITE, "No such file or directory");

    path = file_named("empty.db");
    write_bytes(path, 0, "", 0);
    refused(path, STORE_READ, "is empty");
    struct store *s = open_store(path, STORE_WRITE);
    put(s, record_of(1, "{}", NULL));
    store_close(s);

    sqlite3 *db;
    path = file_named("foreign.db");
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE run (x); INSERT INTO run VALUES (1)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    refused(path, STORE_READ, "of another program");
    refused(path, STORE_WRITE, "of another program");

    path = file_named("later.db");
    store_close(open_store(path, STORE_WRITE));
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 3", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    refused(path, STORE_READ, "written by a later Heddle");
    refused(path, STORE_WRITE, "written by a later Heddle");
}

static void damage_is_said_with_a_way_out(void **state)
{
    (void)state;
    char garbage[8192];
    uint32_t runs;
    struct stat st;
    memset(garbage, 0xa5, sizeof garbage);
    const char *path = store_of("middle.db", 100);
    assert_int_equal(stat(path, &st), 0);
    for (off_t at = 8192; at < st.st_size; at += 3 * 8192) /* the first pages are the tables' definitions */
        write_bytes(path, at, garbage, sizeof garbage);
    struct error e = {0};
    struct store *s = store_open(path, STORE_READ, &e);
    assert_false(s && read_everything(s, &runs, &e));
    assert_non_null(strstr(e.text, "is damaged"));
    assert_non_null(strstr(e.text, "--rescue"));
    store_close(s);

    path = store_of("first.db", 10);
    write_bytes(path, 100, garbage, 3000);
    refused(path, STORE_READ, "--rescue");
    refused(path, STORE_WRITE, "--rescue");

    /* Cut anywhere, it is refused or found damaged; only what is whole is read. */
    path = store_of("cut.db", 100);
    assert_int_equal(stat(path, &st), 0);
    for (off_t size = st.st_size - 4096; size > 0; size -= size > 8192 ? 12288 : 1500) {
        struct error cut = {0};
        assert_int_equal(truncate(path, size), 0);
        s = store_open(path, STORE_READ, &cut);
        assert_false(s && read_everything(s, &runs, &cut));
        if (!strstr(cut.text, "is damaged"))
            fail_msg("cut to %ld: %s", (long)size, cut.text);
        store_close(s);
    }
    assert_int_equal(files_like("cut.db"), 1);
}

/* Each run of a rescued store is whole: 21 metrics, those of its launch, and the launch. */
static void assert_whole(const char *path, uint32_t runs)
{
    char expected[60];
    struct store *s = open_store(path, STORE_READ);
    snprintf(expected, sizeof expected, "integer %u", runs);
    assert_string_equal(ask(s, "SELECT count(*) FROM run"), expected);
    assert_string_equal(ask(s, "SELECT count(*) FROM run r WHERE (SELECT count(*) FROM metrics m WHERE m.key = r.key) "
                               "<> 23 OR (SELECT count(*) FROM kernel k WHERE k.run = r.id) <> 1"),
                        "integer 0");
    assert_string_equal(ask(s, "PRAGMA integrity_check"), "text ok");
    assert_string_equal(ask(s, "PRAGMA foreign_key_check"), "nothing");
    store_close(s);
}

/* Every page of a store damaged in turn: what is saved is whole, and no run is gone without being counted. */
static void rescue_saves_whole_runs(void **state)
{
    (void)state;
    enum { RUNS = 60 };
    char garbage[4096] = {0};
    struct stat st;
    char good[128], hurt[128], to[128];
    strcpy(good, store_of("good.db", RUNS));
    strcpy(hurt, file_named("hurt.db"));
    strcpy(to, file_named("saved.db"));
    uint32_t rescued = 0, refused_pages = 0, named = 0;
    assert_int_equal(stat(good, &st), 0);
    for (off_t page = 0; page < st.st_size / 4096; page++) {
        struct store_rescued saved;
        struct error e = {0};
        copy_file(good, hurt);
        write_bytes(hurt, 4096 * page, garbage, sizeof garbage);
        unlink(to);
        if (!store_rescue(hurt, to, &saved, &e)) {
            refused_pages++;
            continue;
        }
        assert_true(saved.runs + saved.lost <= RUNS);
        assert_whole(to, saved.runs);
        rescued += saved.runs;
        for (uint32_t i = 0; i < saved.page_count && i < STORE_PAGES_NAMED; i++)
            named += saved.pages[i] == (uint32_t)page + 1;
    }
    print_message("%ld pages: nothing saved at %u of them, %.1f of %d runs at the others\n", (long)(st.st_size / 4096),
                  refused_pages, (double)rescued / (double)(st.st_size / 4096 - refused_pages), RUNS);
    assert_true(refused_pages >= 1 && refused_pages <= 3);
    print_message("the damaged page is named for %u of them\n", named);
    assert_true(named >
                (uint32_t)(st.st_size / 4096) * 3 / 4); /* of a chain of overflow pages, where the chain begins is */
    assert_true(rescued > RUNS / 2 * (uint32_t)(st.st_size / 4096 - refused_pages));

    struct store_rescued saved;
    struct error e = {0};
    assert_false(store_rescue(good, hurt, &saved, &e));
    assert_non_null(strstr(e.text, "is there already"));
    memset(&e, 0, sizeof e);
    unlink(to);
    assert_true(store_rescue(good, to, &saved, &e));
    assert_int_equal(saved.runs, RUNS);
    assert_int_equal(saved.lost, 0);
    assert_int_equal(saved.page_count, 0);
}

static void full_file_loses_nothing(void **state)
{
    (void)state;
    const char *path = store_of("full.db", 50);
    struct store *s = open_store(path, STORE_WRITE);
    struct error e = {0};
    bool added = true;
    uint32_t runs, stored = 50;
    int pages;
    assert_int_equal(sscanf(ask(s, "PRAGMA page_count"), "integer %d", &pages), 1);
    char limit[60];
    snprintf(limit, sizeof limit, "PRAGMA max_page_count = %d", pages + 3);
    assert_int_equal(sqlite3_exec(s->db, limit, NULL, NULL, NULL), SQLITE_OK);
    while (added) {
        json_t *record = record_of(
            stored,
            "{\"cycles\": 5, \"lanes\": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]}",
            NULL);
        stored += store_put(s, record, &added, &e);
        json_decref(record);
    }
    assert_non_null(strstr(e.text, "no space left"));
    assert_true(stored > 50 && stored < 1000);
    memset(&e, 0, sizeof e);
    assert_true(read_everything(s, &runs, &e)); /* the same store goes on */
    assert_int_equal(runs, stored);
    assert_int_equal(sqlite3_exec(s->db, "PRAGMA max_page_count = 100000", NULL, NULL, NULL), SQLITE_OK);
    assert_true(put(s, record_of(stored, "{\"cycles\": 5}", NULL)));
    store_close(s);
    s = open_store(path, STORE_READ);
    assert_true(read_everything(s, &runs, &e));
    assert_int_equal(runs, stored + 1);
    assert_string_equal(ask(s, "PRAGMA integrity_check"), "text ok");
    store_close(s);
}

/* ---- processes ---- */

/* Runs act in a child; its exit status. The children end with _exit: cmocka is the parent's. */
static int in_child(int (*act)(const char *path), const char *path)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        _exit(act(path));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int try_to_write(const char *path)
{
    struct error e = {0};
    struct store *s = store_open(path, STORE_WRITE, &e);
    char expected[200], host[100] = "";
    gethostname(host, sizeof host - 1);
    snprintf(expected, sizeof expected,
             "%s is being written by process %ld on %s; wait for it, or use another file (-o)", path, (long)getppid(),
             host);
    if (s) {
        store_close(s);
        return 1;
    }
    return strcmp(e.text, expected) ? 2 : 0;
}

static int try_to_read(const char *path)
{
    struct error e = {0};
    uint32_t runs;
    struct store *s = store_open(path, STORE_READ, &e);
    if (!s || !read_everything(s, &runs, &e)) {
        fprintf(stderr, "%s\n", e.text);
        return 255;
    }
    store_close(s);
    return (int)runs;
}

static void one_writer_many_readers(void **state)
{
    (void)state;
    const char *path = file_named("shared.db");
    char lock[200], link[200];
    struct store *s = open_store(path, STORE_WRITE);
    put(s, record_of(1, "{}", NULL));
    assert_int_equal(in_child(try_to_write, path), 0);
    assert_int_equal(in_child(try_to_read, path), 1);
    put(s, record_of(2, "{}", NULL));
    assert_int_equal(in_child(try_to_read, path), 2);
    assert_int_equal(in_child(try_to_write, path), 0); /* the refused one has not taken the lock away */
    assert_true(store_begin(s, NULL));                 /* in the middle of a write */
    assert_int_equal(in_child(try_to_read, path), 2);
    store_end(s, false, NULL);
    snprintf(link, sizeof link, "%s/other-name.db", folder);
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(in_child(try_to_write, link), 0); /* the same file under another name */
    store_close(s);
    assert_int_equal(files_like("shared.db"), 1); /* no lock, no WAL */

    snprintf(lock, sizeof lock, "%s.lock", path); /* left by one that was killed */
    write_bytes(lock, 0, "1 elsewhere\n", 12);
    s = open_store(path, STORE_WRITE);
    assert_int_equal(in_child(try_to_write, path), 0);
    store_close(s);
    assert_int_equal(in_child(try_to_read, path), 2);
    assert_int_equal(files_like("shared.db"), 1);
}

/* Puts runs until it is killed, and says each that was stored on its standard output. */
static void write_for_ever(const char *path, int to)
{
    struct error e = {0};
    struct store *s = store_open(path, STORE_WRITE, &e);
    bool added = s;
    for (uint32_t i = 0; added; i++) {
        json_t *record = record_of(i, "{\"cycles\": 5, \"lanes\": [1, 2, 3, 4, 5, 6, 7, 8]}", NULL);
        if (!store_put(s, record, &added, &e) || write(to, "x", 1) != 1)
            break;
        json_decref(record);
    }
    _exit(1);
}

static void killed_writer_loses_nothing(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) {
        char name[40];
        int ends[2], status;
        snprintf(name, sizeof name, "killed%d.db", round);
        const char *path = file_named(name);
        assert_int_equal(pipe(ends), 0);
        fflush(NULL);
        pid_t pid = fork();
        if (pid == 0)
            write_for_ever(path, ends[1]);
        close(ends[1]);
        int said = 0;
        char byte;
        while (said < 20 + 30 * round && read(ends[0], &byte, 1) == 1)
            said++;
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        assert_int_equal(WTERMSIG(status), SIGKILL);
        while (read(ends[0], &byte, 1) == 1)
            said++;
        close(ends[0]);
        int runs = in_child(try_to_read, path);
        assert_in_range(runs, said, said + 1); /* one may have been stored and not been said */
        struct store *s = open_store(path, STORE_WRITE);
        assert_string_equal(ask(s, "PRAGMA integrity_check"), "text ok");
        assert_string_equal(ask(s, "PRAGMA foreign_key_check"), "nothing");
        assert_true(put(s, record_of(100000, "{}", NULL)));
        store_close(s);
    }
}

/* As somebody whom permissions hold: root is not. */
static bool become_nobody(void)
{
    return geteuid() != 0 || (setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
}

static int nobody_reads(const char *path) { return become_nobody() ? try_to_read(path) : 254; }

static int nobody_writes(const char *path)
{
    struct error e = {0};
    struct store *s = become_nobody() ? store_open(path, STORE_WRITE, &e) : NULL;
    if (s)
        return 1;
    return strstr(e.text, "cannot write") && strstr(e.text, "use another file (-o)") ? 0 : 2;
}

static int nobody_is_told_of_the_wal(const char *path)
{
    struct error e = {0};
    struct store *s = become_nobody() ? store_open(path, STORE_READ, &e) : NULL;
    if (s)
        return 1;
    return strstr(e.text, "-wal") ? 0 : 2;
}

static void folder_that_cannot_be_written(void **state)
{
    (void)state;
    char closed[100], path[200], from[210], to[200];
    snprintf(closed, sizeof closed, "%s/closed", folder);
    assert_int_equal(mkdir(closed, 0755), 0);
    assert_int_equal(chmod(folder, 0755), 0);
    store_of("closed/a.db", 3);
    snprintf(path, sizeof path, "%s/closed/a.db", folder);
    assert_int_equal(chmod(closed, 0555), 0);
    assert_int_equal(in_child(nobody_reads, path), 3);
    assert_int_equal(in_child(nobody_writes, path), 0);
    snprintf(path, sizeof path, "%s/closed/new.db", folder);
    assert_int_equal(in_child(nobody_writes, path), 0);
    assert_int_equal(chmod(closed, 0755), 0);

    /* The store of somebody else who writes it at this moment: its WAL and shared memory are there, and can be read. */
    snprintf(path, sizeof path, "%s/closed/a.db", folder);
    struct store *s = open_store(path, STORE_WRITE);
    put(s, record_of(50, "{}", NULL));
    assert_int_equal(chmod(closed, 0555), 0);
    assert_int_equal(in_child(nobody_reads, path), 4);
    assert_int_equal(chmod(closed, 0755), 0);

    /* A copy with its WAL, but without shared memory: runs would be missing without a word. */
    snprintf(to, sizeof to, "%s/closed/b.db", folder);
    copy_file(path, to);
    snprintf(from, sizeof from, "%s-wal", path);
    snprintf(to, sizeof to, "%s/closed/b.db-wal", folder);
    copy_file(from, to);
    snprintf(to, sizeof to, "%s/closed/b.db", folder);
    assert_int_equal(chmod(closed, 0555), 0);
    assert_int_equal(in_child(nobody_is_told_of_the_wal, to), 0);
    assert_int_equal(chmod(closed, 0755), 0);
    store_close(s);

    /* The folder is open, the file is not. */
    assert_int_equal(chmod(closed, 0777), 0);
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(in_child(nobody_writes, path), 0);
    assert_int_equal(in_child(nobody_reads, path), 4);
    assert_int_equal(chmod(path, 0644), 0);
}

/* A store as version 1 had it: without the column for probes. */
static const char *old_store(const char *name)
{
    const char *path = store_of(name, 3);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "ALTER TABLE run DROP COLUMN probes; PRAGMA user_version = 1", NULL, NULL, NULL),
                     SQLITE_OK);
    sqlite3_close(db);
    return path;
}

static void earlier_versions_open_as_before(void **state)
{
    (void)state;
    const char *path = old_store("old.db");
    struct error e = {0};
    struct store_rescued rescued;
    uint32_t runs;
    struct store *s = open_store(path, STORE_READ);
    assert_true(read_everything(s, &runs, &e));
    assert_int_equal(runs, 3);
    assert_true(store_write_csv(s, file_named("old-csv"), &e));
    assert_string_equal(ask(s, "PRAGMA user_version"), "integer 1"); /* a reader changes nothing */
    store_close(s);
    if (!store_rescue(path, file_named("old-rescued.db"), &rescued, &e))
        fail_msg("%s", e.text);
    assert_int_equal(rescued.runs, 3);
    s = open_store(path, STORE_WRITE);
    assert_string_equal(ask(s, "PRAGMA user_version"), "integer 2");
    assert_true(put(s, record_of(9, "{}", "{\"probes\": [\"loads\", \"trips:line=128\"]}")));
    assert_string_equal(ask(s, "SELECT group_concat(probes, '|') FROM (SELECT probes FROM run ORDER BY id)"),
                        "text |||loads trips:line=128");
    store_close(s);
    s = open_store(path, STORE_READ);
    assert_true(read_everything(s, &runs, &e));
    assert_int_equal(runs, 4);
    store_close(s);
}

static void odd_names(void **state)
{
    (void)state;
    static const char *const names[] = {"with space.db", "100%?#.db", ":memory:", "it's.db"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        store_of(names[i], 2);
        assert_int_equal(files_like(names[i]), 1);
        assert_int_equal(in_child(try_to_read, file_named(names[i])), 2);
    }
    assert_int_equal(chdir(folder), 0);
    struct store *s = open_store(":memory:", STORE_WRITE);
    assert_false(put(s, record_of(1, "{}", NULL)));
    store_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_files_are_told_apart),
        cmocka_unit_test(damage_is_said_with_a_way_out),
        cmocka_unit_test(rescue_saves_whole_runs),
        cmocka_unit_test(full_file_loses_nothing),
        cmocka_unit_test(one_writer_many_readers),
        cmocka_unit_test(killed_writer_loses_nothing),
        cmocka_unit_test(folder_that_cannot_be_written),
        cmocka_unit_test(earlier_versions_open_as_before),
        cmocka_unit_test(odd_names),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
