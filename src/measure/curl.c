/* Exchange of velocities for the kernels curl and enstrophy; see curl.h. */
#include "measure/curl.h"

#include <stdlib.h>
#include <string.h>

#include "base/agree.h"
#include "base/message.h"

/* Velocities of the layer beside the neighbour in a direction, packed. */
static enum status layer_of(struct solver *s, int direction, double *out)
{
    const struct box box = domain_layer(&s->view, direction, false);
    struct box piece;
    struct fetch f;
    const double *flow;
    for (fetch_start(&f, s, KERNEL_flow, &box); (flow = fetch_next(&f, &piece));)
        for (size_t cells = box_cells(&piece); cells > 0; cells--, out += 3, flow += 4)
            memcpy(out, flow + 1, 3 * sizeof *out);
    return fetch_end(&f);
}

/* The direction that leaves through a face: 1 is +x, 2 is -x, .. */
static int outward_of(int face)
{
    return 2 * (face / 2) + (face % 2 ? 1 : 2);
}

/* Sends the layer at a face to the neighbour there, and receives the layer beyond the opposite
 * face. */
static enum status exchange_layer(struct solver *s, int face, double *mine)
{
    const struct domain *const d = s->domain;
    const int direction = outward_of(face);
    const int to = d->neighbour[direction], from = d->neighbour[opposite(direction)];
    const bool any = to != MPI_PROC_NULL || from != MPI_PROC_NULL;
    const size_t cells = layer_first(&s->view, face + 1) - layer_first(&s->view, face);
    /* Fits an int: a halo has 5 populations of each of these cells. */
    const int values = any ? 3 * (int)cells : 0;
    enum status status = STATUS_OK;
    if (to != MPI_PROC_NULL) /* on failure send all the same: the neighbour waits */
        status = layer_of(s, direction, mine);
    MPI_Sendrecv(mine, to == MPI_PROC_NULL ? 0 : values, MPI_DOUBLE, to, direction,
                 s->layers_host + 3 * layer_first(&s->view, face ^ 1),
                 from == MPI_PROC_NULL ? 0 : values, MPI_DOUBLE, from, direction, d->comm,
                 MPI_STATUS_IGNORE);
    return status;
}

enum status curl_prepare(struct solver *s)
{
    struct backend *const b = s->backend;
    const size_t bytes = layers_bytes(&s->view);
    double *const mine =
        s->view.layers ? malloc(bytes / 2) : NULL; /* half of all faces: room for any one */
    enum status status = s->view.layers && !mine
                             ? fail_machine("out of memory for the velocities of neighbours")
                             : STATUS_OK;
    status = status_agree(s->domain->comm, status);
    if (status || !s->view.layers) {
        free(mine);
        return status;
    }
    for (int face = 0; face < 6; face++)
        if (exchange_layer(s, face, mine))
            status = STATUS_MACHINE;
    free(mine);
    if (!status && !b->type->host_memory) {
        b->type->copy(b, QUEUE_INTERIOR, s->view.layers, s->layers_host, bytes);
        status = b->type->wait(b, QUEUE_INTERIOR);
    }
    return status_agree(s->domain->comm, status);
}
