/* Threads of the ranks; see threads.h. */
#include "run/threads.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/launcher.h"
#include "base/message.h"

/* Cells of the box for each thread after the first. Measured with two threads beside one (fp32):
 * half the speed with 12^3 cells, 0.8 to 1.5 times with 16^3, 1.6 times and more from 20^3 on. */
static const double cells_a_thread = 8192;
/* The range of run.threads. */
static const int most_threads = 1024;

/* OMP_NUM_THREADS, of a list its first number; 0: not given. */
static int threads_of_environment(void)
{
    const char *const text = getenv("OMP_NUM_THREADS");
    char *end;
    const long number = text ? strtol(text, &end, 10) : 0;
    return text && end != text && (!*end || *end == ',') && number > 0 && number <= most_threads
               ? (int)number
               : 0;
}

void threads_choose(struct flow_case *c, MPI_Comm comm, struct threads *t)
{
    int ranks, given = threads_of_environment();
    MPI_Comm_size(comm, &ranks);
    cores_find(comm, &t->cores);
    MPI_Allreduce(MPI_IN_PLACE, &given, 1, MPI_INT, MPI_MIN, comm);
    const double cells = (double)c->cells[0] * c->cells[1] * c->cells[2] / ranks;
    const int fill =
        cells < cells_a_thread * most_threads ? (int)(cells / cells_a_thread) + 1 : most_threads;
    t->by = THREADS_BY_CASE;
    if (c->run.threads)
        return;
    t->by = given                   ? THREADS_BY_ENVIRONMENT
            : fill < t->cores.share ? THREADS_BY_CELLS
                                    : THREADS_BY_CORES;
    c->run.threads = given ? given : fill < t->cores.share ? fill : t->cores.share;
    if (c->run.threads > most_threads)
        c->run.threads = most_threads;
}

static const char *plural(int count)
{
    return count == 1 ? "" : "s";
}

void threads_say(const struct threads *t, int threads)
{
    const struct cores *const k = &t->cores;
    const int used = threads * k->ranks;
    char how[64] = "", more[256] = "";
    if (threads > k->own)
        warn("threads_over_cores", "each rank has %d thread%s, but may use %d core%s (%s)", threads,
             plural(threads), k->own, plural(k->own),
             launcher_is_openmpi() ? "mpirun --bind-to none, or run.threads: auto"
                                   : "run.threads: auto gives each core one");
    else if (used > k->allowed)
        warn("cores_shared",
             "%d rank%s of %d thread%s on %d core%s of this host: fewer would be faster", k->ranks,
             plural(k->ranks), threads, plural(threads), k->allowed, plural(k->allowed));
    if (used >= k->host)
        return;
    if (k->ranks > 1)
        snprintf(how, sizeof how, " by %d ranks of %d thread%s", k->ranks, threads,
                 plural(threads));
    if (t->by == THREADS_BY_CELLS)
        snprintf(more, sizeof more, "more would not make so small a box faster");
    else if (used < k->allowed && t->by == THREADS_BY_ENVIRONMENT)
        snprintf(more, sizeof more, "without OMP_NUM_THREADS it uses %d", k->share * k->ranks);
    else if (used < k->allowed && t->by == THREADS_BY_CASE)
        snprintf(more, sizeof more, "run.threads: %d; auto would use %d", threads,
                 k->share * k->ranks);
    else if (used < k->allowed)
        snprintf(more, sizeof more, "the others do not divide among the ranks");
    else if (launcher_is_openmpi() && k->own < k->host)
        snprintf(more, sizeof more,
                 "mpirun gives them no more; mpirun --bind-to none does, or tagflow launch "
                 "in place of mpirun");
    else
        snprintf(more, sizeof more, "this job may use no more");
    say("cores: uses %d of %d%s (%s)", used, k->host, how, more);
}
