/* Memory and descriptors of a run; see room.h. */
#include "run/room.h"

#include <dirent.h>
#include <math.h>
#include <sys/resource.h>
#include <time.h>

#include "base/agree.h"
#include "base/memory.h"
#include "base/message.h"
#include "domain/decompose.h"

/* Seconds to wait for memory that a job before this one may still give back. */
enum { PATIENCE = 10 };

int room_average_numbers(const struct case_average *a, bool in_file)
{
    const bool stress = a->of & (1u << AVERAGE_stress), velocity = a->of & (1u << AVERAGE_velocity),
               density = a->of & (1u << AVERAGE_density);
    const struct average_layout l =
        average_layout_scalars(average_layout(velocity, density, stress), (int)(a->scalars << 1));
    return l.components - (in_file && stress && !velocity ? 3 : 0);
}

static double room_averages(const struct flow_case *c, int level, const int *lo, const int n[3])
{
    double bytes = 0;
    for (const struct case_average *a = c->averages; a < c->averages + c->averages_count; a++) {
        double cells = 1;
        for (int axis = 0; axis < 3; axis++) {
            const int halved = case_halved(c, level, axis);
            const int from = a->region.lo[axis] << halved, to = a->region.hi[axis] << halved;
            cells *= lo ? fmax(0, fmin(to, (double)lo[axis] + n[axis]) - fmax(from, lo[axis]))
                        : fmin(to - from, n[axis]);
        }
        bytes += 8.0 * room_average_numbers(a, false) * cells;
    }
    return bytes;
}

double room_remembered(const struct flow_case *c, int level, const int *lo, const int n[3])
{
    int residuals = c->run.stop.given && c->run.stop.of == STOP_residual;
    const double kept = c->solver.storage == PRECISION_fp64 ? sizeof(double) : sizeof(float);
    for (int i = 0; i < c->series_count; i++)
        residuals += c->series[i].kind == SERIES_KIND_residual;
    return residuals * 3 * kept * ((double)n[0] * n[1] * n[2]) + room_averages(c, level, lo, n);
}

static const char *advice(const struct flow_case *c)
{
    return c->solver.storage == PRECISION_fp64 ? "more hosts, fewer cells, or solver.storage: fp32"
           : c->solver.storage == PRECISION_fp32
               ? "more hosts, fewer cells, or solver.storage: fp16"
               : "more hosts, or fewer cells";
}

/* Do the ranks of each host have room for this? remedy: what needs less. */
static enum status check_hosts(double need, const char *what, const char *remedy, MPI_Comm comm)
{
    static const struct timespec second = {.tv_sec = 1};
    struct memory_lack lack;
    bool lacks = memory_lacks(need, comm, &lack);
    for (int k = 0; k < PATIENCE && lacks && lack.need < lack.all; k++) {
        nanosleep(&second, NULL);
        lacks = memory_lacks(need, comm, &lack);
    }
    if (!lacks)
        return STATUS_OK;
    const enum status status = lack.need < lack.all ? STATUS_MACHINE : STATUS_USAGE;
    if (message_rank() != 0)
        return status;
    if (status == STATUS_MACHINE)
        return fail_machine(
            "%s needs %.4g GB on the host %s (%d rank%s), where %.4g of %.4g GB are "
            "free (end what else runs there, or use %s)",
            what, 1e-9 * lack.need, lack.host, lack.ranks, lack.ranks == 1 ? "" : "s",
            1e-9 * lack.available, 1e-9 * lack.all, remedy);
    return fail_user("%s needs %.4g GB on the host %s (%d rank%s), which has %.4g GB (use %s)",
                     what, 1e-9 * lack.need, lack.host, lack.ranks, lack.ranks == 1 ? "" : "s",
                     1e-9 * lack.all, remedy);
}

/* Files that are open now; 0: not known. */
static int open_files(void)
{
    int count = 0;
    DIR *const folder = opendir("/proc/self/fd");
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

/* Rank 0 keeps the files of all series open: it needs a descriptor for each. The usual limit is far
 * below the one up to which a process may raise it. */
static enum status check_files(const struct flow_case *c)
{
    enum { OTHERS = 64 }; /* pictures, snapshots, checkpoint, connections */
    const rlim_t need = (rlim_t)(open_files() + c->series_count + OTHERS);
    struct rlimit limit;
    if (message_rank() != 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= need)
        return STATUS_OK;
    limit.rlim_cur = limit.rlim_max;
    if (limit.rlim_max >= need && setrlimit(RLIMIT_NOFILE, &limit) == 0)
        return STATUS_OK;
    return fail_user("output.series: %d series need %.0f open files, and this process may have "
                     "%.0f (fewer series with more columns each, or a larger `ulimit -Hn`)",
                     c->series_count, (double)need, (double)limit.rlim_max);
}

enum status room_before_tags(const struct flow_case *c, const struct backend_type *type,
                             MPI_Comm comm)
{
    const bool dense = c->run.sparse == SPARSE_never ||
                       (c->run.sparse == SPARSE_auto && c->body_count == 0 && c->levels == 1);
    struct domain d;
    int rank, ranks, cuts[3];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    enum status status = status_agree(comm, check_files(c));
    if (!status)
        status = decompose(c->cells, c->run.ranks, ranks, cuts);
    if (status)
        return status;
    domain_layout(&d, c, cuts, rank);
    domain_align_rows(&d, type->row_bytes);
    if (type->host_memory && dense)
        return check_hosts(solver_bytes(&d) + room_remembered(c, 0, d.lo, d.view.n), "the run",
                           advice(c), comm);
    /* Tags, and kinds before they are on the GPU. */
    const double bytes = type->host_memory ? 1 : c->body_count > 0 ? 3 : 2;
    return check_hosts(bytes * (double)d.view.cells, "the description of the box",
                       "more hosts, or fewer cells", comm);
}

/* Bytes that are still to be allocated for the block. */
static enum status need_of(const struct flow_case *c, const struct domain *d,
                           const struct backend *b, double *need)
{
    const struct view *const v = &d->view;
    double lists = 0;
    *need = solver_bytes(d);
    if (!b->type->host_memory)
        return STATUS_OK;
    *need -= (double)v->cells +
             (double)((v->place_words + Q / 2 * v->link_words) * sizeof *v->place) +
             (double)(v->near.count * sizeof *v->near.cell +
                      v->near.crossings * sizeof *v->near.crossing +
                      (v->near.facing ? v->near.crossings * sizeof *v->near.facing : 0));
    /* Lists of other blocks are small, or of cells that are not fluid, too. */
    const enum status status =
        d->place ? b->type->list_bytes(v, case_threads(c), &lists) : STATUS_OK;
    *need += lists;
    return status;
}

/* Is a rank's device too small? The allocation itself reports that others use too much of it. */
static enum status check_device(const struct flow_case *c, double need, struct backend *b)
{
    double available, all;
    b->type->memory(b, &available, &all);
    if (all <= 0 || need <= all)
        return STATUS_OK;
    return fail_user("rank %d needs %.4g GB on its device, which has %.4g GB (%s; use more ranks, "
                     "fewer cells%s)",
                     message_rank(), 1e-9 * need, 1e-9 * all, b->description,
                     c->solver.storage == PRECISION_fp16 ? "" : ", or a smaller solver.storage");
}

enum status room_check(const struct grid *g)
{
    const struct flow_case *const c = g->level[0].c;
    struct backend *const b = g->level[0].backend;
    const MPI_Comm comm = g->level[0].domain.comm;
    double need = 0;
    enum status status = STATUS_OK;
    for (int l = 0; l < g->levels && !status; l++) {
        double more = 0;
        const struct domain *const d = &g->level[l].domain;
        status = need_of(g->level[l].c, d, g->level[l].backend, &more);
        need += more + room_remembered(c, l, d->lo, d->view.n);
    }
    status = status_agree(comm, status);
    if (status)
        return status;
    return b->type->host_memory ? check_hosts(need, "the run", advice(c), comm)
                                : status_agree(comm, check_device(c, need, b));
}
