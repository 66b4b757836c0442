/* What signals ask of a run; see signals.h. */
#include "run/signals.h"

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
    struct sigaction action = {.sa_handler = on_stop, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    action.sa_handler = on_checkpoint;
    sigaction(SIGUSR2, &action, NULL);
}

const char *signals_stop(void)
{
    return stop == SIGTERM   ? "SIGTERM"
           : stop == SIGUSR1 ? "SIGUSR1"
           : stop == SIGINT  ? "SIGINT"
                             : NULL;
}

bool signals_checkpoint(void)
{
    const bool asked = checkpoint;
    checkpoint = 0;
    return asked;
}
