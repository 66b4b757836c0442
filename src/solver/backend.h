/* A backend allocates the populations and runs the kernels. The interface is the same for CPU and
 * GPU.
 *
 * Launches and copies go to one of two queues. Work in one queue runs in order; work in different
 * queues may overlap, unless `after` orders it. A call may return before its work is done; `wait`
 * returns the errors of that work. Only the backend's kernels and copies may touch memory from
 * `alloc`, unless `host_memory` is set: then it is memory of the host. */
#ifndef TAGFLOW_BACKEND_H
#define TAGFLOW_BACKEND_H

#include <mpi.h>
#include <stdbool.h>

#include "base/isa.h"
#include "base/precision.h"
#include "base/status.h"
#include "kernel.h"

enum queue { QUEUE_INTERIOR, QUEUE_SHELL, QUEUES };

/* Phases of a step. `step`: the whole step. `exchange`: from the first message given to MPI until
 * the last one has arrived; the interior runs meanwhile; of a sweep the sum over its steps, and the
 * interior runs during the first. `wait`: the part of `exchange` in which
 * the host only waits in MPI (a GPU may be computing the interior). These three are times of the
 * host, the others are times of work in the queues. `seam`: what passes to the next finer level and
 * back, messages included, in PHASE_SEAM_PARTS parts of a step of the coarser level. */
#define PHASE_LIST(X) X(step) X(interior) X(shell) X(pack) X(exchange) X(unpack) X(wait) X(seam)
enum phase {
#define X(name) PHASE_##name,
    PHASE_LIST(X)
#undef X
        PHASES
};
enum { PHASE_SEAM_PARTS = 4 }; /* gather, enter twice, coalesce */

/* Memory that ranks of one host share, and its owner's marks, for backends with `share`. */
enum { PEER_BLOCK = 2 << 20, PEER_ALIGNMENT = 256, PEER_HANDLE = 64, PEER_MARKS = 4 };
struct peer_handle { /* to be sent to that rank */
    char memory[PEER_HANDLE], mark[PEER_MARKS][PEER_HANDLE];
};
struct peer {
    void *memory, *mark[PEER_MARKS];
};

struct backend {
    const struct backend_type *type;
    char description[128]; /* "cpu, x86-64-v4, 2 threads" */
    int number;            /* of its GPU, as this process counts them */
    const char *remark;    /* line for the log: what would run faster here; NULL: none */
    char rows[80]; /* line for the log: how the prepared view's rows lie; empty: nothing to say */
    enum precision storage, arithmetic;
    enum isa isa;  /* of the kernels; ISA_auto: not a CPU's */
    double loaded; /* bytes of device memory that kernels and the stacks of their threads took when
                      they were loaded; 0: none, or not known */
    double lists;  /* bytes for lists of the prepared view's cells; 0: none */
    int workers;   /* best number of workers for sums: the number of threads */
    int sweep;     /* most steps that `sweep` makes at once, of the prepared view */
    bool timing;   /* measure the phases of the next steps */
    bool shares;   /* ranks of a host may use each other's memory */
    /* NULL: no peers are used. Has a peer failed? Then work that waits for its marks may never end,
     * and waiting ends with STATUS_MACHINE, not reported. tell_peers: this backend failed. */
    bool (*peer_failed)(void *peers);
    void (*tell_peers)(void *peers);
    void *peers;
    bool lost; /* one of them failed: nothing is launched, nor freed, as a peer may still use it */
};

/* The user's choices. */
struct backend_wanted {
    enum precision storage, arithmetic;
    enum isa isa;           /* of the CPU's kernels */
    int threads;            /* of the CPU, a rank */
    int sweep;              /* most steps in one sweep over memory; 0: as many as pay */
    struct backend *beside; /* another one of this run, which stays open longer: share its device
                             * and its queues; NULL: none */
    MPI_Comm comm;
    bool share;       /* several ranks may use one device */
    bool peers;       /* ranks of a host may use each other's memory */
    bool lifted_rows; /* of a GPU, if a rank's cells allow it; see slot.h */
};

struct backend_type {
    const char *name;  /* as --backend and report.json spell it */
    bool host_memory;  /* alloc returns memory of the host: MPI may send it */
    bool asynchronous; /* launches return before they are done */
    int row_bytes;     /* long rows of cells begin at multiples of it, see domain_align_rows */
    /* Can this backend run here? Collective, the same answer on all ranks. False: *reason says why
     * not; true: *reason is unchanged. */
    bool (*present)(MPI_Comm, char reason[256]);
    /* One line for `info`, without a newline: its kernels and devices. */
    void (*describe)(char line[512]);
    /* Another line: which devices of this host reach each other's memory, so that halos may go by
     * `share`. Empty: there are no devices. NULL: this backend cannot. */
    void (*describe_peers)(char line[128]);
    /* Chooses a device and a variant for the case; collective. STATUS_MACHINE, reported, when this
     * machine has no suitable one. */
    enum status (*open)(struct backend **, const struct backend_wanted *);
    void (*close)(struct backend *);
    /* Called once, before the first launch, with a view of the host whose arrays are final. Sets
     * *kernels to the view for launches, with arrays in memory that kernels read. The backend owns
     * these arrays until it closes or prepares another view. */
    enum status (*prepare)(struct backend *, const struct view *, struct view *kernels);
    /* The bytes of lists that `prepare` will make of a view; needs no open backend. STATUS_MACHINE,
     * reported. NULL: there are none. */
    enum status (*list_bytes)(const struct view *, int threads, double *bytes);
    /* Zeroed memory, or NULL. slots: the memory holds so many arrays of equal length, with the same
     * cells in the same order (1: anything else). */
    void *(*alloc)(struct backend *, size_t bytes, int slots);
    void (*free)(struct backend *, void *);
    /* Zeroed memory of the host that `copy` accepts, or NULL. */
    void *(*alloc_host)(struct backend *, size_t bytes);
    void (*free_host)(struct backend *, void *);
    /* Free and total bytes of the backend's memory; 0, 0: not known. */
    void (*memory)(struct backend *, double *free, double *all);
    /* In the queue: a kernel over some boxes, one after the other or at once. Boxes of the step
     * divide the block: in place of a box's cells a backend may step as many others of the same
     * rows, with the same cells x = 0 and n - 1. */
    void (*launch)(struct backend *, enum queue, enum kernel, const struct view *,
                   const struct work *, int count);
    /* In the queue of the interior: several steps in one sweep over memory. view: [steps] as from
     * prepare, with the signals of each step; cells: [steps] those that make step k; for k > 0 all
     * but k layers at each exchanged face; odd: parity of the first. Nothing is listed (kernel
     * near) in these steps. NULL: this backend cannot. */
    void (*sweep)(struct backend *, const struct view *, const struct box *cells, int odd,
                  int steps);
    /* In the queue: copies between memory from alloc and memory from alloc_host, in either
     * direction, or within memory from alloc and of peers. */
    void (*copy)(struct backend *, enum queue, void *to, const void *from, size_t bytes);
    /* Later work in the queue waits for all present work in the other queue. */
    void (*after)(struct backend *, enum queue, enum queue other);
    /* Waits until all work of the queue is done; reports and returns the errors of that work. */
    enum status (*wait)(struct backend *, enum queue);
    /* Exports memory from alloc, of a multiple of PEER_BLOCK bytes, and new marks. A mark is a
     * place in a queue that is set again and again. *own: the marks alone; peer_close ends them.
     * False, with a reason: not possible. NULL: this backend cannot. */
    bool (*share)(struct backend *, void *memory, struct peer *own, struct peer_handle *,
                  char why[128]);
    /* Opens what another rank of this host exported. False, with a reason: not possible. */
    bool (*peer_open)(struct backend *, const struct peer_handle *, struct peer *, char why[128]);
    void (*peer_close)(struct backend *, struct peer *);
    /* Waits until the last setting of own mark `reached` is reached, if it was ever set. Then sets
     * own mark `mark` behind all present work of the queue. STATUS_MACHINE, reported, when the
     * backend failed. */
    enum status (*mark)(struct backend *, enum queue, const struct peer *own, int mark,
                        int reached);
    /* Later work in the queue waits until the peer's present setting of its mark is reached. */
    void (*after_peer)(struct backend *, enum queue, const struct peer *, int mark);
    /* A phase begins or ends: in the queue, or on the host. */
    void (*phase)(struct backend *, enum queue, enum phase, bool begin);
    /* Seconds of each phase since `timing` was set; call it after all work is done. */
    void (*phases)(struct backend *, double seconds[PHASES]);
    /* Readings of the device. NULL: this backend never has them; false: not available now.
     *
     * Joules used since an arbitrary fixed moment; without a gap if called every few minutes
     * (bench/energy.h evaluates it). */
    bool (*energy)(const struct backend *, double *joules);
    /* Name of the device that `energy` measures: ranks of a host with equal names share it. */
    void (*device)(const struct backend *, char name[64]);
    /* Present clocks of its cores and of its memory, MHz. */
    bool (*clocks)(const struct backend *, double mhz[2]);
    /* Version of its driver, "550.54.15". */
    bool (*driver)(const struct backend *, char version[64]);
};

/* The backends of this build, the preferred one first, NULL at the end. Meson makes the list. */
extern const struct backend_type *const backends[];
extern const struct backend_type backend_cpu;

/* Sets *chosen to the backend `name`. "auto": the first that can run here; `reason` then says why a
 * preferred one cannot ("": it is the preferred one). Collective. STATUS_USAGE: not built in;
 * STATUS_MACHINE: cannot run here. Both reported. */
enum status backend_choose(const char *name, MPI_Comm comm, const struct backend_type **chosen,
                           char reason[256]);

/* Bytes of memory traffic per lattice update: each population read and written once, and the tag.
 */
double backend_bytes_per_update(const struct backend *);

/* Reports that the backend's memory has no room for `bytes` of `what`, and how much is free.
 * Returns STATUS_MACHINE. */
enum status backend_no_room(struct backend *, double bytes, const char *what);
/* The same of alloc_host. */
enum status backend_no_host_room(double bytes, const char *what);

#endif
