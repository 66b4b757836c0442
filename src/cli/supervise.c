/* See supervise.h. */
#include "cli/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t launcher, interrupts;

static void pass(int number)
{
    const bool again = number == SIGINT && interrupts++ > 0;
    const bool unchanged = number == SIGUSR1 || number == SIGUSR2 || again;
    kill((pid_t)launcher, unchanged ? number : SIGUSR1);
}

/* In the child: becomes the launcher. The pipe tells the parent why it did not. */
static void become(char *const *words, pid_t parent, const sigset_t *mask, int tell)
{
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing > STDIN_FILENO)
        dup2(nothing, STDIN_FILENO);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(1);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(words[0], words);
    const int error = errno;
    _exit(write(tell, &error, sizeof error) == sizeof error ? 127 : 126);
}

/* A signal that is ignored, as under nohup or behind a shell's "&", stays so. */
static void catch (int number)
{
    struct sigaction action = {.sa_handler = pass, .sa_flags = SA_RESTART}, old;
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

int supervise(char *const *words)
{
    static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    enum { CAUGHT = sizeof caught / sizeof *caught };
    int tell[2], error = 0, status = 0;
    sigset_t held, before;
    if (pipe2(tell, O_CLOEXEC))
        return -1;
    /* They wait until there is somebody to pass them to. */
    sigemptyset(&held);
    for (int k = 0; k < CAUGHT; k++)
        sigaddset(&held, caught[k]);
    sigprocmask(SIG_BLOCK, &held, &before);
    const pid_t parent = getpid(), child = fork();
    if (child == 0)
        become(words, parent, &before, tell[1]);
    error = child < 0 ? errno : 0;
    launcher = (sig_atomic_t)child;
    for (int k = 0; child > 0 && k < CAUGHT; k++)
        catch (caught[k]);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(tell[1]);
    if (child > 0 && read(tell[0], &error, sizeof error) != sizeof error)
        error = 0;
    close(tell[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (error) {
        errno = error;
        return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
