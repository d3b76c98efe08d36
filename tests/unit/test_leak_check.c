/* With sanitizers: does a program that loses memory still fail, though those that give everything back are not searched
 * for leaks (leak_check.c)? The program is this one, called again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;
static char *self;

static bool is_searched_for_leaks(void)
{
#ifdef __SANITIZE_ADDRESS__
    const char *options = getenv("ASAN_OPTIONS");
    return options && strstr(options, "detect_leaks=1");
#else
    return false;
#endif
}

static int run(char *what)
{
    char *arguments[] = {self, what, NULL};
    pid_t pid;
    int status;
    assert_int_equal(posix_spawn(&pid, self, NULL, NULL, arguments, environ), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void gives_back(void **state)
{
    (void)state;
    assert_int_equal(run("give-back"), 0);
}

static void loses(void **state)
{
    (void)state;
    if (!is_searched_for_leaks())
        skip();
    assert_int_not_equal(run("lose"), 0);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(gives_back), cmocka_unit_test(loses)};
    void *volatile memory = argc > 1 ? malloc(100) : NULL;
    if (memory && !strcmp(argv[1], "give-back"))
        free(memory);
    memory = NULL;
    self = argv[0];
    return argc > 1 ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
