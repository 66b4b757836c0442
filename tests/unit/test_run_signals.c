/* Signals: none that asks for a checkpoint is lost, and SIGHUP stays ignored where it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/signals.h"

/* The child: looks whether it was asked for a checkpoint, between two stops, and once more. */
static void look(void)
{
    signals_install();
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(2);
    raise(SIGSTOP);
    const bool first = signals_checkpoint();
    raise(SIGSTOP);
    _exit(first || signals_checkpoint());
}

/* SIGUSR2 reaches it after so many instructions behind the first stop. Its exit status, or -1: it
 * came to the second stop before. */
static int asked_after(int instructions)
{
    int how;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        look();
    assert_int_equal(waitpid(child, &how, 0), child);
    for (int k = 0; k < instructions && WIFSTOPPED(how); k++) {
        assert_int_equal(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), 0);
        assert_int_equal(waitpid(child, &how, 0), child);
        if (WIFSTOPPED(how) && WSTOPSIG(how) != SIGTRAP) {
            kill(child, SIGKILL);
            assert_int_equal(waitpid(child, &how, 0), child);
            return -1;
        }
    }
    for (int signal = SIGUSR2; WIFSTOPPED(how); signal = 0) {
        assert_int_equal(ptrace(PTRACE_CONT, child, NULL, (void *)(intptr_t)signal), 0);
        assert_int_equal(waitpid(child, &how, 0), child);
    }
    assert_true(WIFEXITED(how));
    return WEXITSTATUS(how);
}

/* Between any two instructions of the look. */
static void no_signal_for_a_checkpoint_is_lost(void **state)
{
    (void)state;
    int seen, count = 0;
    if (asked_after(0) == 2)
        skip(); /* nothing may be traced here */
    while ((seen = asked_after(count)) >= 0) {
        assert_int_equal(seen, 1);
        count++;
    }
    assert_true(count > 5);
}

static void an_ignored_hangup_stays_ignored(void **state)
{
    (void)state;
    struct sigaction now;
    signal(SIGHUP, SIG_IGN);
    signals_install();
    assert_int_equal(sigaction(SIGHUP, NULL, &now), 0);
    assert_true(now.sa_handler == SIG_IGN);
    signal(SIGHUP, SIG_DFL);
    signals_install();
    raise(SIGHUP);
    assert_string_equal(signals_stop(), "SIGHUP");
}

/* Signals that come before MPI_Init(), after which handlers are installed once more. */
static void a_stop_outlives_a_second_installation(void **state)
{
    (void)state;
    struct sigaction now;
    static const int stops[] = {SIGTERM, SIGUSR1, SIGHUP, SIGXCPU, SIGINT};
    for (size_t k = 0; k < sizeof stops / sizeof *stops; k++) {
        signals_install();
        raise(stops[k]);
        signals_install();
        assert_int_equal(signals_number(), stops[k]);
        assert_string_equal(signals_stop(), signals_name(stops[k]));
    }
    assert_int_equal(sigaction(SIGINT, NULL, &now), 0);
    assert_true(now.sa_handler == SIG_DFL); /* a second one ends the process */
    assert_null(signals_name(SIGUSR2));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_signal_for_a_checkpoint_is_lost),
        cmocka_unit_test(an_ignored_hangup_stays_ignored),
        cmocka_unit_test(a_stop_outlives_a_second_installation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
