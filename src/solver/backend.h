/* Where populations live and kernels run: a handful of functions, the same for CPU and GPU.
 *
 * Launches and copies go to one of two queues: work of one queue runs in order, that of different
 * queues may overlap unless `after` orders it, and none of it needs to be done when the call
 * returns: what goes wrong comes out of `wait`. Memory from `alloc` belongs to the backend and is
 * touched by its kernels and copies only, unless `host_memory` says that it is the host's. */
#ifndef TAGFLOW_BACKEND_H
#define TAGFLOW_BACKEND_H

#include "case/case.h"
#include "domain/domain.h"
#include "kernel.h"

enum queue { QUEUE_INTERIOR, QUEUE_SHELL, QUEUES };

/* What a step is made of. `step` is all of it; `exchange` the time from the first message given to
 * MPI to the last one in, during which the interior runs; `wait` that part of it which the host
 * spends in MPI with nothing else to do (a GPU may be busy with the interior then). These are the
 * host's times, the others those of work in queues. */
#define PHASE_LIST(X) X(step) X(interior) X(shell) X(pack) X(exchange) X(unpack) X(wait)
enum phase {
#define X(name) PHASE_##name,
    PHASE_LIST(X)
#undef X
        PHASES
};

struct backend {
    const struct backend_type *type;
    char description[128]; /* "cpu, x86-64-v4, 2 threads" */
    const char *remark;    /* for the log, of what could be better here; NULL: nothing */
    enum precision storage, arithmetic;
    int workers; /* that had better share the work of sums: the threads that there are */
    bool timing; /* phases of the steps that follow are measured */
};

/* What the user asked for. */
struct backend_wanted {
    const struct flow_case *c;
    MPI_Comm comm;
    bool share; /* several ranks may use one device */
};

struct backend_type {
    const char *name;  /* as --backend and report.json spell it */
    bool host_memory;  /* what alloc gives is memory of the host: MPI may send it */
    bool asynchronous; /* launches return before they are done */
    /* Collective, the same on all ranks: is there anything that it could run on? False with a
     * reason; true leaves the reason as it is. */
    bool (*present)(MPI_Comm, char reason[256]);
    /* One line for `info`, without a newline: what kernels and devices there are. */
    void (*describe)(char line[512]);
    /* Choose a device and a variant for the case; collective. STATUS_MACHINE, reported, when this
     * machine has none that will do. */
    enum status (*open)(struct backend **, const struct backend_wanted *);
    void (*close)(struct backend *);
    /* Take a view whose tags and rows are final; called once, before the first launch. */
    enum status (*prepare)(struct backend *, const struct view *);
    /* Zeroed memory, or NULL. */
    void *(*alloc)(struct backend *, size_t bytes);
    void (*free)(struct backend *, void *);
    /* Zeroed memory of the host that `copy` takes, or NULL. */
    void *(*alloc_host)(struct backend *, size_t bytes);
    void (*free_host)(struct backend *, void *);
    /* Bytes of its own memory that are free and that there are in all; 0, 0: not known. */
    void (*memory)(struct backend *, double *free, double *all);
    /* In the queue: a kernel over some boxes, one after the other or at once. */
    void (*launch)(struct backend *, enum queue, enum kernel, const struct view *,
                   const struct work *, int count);
    /* In the queue: between memory from alloc and from alloc_host, either way, or within the
     * former. */
    void (*copy)(struct backend *, enum queue, void *to, const void *from, size_t bytes);
    /* What comes next in the queue waits for all that is in the other until now. */
    void (*after)(struct backend *, enum queue, enum queue other);
    /* Until all work of the queue is done; what went wrong in it comes out here, reported. */
    enum status (*wait)(struct backend *, enum queue);
    /* A phase begins or ends: in the queue, or on the host. */
    void (*phase)(struct backend *, enum queue, enum phase, bool begin);
    /* Seconds of each phase since `timing` was set; after all work is done. */
    void (*phases)(struct backend *, double seconds[PHASES]);
    /* What the device tells of itself. NULL where it never does, false where it does not now:
     * joules used since some moment of its own, without a gap if asked for every few minutes
     * (bench/energy.h makes sense of it), */
    bool (*energy)(const struct backend *, double *joules);
    /* by what name ranks of a host know that they share what `energy` is of, */
    void (*device)(const struct backend *, char name[64]);
    /* clocks of its cores and of its memory now, MHz, */
    bool (*clocks)(const struct backend *, double mhz[2]);
    /* and its driver, "550.54.15". */
    bool (*driver)(const struct backend *, char version[64]);
};

/* Those that this program was built with, the preferred first; NULL at the end. Meson's list. */
extern const struct backend_type *const backends[];
extern const struct backend_type backend_cpu;

/* The backend of that name; "auto": the first that can run here, and why it is not the first of
 * all ("" if it is). Collective. STATUS_USAGE: not built in; STATUS_MACHINE: cannot run here.
 * Both reported. */
enum status backend_choose(const char *name, MPI_Comm comm, const struct backend_type **chosen,
                           char reason[256]);

/* Reports that there are no so many bytes of its memory for that, and how many there are; returns
 * STATUS_MACHINE. */
enum status backend_no_room(struct backend *, double bytes, const char *what);

#endif
