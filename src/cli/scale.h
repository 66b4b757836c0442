/* Cost of a step of a run on all its ranks: for `check`. */
#ifndef TAGFLOW_SCALE_H
#define TAGFLOW_SCALE_H

#include <jansson.h>

#include "cli/parts.h"
#include "predict/model.h"

struct checked_levels;
struct scale {
    const struct parts *parts; /* of level 0 */
    const struct checked_levels *levels;
    bool refined; /* there are several */
    struct cluster cluster;
    bool machine;                       /* the user gave a machine file */
    double dense, sparse, lists;        /* of all ranks, see struct needs */
    double bytes, largest, listed;      /* of all ranks; of the rank that needs most; its lists */
    int longest[3];                     /* block along each axis */
    double updates;                     /* of fluid cells in a step of level 0, of all ranks */
    double fluid_cells;                 /* of all ranks and levels */
    double stored;                      /* bytes without lists, as each level stores them */
    double seams;                       /* bytes of the edges of levels, of all ranks */
    double remembered, most_remembered; /* bytes of averages, of all ranks and of one */
    double most;                        /* bytes of the rank that needs most, averages included */
    double largest_on_gpu, most_on_gpu; /* the same on GPUs, without averages and with them */
    double most_cells;                  /* of a rank's block and level on GPUs, with padding */
    struct load sends;                  /* of the rank that sends most */
    struct load mean;                   /* of a rank */
    struct load slowest;                /* of the rank whose step takes longest */
    struct model_step step;             /* of this rank */
    double checkpoint;                  /* bytes of a checkpoint */
};

/* The costs of a level. Cells of loads are fluid ones: what is solid takes no time. */
void scale_find(struct scale *s, const struct parts *p, const struct cluster *cluster,
                bool machine);

/* Bytes of all populations of a cell. */
double scale_populations(const struct flow_case *c);

/* Lattice updates a second of all ranks by the model, and the share of the devices' rate. */
double scale_rate(const struct scale *s);
double scale_efficiency(const struct scale *s);

/* Lattice updates a second that a rank is assumed to do without a machine file, and the seconds of
 * so many steps, by the model or at this rate. */
double scale_assumed_rate(const struct flow_case *c);
double scale_seconds(const struct scale *s, double steps);

/* Load imbalance in time: levels run one after the other. 1 if it is not known. */
double scale_imbalance(const struct scale *s);

/* Has this node room for all ranks, has a device of the machine file room for one? */
bool scale_fits_node(const struct scale *s);
bool scale_fits_device(const struct scale *s);

/* Bytes of memory of this node. */
double memory_of_node(void);

/* Shares of the memory of a node and of a device that a run may take. */
#define NODE_SHARE 0.9
#define DEVICE_SHARE 0.95

/* Log messages of a rank in a step; with a machine file the model's step. */
void scale_say_halo(const struct scale *s);
void scale_say_step(const struct scale *s);

/* Write all of it into a file. `path`: of the case; choices: for the entry of that name, to be
 * released. STATUS_MACHINE, reported. */
enum status scale_write(const struct scale *s, json_t *choices, const char *path, const char *file);

/* A number of bytes, or of seconds, as text. */
const char *bytes_text(char *text, size_t size, double bytes);
const char *seconds_text(char *text, size_t size, double seconds);

#endif
