/* What the program exchanges, in numbers, for tests/robustness/scaling.py: each line of standard
 * input is
 *
 *     NX NY NZ RANKS PERIODIC     PERIODIC: one digit, 1, 2, 4 for x, y, z added up
 *
 * and answered by "cut PX PY PZ" (or "cut none") and a line for each rank: cells of its interior,
 * of its shell, bytes that it sends in fp32, and of each message direction:rank:populations. RANKS
 * below 0: the cut alone, of -RANKS. No ranks are started: the block of each is laid out here. */
#include <mpi.h>
#include <stdio.h>

#include "base/message.h"
#include "domain/decompose.h"
#include "solver/solver.h"

static enum status say_rank(const struct flow_case *c, const int cuts[3], int rank,
                            struct backend *b)
{
    struct domain d;
    struct exchanges h;
    struct box shell[6], interior;
    size_t cells = 0;
    domain_layout(&d, c, cuts, rank);
    const int shells = domain_shell(&d, shell, &interior);
    for (int k = 0; k < shells; k++)
        cells += box_cells(&shell[k]);
    const enum status status = halo_create(&h, &d, &d.view, b, TRANSPORT_host);
    if (status)
        return status;
    const size_t sent = h.receives ? h.receive[0].at : h.kind[0].bytes; /* received ones follow */
    printf("%zu %zu %zu", box_cells(&interior), cells, sent);
    for (const struct exchange_message *m = h.send; m < h.send + h.sends; m++)
        printf(" %d:%d:%zu", m->number, m->rank, m->bytes / h.size);
    printf("\n");
    exchange_destroy(&h);
    return STATUS_OK;
}

/* A line of input; STATUS_USAGE: it is none. */
static enum status answer(const char *line, struct flow_case *c, struct backend *b)
{
    int ranks, periodic, cuts[3];
    if (sscanf(line, "%d %d %d %d %d", &c->cells[0], &c->cells[1], &c->cells[2], &ranks,
               &periodic) != 5 ||
        ranks == 0 || periodic < 0 || periodic > 7)
        return fail_user("no line of input: %s", line);
    for (int f = 0; f < 6; f++)
        c->faces[f].kind = periodic >> f / 2 & 1 ? FACE_periodic : FACE_wall;
    enum status status =
        decompose(c->cells, (const int[3]){0, 0, 0}, ranks < 0 ? -ranks : ranks, cuts);
    if (status) {
        printf("cut none\n");
        return STATUS_OK;
    }
    printf("cut %d %d %d\n", cuts[0], cuts[1], cuts[2]);
    for (int rank = 0; rank < ranks && !status; rank++)
        status = say_rank(c, cuts, rank, b);
    return status;
}

int main(int count, char **arguments)
{
    static struct flow_case c; /* fp32, and nothing in the box but its faces */
    char line[128];
    struct backend *b = NULL;
    MPI_Init(&count, &arguments);
    c.run.threads = 1;
    const struct backend_wanted wanted = backend_wanted(&c, MPI_COMM_WORLD, false);
    enum status status = backend_cpu.open(&b, &wanted);
    while (!status && fgets(line, sizeof line, stdin))
        status = answer(line, &c, b);
    if (b)
        b->type->close(b);
    MPI_Finalize();
    return (int)status;
}
