/* The load of a rank; see load.h. */
#include "predict/load.h"

#include <math.h>

#include "kernel.h"

static const int velocities[Q][3] = LATTICE_VELOCITIES;

/* Bytes that memory moves to read or write the populations of a message where they are stored. In
 * a row along x they are neighbours; a message across x has one cell of each row. */
static double touched(const struct domain *d, int direction, double cells, int sector)
{
    double all = 0;
    for (int k = 0; k < d->view.sets; k++) {
        const double size = d->view.set[k].bits / 8;
        const double count = travellers(direction, d->view.set[k].q), row = d->view.n[0];
        all += velocities[direction][0]
                   ? count * cells * fmax(sector, size)
                   : count * cells / row * (ceil(row * size / sector) + 1) * sector;
    }
    return all;
}

void load_find(struct load *l, const struct domain *d, int per_node, int sector)
{
    struct box shell[6], interior;
    *l = (struct load){0};
    const int shells = domain_shell(d, shell, &interior);
    for (int k = 0; k < shells; k++)
        l->shell += (double)box_cells(&shell[k]);
    l->interior = (double)box_cells(&interior);
    for (int i = 1; i < Q; i++) {
        const struct box layer = domain_layer(&d->view, i, false);
        const size_t cells = box_cells(&layer);
        if (d->neighbour[i] == MPI_PROC_NULL)
            continue;
        const double bytes = (double)message_at(&d->view, i, cells, d->view.sets);
        const bool outside = d->neighbour[i] / per_node != d->rank / per_node;
        l->messages++;
        l->outside_messages += outside;
        *(outside ? &l->outside : &l->inside) += bytes;
        l->packed += bytes + touched(d, i, (double)cells, sector);
    }
}

void load_add(struct load *sum, const struct load *l, double times)
{
    sum->interior += times * l->interior;
    sum->shell += times * l->shell;
    sum->inside += times * l->inside;
    sum->outside += times * l->outside;
    sum->packed += times * l->packed;
}
