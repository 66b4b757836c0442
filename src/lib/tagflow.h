/* libtagflow: a run of tagflow inside another program. docs/library.md has an example.
 *
 *     struct tagflow_options options = TAGFLOW_OPTIONS;
 *     struct tagflow_run *run;
 *     options.file = "cavity.yaml";
 *     if (tagflow_open(&options, &run))
 *         return complain(tagflow_error());
 *     while (!tagflow_over(run) && !tagflow_step(run, 100))
 *         look_at(run);
 *     tagflow_close(run);
 *
 * Functions that return int return a TAGFLOW_ status, which is 0 if all is well. They are
 * collective over the ranks of the run: all ranks call them in the same order, with the same
 * arguments, and get the same status. tagflow_error() has the error in one line. A failure in
 * tagflow_step() or tagflow_checkpoint() ends the run: later calls return it again, and
 * tagflow_close() is left. Other failures change nothing.
 *
 * One run at a time is open in a process; one after the other may be. The thread that initialised
 * MPI makes all calls but tagflow_stop(). If the caller has not initialised MPI, tagflow_open()
 * does, and MPI is finalised when the process ends. A caller that does needs MPI_THREAD_FUNNELED.
 *
 * These end the whole job, as in the program: a rank that is lost, or an error of MPI; a call in
 * which nothing happens for check.hang (0: never), for example because a rank did not make it; no
 * memory for a file that the case names, on one rank of several. */
#ifndef TAGFLOW_H
#define TAGFLOW_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. It grows when functions or members are added; what is there keeps
 * its meaning. */
#define TAGFLOW_API 1
int tagflow_api(void);

/* "0.1.0 (commit)" */
const char *tagflow_version(void);

/* The exit status of the program. */
enum tagflow_status {
    TAGFLOW_OK = 0,
    TAGFLOW_MACHINE = 1,  /* the machine failed: memory, disk, device */
    TAGFLOW_USAGE = 2,    /* wrong case, restart file, name or argument */
    TAGFLOW_DIVERGED = 3, /* the flow diverged */
    TAGFLOW_STOPPED = 75, /* stopped early with a good checkpoint */
};

/* The last error of this process, one line without "tagflow: ". On a rank whose neighbour failed it
 * says so. "": there was none. Valid until the next call. */
const char *tagflow_error(void);

/* The number of warnings of the present or last run, and one of them by its number from 0 on: its
 * text and its name (docs/warnings.md). On rank 0; the first 128 are kept. NULL: there is none. */
int tagflow_warnings(void);
const char *tagflow_warning(int number, const char **name);

/* ---- a run ---- */

struct tagflow_run;

struct tagflow_options {
    int api;          /* TAGFLOW_API */
    const char *file; /* the case file, or NULL with: */
    const char *text; /* the text of a case; files that it names are found from this folder */
    int set_count;    /* as --set: */
    const char *const *sets; /* "fluid.reynolds=400"; the last one wins */
    /* The run's folder, with log, reports, outputs and checkpoints. NULL: a temporary one, which
     * tagflow_close() removes; ranks on several hosts need one that all of them see. */
    const char *folder;
    const char *restart; /* "auto", a checkpoint's file, or NULL: from the beginning */
    int overwrite;       /* replace the run that the folder holds */
    const char *backend; /* "auto" (NULL), "cpu" or "cuda" */
    int share_gpu;       /* several ranks may use one GPU */
    const void *comm;    /* address of an MPI_Comm; NULL: MPI_COMM_WORLD. It is duplicated. */
    int echo;            /* print the log and errors, as the program does */
    int signals; /* handle SIGTERM, SIGUSR1, SIGHUP, SIGXCPU, SIGINT (stop) and SIGUSR2 (checkpoint)
                  * as the program does, until tagflow_close() */
    /* Called about ten times a second during tagflow_step(), on each rank. Not 0 on any rank: that
     * call returns TAGFLOW_OK early, on all ranks at the same step. NULL: never. */
    int (*interrupted)(void *own);
    void *own;
};
#define TAGFLOW_OPTIONS                                                                            \
    {                                                                                              \
        .api = TAGFLOW_API                                                                         \
    }

/* Open a run: read the case, make the grid, set up the flow of step 0 or of a checkpoint, and write
 * what is due at this step. Texts are copied. *run is set if TAGFLOW_OK is returned; NULL
 * otherwise. */
int tagflow_open(const struct tagflow_options *options, struct tagflow_run **run);

/* Advance by `steps` steps at most, with all outputs, checks and checkpoints of the case. It ends
 * earlier at the run's last step (run.steps, or run.stop is met), when `interrupted` says so, and
 * with TAGFLOW_STOPPED after tagflow_stop(), a signal or run.time_limit. Long calls are fast: a
 * call for each step costs a message between all ranks. */
int tagflow_step(struct tagflow_run *run, int64_t steps);

/* Write a checkpoint of the present step. */
int tagflow_checkpoint(struct tagflow_run *run);

/* Ask the run to stop: the present or next tagflow_step() writes a checkpoint and returns
 * TAGFLOW_STOPPED. One rank is enough. Not collective; for signal handlers and other threads, too.
 */
void tagflow_stop(struct tagflow_run *run);

/* End the run, and free it and its arrays. A run before its last step gets a checkpoint and counts
 * as stopped, which is TAGFLOW_OK here. Otherwise returns the status with which the run has ended.
 */
int tagflow_close(struct tagflow_run *run);

/* ---- what it says; not collective, no failures ---- */

int tagflow_over(const struct tagflow_run *run); /* are all steps done? */
int64_t tagflow_step_number(const struct tagflow_run *run);
double tagflow_time(const struct tagflow_run *run); /* s, or steps in a case without units */
const char *tagflow_folder(const struct tagflow_run *run);
/* The case with all defaults, in lattice units. */
const char *tagflow_case(const struct tagflow_run *run);
/* 1 without `refine`. */
int tagflow_levels(const struct tagflow_run *run);

/* ---- fields ---- */

/* Numbers of a field in the cells of this rank's block. The library owns them. */
struct tagflow_array {
    void *data;        /* NULL: this rank has no cells of the level */
    int64_t shape[4];  /* z, y, x, components: 3 of a vector, otherwise 1 */
    int64_t stride[4]; /* from one to the next along each axis, in numbers */
    int type;          /* 64: double, 8: uint8_t */
    int64_t bytes;     /* of all numbers */
    int device;        /* memory of GPU number `device`; -1: of the host */
    int64_t first[3];  /* x, y, z: the block's first cell in the whole box, in cells of the level */
    int64_t cells[3];  /* x, y, z: cells of the whole box, of the level */
    double spacing;    /* side of a cell, in m, or in cells of level 0 in a case without units;
                        * along a periodic axis of one cell its side is that of level 0 */
    const char *unit;  /* "m/s"; "" in a case without units */
};

/* A field of a level (0 without `refine`): velocity [3], density, pressure, vorticity [3], tags
 * (index of the cell type: 0 is wall, 1 the fluid outside of `regions`, more follow), or the name
 * of a scalar. Values and units are those of snapshots. Cells that are not fluid have velocity 0,
 * the reference density and pressure 0; cells that a finer level covers have the means of its
 * cells; cells that are not of the level are NaN.
 *
 * The array is filled by this call, and stays so until the field of this level is asked for again,
 * which fills the same memory, or until tagflow_close(). The caller may change the numbers; the
 * flow does not notice. TAGFLOW_USAGE: no such field or level. */
int tagflow_field(struct tagflow_run *run, const char *name, int level,
                  struct tagflow_array *array);

/* The same with memory of the caller, which has array->bytes. tagflow_describe() sets all of *array
 * but `data` and fills nothing. */
int tagflow_describe(struct tagflow_run *run, const char *name, int level,
                     struct tagflow_array *array);
int tagflow_read(struct tagflow_run *run, const char *name, int level, void *data);

/* What the solver's kernels leave in memory of the backend: of a GPU with backend cuda, otherwise
 * of the host. In lattice units, not scaled: "flow" [4], density - 1 and velocity, or the name of a
 * scalar, relative to its reference. Cells that are not fluid, or not of the level, are 0. Lifetime
 * as of tagflow_field(); all work of the library on it is done. */
int tagflow_raw(struct tagflow_run *run, const char *name, int level, struct tagflow_array *array);

/* ---- values ---- */

/* A field at positions at[count][3] in the whole box, in m, or cells of level 0 in a case without
 * units: values[count][components] on all ranks, components as of tagflow_field(). By linear
 * interpolation, as in a series `probe`; NaN where no fluid is near. Not of vorticity and tags.
 * TAGFLOW_USAGE: no such field, or a position out of the box. */
int tagflow_points(struct tagflow_run *run, const char *name, int count, const double *at,
                   double *values);

/* The mean of a field over the fluid of the cells from[a] <= i < to[a] of level 0 (of a scalar:
 * over the cells that hold it), weighted by volume: values[components] on all ranks, with the same
 * bits for every number of them. NULL for both: the whole box. NaN: there are no such cells. Not of
 * tags. */
int tagflow_mean(struct tagflow_run *run, const char *name, const int64_t *from, const int64_t *to,
                 double *values);

/* A column in the last row of a series of the case: "drag.force_x". NaN: this process has not
 * written a row yet. TAGFLOW_USAGE: no such series or column, or a series with several rows a step.
 */
int tagflow_column(struct tagflow_run *run, const char *name, double *value);

/* ---- steering ---- */

/* Set the factor of all values of the case that have `steer` with this name, from the next step on.
 * Checkpoints hold it: a run that goes on from one, here or by the program, has the factor of that
 * step. TAGFLOW_USAGE: no such name, or the factor is out of its range; the old one stays. */
int tagflow_steer(struct tagflow_run *run, const char *name, double factor);

/* The present factor; NaN: there is no such name. Not collective. */
double tagflow_steered(const struct tagflow_run *run, const char *name);

/* ---- bits ---- */

/* The hash of the flow's populations, as in report.json: the same for every number of ranks and
 * threads, instruction set and backend. */
int tagflow_hash(struct tagflow_run *run, uint64_t *hash);

#ifdef __cplusplus
}
#endif

#endif
