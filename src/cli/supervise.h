/* Runs a launcher such as mpirun, and turns the signals that end programs into one that it
 * forwards. */
#ifndef TAGFLOW_SUPERVISE_H
#define TAGFLOW_SUPERVISE_H

/* Runs words[0] with these words (NULL at the end) and waits for it. SIGINT, SIGTERM and SIGHUP, on
 * which launchers kill the ranks, reach it as SIGUSR1, on which the ranks write a checkpoint and
 * end; SIGUSR1 and SIGUSR2 reach it unchanged, and so does a second SIGINT. It is not in the
 * terminal's process group, so Ctrl-C does not reach it otherwise. If this process dies, it gets
 * SIGTERM. Standard input is empty. Returns its exit status; 128 + the number of a signal that
 * ended it; -1 with errno set: not started. */
int supervise(char *const *words);

#endif
