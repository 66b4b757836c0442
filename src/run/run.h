/* A run: from the case or a checkpoint to its last step. */
#ifndef TAGFLOW_RUN_H
#define TAGFLOW_RUN_H

#include <mpi.h>

#include "case/case.h"
#include "run/threads.h"
#include "solver/backend.h"

struct run_options {
    const char *dir;       /* the run's folder */
    const char *case_path; /* the file the case came from */
    const char *restart;   /* "auto", a checkpoint's file, or NULL: from the beginning */
    bool overwrite;
    const struct backend_type *backend;
    char backend_reason[256]; /* why this is not the preferred backend, or "" */
    bool share_gpu;           /* several ranks may use one GPU */
    struct threads threads;   /* how c->run.threads came about, see threads_choose() */
};

/* Run the case. Collective; returns the program's exit status, the same on all ranks. */
enum status run_case(const struct flow_case *c, const struct run_options *options, MPI_Comm comm);

#endif
