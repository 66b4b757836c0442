/* Exit codes of the program, the same on all ranks; functions that can fail return one of them. */
#ifndef TAGFLOW_STATUS_H
#define TAGFLOW_STATUS_H

enum status {
    STATUS_OK = 0,
    STATUS_MACHINE = 1,  /* the machine failed: memory, disk, MPI, device */
    STATUS_USAGE = 2,    /* wrong usage, case or restart file: the user can correct it */
    STATUS_DIVERGED = 3, /* the flow diverged */
    STATUS_STOPPED = 75, /* stopped early with a good checkpoint: submit again */
};

#endif
