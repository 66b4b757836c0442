/* Where populations live and kernels run: a handful of functions, the same for CPU and GPU.
 *
 * Launches go to one of two queues: work of one queue runs in order, that of different queues may
 * overlap. Memory from `alloc` belongs to the backend and is touched by its kernels and `copy`
 * only. */
#ifndef TAGFLOW_BACKEND_H
#define TAGFLOW_BACKEND_H

#include "case/case.h"
#include "domain/domain.h"
#include "kernel.h"

enum queue { QUEUE_INTERIOR, QUEUE_SHELL };

struct backend {
    const struct backend_type *type;
    char description[128]; /* "cpu, x86-64-v4, 2 threads" */
    enum precision storage, arithmetic;
};

struct backend_type {
    const char *name; /* as --backend and report.json spell it */
    /* Choose a variant for the case. STATUS_MACHINE, reported, when this machine has none. */
    enum status (*open)(struct backend **, const struct flow_case *);
    void (*close)(struct backend *);
    /* Take a view whose tags and rows are final; called once, before the first launch. */
    enum status (*prepare)(struct backend *, const struct view *);
    /* Zeroed memory, or NULL. */
    void *(*alloc)(struct backend *, size_t bytes);
    void (*free)(struct backend *, void *);
    /* Between memory of the host and of the backend, either way; done when it returns. */
    enum status (*copy)(struct backend *, void *to, const void *from, size_t bytes);
    void (*launch)(struct backend *, enum queue, enum kernel, const struct view *,
                   const struct box *, struct task);
    /* Until all work of the queue is done; errors of earlier launches come out here. */
    enum status (*wait)(struct backend *, enum queue);
};

extern const struct backend_type backend_cpu;

#endif
