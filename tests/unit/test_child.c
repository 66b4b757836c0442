/* The second process: what it is asked for comes back, and however it ends, the first one knows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/signals.h"
#include "foreign/child.h"

static const char word[] = "--child";

/* What this program does when it is the second process. */
static int be_child(const char *what)
{
    struct child parent;
    char buffer[4096];
    child_begin(&parent);
    puts("what a library says does not come between");
    fflush(stdout);
    if (strcmp(what, "crash") == 0) {
        signal(SIGSEGV, SIG_DFL); /* a sanitizer has its own way to end */
        raise(SIGSEGV);
    }
    if (strcmp(what, "abort") == 0)
        abort();
    if (strcmp(what, "leave") == 0)
        return 7;
    if (strcmp(what, "spin") == 0) {
        child_limit(1 << 30, 0);
        for (volatile int k = 0;; k++)
            continue;
    }
    if (strcmp(what, "wait") == 0)
        for (;;)
            pause();
    if (strcmp(what, "memory") == 0) {
        child_limit(64 << 20, 60);
        void *volatile fits = malloc(32 << 20), *volatile more = malloc(128 << 20);
        buffer[0] = (char)(fits != NULL);
        buffer[1] = (char)(more != NULL);
        child_write(&parent, buffer, 2);
        return 0;
    }
    if (strcmp(what, "files") == 0) {
        int open_files = 0;
        for (int fd = 0; fd < 256; fd++)
            open_files += fcntl(fd, F_GETFD) >= 0;
        child_write(&parent, &open_files, sizeof open_files);
        return 0;
    }
    while (child_read(&parent, buffer, sizeof buffer) == CHILD_THERE)
        if (child_write(&parent, buffer, sizeof buffer) != CHILD_THERE)
            break;
    return 0;
}

static struct child started(const char *what)
{
    struct child c;
    const char *const arguments[] = {"tagflow", word, what, NULL};
    assert_int_equal(child_start(&c, arguments), 0);
    assert_true(c.pid > 0);
    return c;
}

static void what_is_sent_comes_back(void **state)
{
    (void)state;
    char out[4096], in[4096];
    struct child c = started("echo");
    for (int k = 0; k < 300; k++) {
        for (size_t i = 0; i < sizeof out; i++)
            out[i] = (char)(k * 31 + (int)i * 7);
        assert_int_equal(child_write(&c, out, sizeof out), CHILD_THERE);
        assert_int_equal(child_read(&c, in, sizeof in), CHILD_THERE);
        assert_memory_equal(in, out, sizeof in);
    }
    child_end(&c);
    assert_int_equal(c.pid, 0);
    assert_int_equal(child_end(&c), 0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* none is left behind */
}

static void an_end_is_noticed(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        int signal, code;
    } ends[] = {
        {"crash", SIGSEGV, 0}, {"abort", SIGABRT, 0}, {"spin", SIGXCPU, 0}, {"leave", 0, 7}};
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        char byte;
        struct child c = started(ends[k].what);
        assert_int_equal(child_read(&c, &byte, 1), CHILD_ENDED);
        const int how = child_end(&c);
        if (ends[k].signal && !(WIFSIGNALED(how) && WTERMSIG(how) == ends[k].signal))
            fail_msg("%s ends with %x", ends[k].what, (unsigned)how);
        if (!ends[k].signal)
            assert_true(WIFEXITED(how) && WEXITSTATUS(how) == ends[k].code);
    }
    signal(SIGPIPE, SIG_IGN);
    struct child c = started("leave");
    char block[4096] = "";
    while (child_write(&c, block, sizeof block) == CHILD_THERE)
        continue;
    child_end(&c);
}

static void its_memory_has_a_limit(void **state)
{
    (void)state;
    char said[2];
    struct child c = started("memory");
    assert_int_equal(child_read(&c, said, 2), CHILD_THERE);
    child_end(&c);
    assert_int_equal(said[0], 1);
#ifndef __SANITIZE_ADDRESS__
    assert_int_equal(said[1], 0);
#endif
}

static void it_has_no_file_of_the_first_process(void **state)
{
    (void)state;
    int count = 0, kept[20];
    for (int k = 0; k < 20; k++)
        kept[k] = dup(STDERR_FILENO);
    struct child c = started("files");
    assert_int_equal(child_read(&c, &count, sizeof count), CHILD_THERE);
    child_end(&c);
    assert_int_equal(count, 4); /* the three, and the pipe that it answers through */
    for (int k = 0; k < 20; k++)
        close(kept[k]);
}

static void without_more_processes_there_is_none(void **state)
{
    (void)state;
    struct child c;
    const char *const arguments[] = {"tagflow", word, "echo", NULL};
    struct rlimit before, now;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    now = before;
    now.rlim_cur = 5;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
    const int failed = child_start(&c, arguments);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(failed, EMFILE);
    assert_int_equal(child_end(&c), 0);
}

/* The last test: the request stays. The child is not asked, though a batch system sends to all. */
static void a_request_to_stop_ends_the_wait(void **state)
{
    (void)state;
    char byte;
    struct child c = started("wait");
    signals_install();
    kill(c.pid, SIGTERM);
    assert_int_equal(waitpid(c.pid, NULL, WNOHANG), 0);
    assert_null(signals_stop());
    raise(SIGTERM);
    assert_int_equal(child_read(&c, &byte, 1), CHILD_STOPPED);
    assert_int_equal(waitpid(c.pid, NULL, WNOHANG), 0); /* it is still there */
    const int how = child_end(&c);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
}

int main(int count, char **arguments)
{
    if (count == 3 && strcmp(arguments[1], word) == 0)
        return be_child(arguments[2]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_sent_comes_back),
        cmocka_unit_test(an_end_is_noticed),
        cmocka_unit_test(its_memory_has_a_limit),
        cmocka_unit_test(it_has_no_file_of_the_first_process),
        cmocka_unit_test(without_more_processes_there_is_none),
        cmocka_unit_test(a_request_to_stop_ends_the_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
