/* Signals as requests to a run; see signals.h. */
#include "base/signals.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t stop, checkpoint;

static void on_stop(int number)
{
    stop = number;
    if (number == SIGINT)
        signal(SIGINT, SIG_DFL);
}

static void on_checkpoint(int number)
{
    (void)number;
    checkpoint = 1;
}

void signals_install(void)
{
    struct sigaction action = {.sa_handler = on_stop, .sa_flags = SA_RESTART}, before;
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGXCPU, &action, NULL);
    if (stop != SIGINT) /* a second one ends the process */
        sigaction(SIGINT, &action, NULL);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) /* nohup */
        sigaction(SIGHUP, &action, NULL);
    action.sa_handler = on_checkpoint;
    sigaction(SIGUSR2, &action, NULL);
}

static const int handled[] = {SIGTERM, SIGUSR1, SIGXCPU, SIGINT, SIGHUP, SIGUSR2};
enum { HANDLED = sizeof handled / sizeof *handled };
static struct sigaction saved[HANDLED];

void signals_save(void)
{
    stop = checkpoint = 0;
    for (int k = 0; k < HANDLED; k++)
        sigaction(handled[k], NULL, &saved[k]);
}

void signals_restore(void)
{
    for (int k = 0; k < HANDLED; k++)
        sigaction(handled[k], &saved[k], NULL);
    stop = checkpoint = 0;
}

int signals_number(void)
{
    return stop;
}

const char *signals_name(int number)
{
    return number == SIGTERM   ? "SIGTERM"
           : number == SIGUSR1 ? "SIGUSR1"
           : number == SIGINT  ? "SIGINT"
           : number == SIGHUP  ? "SIGHUP"
           : number == SIGXCPU ? "SIGXCPU"
                               : NULL;
}

const char *signals_stop(void)
{
    return signals_name(stop);
}

bool signals_checkpoint(void)
{
    if (!checkpoint)
        return false;
    checkpoint = 0; /* reset after the test: this request covers a signal in between */
    return true;
}
