/* Ends a process that gets no further; see watchdog.h. */
#include "base/watchdog.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/message.h"
#include "base/status.h"

/* The time is told by so many alarms: of those that come due while the process is suspended the
 * system delivers one. */
enum { ALARMS = 10 };

static volatile sig_atomic_t alarms;
static int patience; /* alarms without progress; one rank's line is enough, so that not all have the
                        same */
static char last_words[512]; /* made beforehand: a signal handler cannot print numbers */

static void on_alarm(int number)
{
    (void)number;
    if (++alarms <= patience)
        return;
    const ssize_t ignored = write(STDERR_FILENO, last_words, strlen(last_words));
    (void)ignored;
    _exit(STATUS_MACHINE);
}

static void set_timer(double seconds)
{
    struct itimerval timer = {{0, 0}, {0, 0}};
    timer.it_interval.tv_sec = (time_t)seconds;
    timer.it_interval.tv_usec = (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6);
    timer.it_value = timer.it_interval;
    setitimer(ITIMER_REAL, &timer, NULL);
}

void watchdog_start(double seconds)
{
    char host[256] = "?";
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    if (seconds <= 0)
        return;
    gethostname(host, sizeof host - 1);
    snprintf(last_words, sizeof last_words,
             "tagflow: rank %d on %s: no progress for %g s (check.hang): a rank, a device or a "
             "file system hangs; giving up\n",
             message_rank(), host, seconds);
    alarms = 0;
    patience = ALARMS + (message_rank() < 2 ? message_rank() : 2);
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    set_timer(seconds / ALARMS > 0.01 ? seconds / ALARMS : 0.01);
}

void watchdog_progress(void)
{
    alarms = 0;
}
