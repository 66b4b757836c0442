/* Counts calls to MPI: preloaded into a program (LD_PRELOAD), it writes a file for each rank at the
 * end, with a line for each function: its name, calls, bytes that this rank gives, bytes that it
 * gets. A rank gets from a collective call what it could read afterwards: all of MPI_Allgather, the
 * root's part of MPI_Gather on the root alone.
 *
 *     MPI_COUNTS  files: their names begin so and end in . and the rank */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

#define FUNCTIONS(X)                                                                               \
    X(Allgather)                                                                                   \
    X(Allgatherv) X(Allreduce) X(Alltoall) X(Barrier) X(Bcast) X(Comm_dup) X(Comm_split)           \
        X(Comm_split_type) X(Exscan) X(Gather) X(Gatherv) X(Irecv) X(Isend) X(Recv) X(Reduce)      \
            X(Send) X(Sendrecv)

enum function {
#define X(name) name,
    FUNCTIONS(X)
#undef X
        COUNT
};

static struct count {
    uint64_t calls, gives, gets;
} counts[COUNT];

static void count(enum function f, double gives, double gets)
{
    counts[f].calls++;
    counts[f].gives += (uint64_t)gives;
    counts[f].gets += (uint64_t)gets;
}

static double bytes(int number, MPI_Datatype type)
{
    int size;
    PMPI_Type_size(type, &size);
    return (double)number * size;
}

static int size_of(MPI_Comm comm)
{
    int size;
    PMPI_Comm_size(comm, &size);
    return size;
}

static int is_root(int root, MPI_Comm comm)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    return rank == root;
}

static double sum_of(const int *numbers, MPI_Datatype type, MPI_Comm comm)
{
    double sum = 0;
    for (int k = 0; k < size_of(comm); k++)
        sum += bytes(numbers[k], type);
    return sum;
}

int MPI_Allgather(const void *from, int n, MPI_Datatype t, void *to, int m, MPI_Datatype u,
                  MPI_Comm comm)
{
    count(Allgather, bytes(m, u), bytes(m, u) * size_of(comm));
    return PMPI_Allgather(from, n, t, to, m, u, comm);
}

int MPI_Allgatherv(const void *from, int n, MPI_Datatype t, void *to, const int m[], const int at[],
                   MPI_Datatype u, MPI_Comm comm)
{
    count(Allgatherv, bytes(n, t), sum_of(m, u, comm));
    return PMPI_Allgatherv(from, n, t, to, m, at, u, comm);
}

int MPI_Allreduce(const void *from, void *to, int n, MPI_Datatype t, MPI_Op op, MPI_Comm comm)
{
    count(Allreduce, bytes(n, t), bytes(n, t));
    return PMPI_Allreduce(from, to, n, t, op, comm);
}

int MPI_Alltoall(const void *from, int n, MPI_Datatype t, void *to, int m, MPI_Datatype u,
                 MPI_Comm comm)
{
    count(Alltoall, bytes(n, t) * size_of(comm), bytes(m, u) * size_of(comm));
    return PMPI_Alltoall(from, n, t, to, m, u, comm);
}

int MPI_Barrier(MPI_Comm comm)
{
    count(Barrier, 0, 0);
    return PMPI_Barrier(comm);
}

int MPI_Bcast(void *what, int n, MPI_Datatype t, int root, MPI_Comm comm)
{
    count(Bcast, is_root(root, comm) ? bytes(n, t) : 0, bytes(n, t));
    return PMPI_Bcast(what, n, t, root, comm);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy)
{
    count(Comm_dup, 0, 0);
    return PMPI_Comm_dup(comm, copy);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *part)
{
    count(Comm_split, 0, 0);
    return PMPI_Comm_split(comm, color, key, part);
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *part)
{
    count(Comm_split_type, 0, 0);
    return PMPI_Comm_split_type(comm, type, key, info, part);
}

int MPI_Exscan(const void *from, void *to, int n, MPI_Datatype t, MPI_Op op, MPI_Comm comm)
{
    count(Exscan, bytes(n, t), bytes(n, t));
    return PMPI_Exscan(from, to, n, t, op, comm);
}

int MPI_Gather(const void *from, int n, MPI_Datatype t, void *to, int m, MPI_Datatype u, int root,
               MPI_Comm comm)
{
    count(Gather, bytes(n, t), is_root(root, comm) ? bytes(m, u) * size_of(comm) : 0);
    return PMPI_Gather(from, n, t, to, m, u, root, comm);
}

int MPI_Gatherv(const void *from, int n, MPI_Datatype t, void *to, const int m[], const int at[],
                MPI_Datatype u, int root, MPI_Comm comm)
{
    count(Gatherv, bytes(n, t), is_root(root, comm) ? sum_of(m, u, comm) : 0);
    return PMPI_Gatherv(from, n, t, to, m, at, u, root, comm);
}

int MPI_Irecv(void *to, int n, MPI_Datatype t, int rank, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    count(Irecv, 0, bytes(n, t));
    return PMPI_Irecv(to, n, t, rank, tag, comm, request);
}

int MPI_Isend(const void *from, int n, MPI_Datatype t, int rank, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    count(Isend, bytes(n, t), 0);
    return PMPI_Isend(from, n, t, rank, tag, comm, request);
}

int MPI_Recv(void *to, int n, MPI_Datatype t, int rank, int tag, MPI_Comm comm, MPI_Status *s)
{
    count(Recv, 0, bytes(n, t));
    return PMPI_Recv(to, n, t, rank, tag, comm, s);
}

int MPI_Reduce(const void *from, void *to, int n, MPI_Datatype t, MPI_Op op, int root,
               MPI_Comm comm)
{
    count(Reduce, bytes(n, t), is_root(root, comm) ? bytes(n, t) : 0);
    return PMPI_Reduce(from, to, n, t, op, root, comm);
}

int MPI_Send(const void *from, int n, MPI_Datatype t, int rank, int tag, MPI_Comm comm)
{
    count(Send, bytes(n, t), 0);
    return PMPI_Send(from, n, t, rank, tag, comm);
}

int MPI_Sendrecv(const void *from, int n, MPI_Datatype t, int rank, int tag, void *to, int m,
                 MPI_Datatype u, int other, int its_tag, MPI_Comm comm, MPI_Status *s)
{
    count(Sendrecv, bytes(n, t), bytes(m, u));
    return PMPI_Sendrecv(from, n, t, rank, tag, to, m, u, other, its_tag, comm, s);
}

int MPI_Finalize(void)
{
    static const char *const names[] = {
#define X(name) #name,
        FUNCTIONS(X)
#undef X
    };
    const char *const prefix = getenv("MPI_COUNTS");
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (prefix) {
        char path[4096];
        snprintf(path, sizeof path, "%s.%d", prefix, rank);
        FILE *const file = fopen(path, "w");
        for (int f = 0; file && f < COUNT; f++)
            fprintf(file, "%s %llu %llu %llu\n", names[f], (unsigned long long)counts[f].calls,
                    (unsigned long long)counts[f].gives, (unsigned long long)counts[f].gets);
        if (!file || fclose(file) != 0)
            fprintf(stderr, "mpi_counts: cannot write %s\n", path);
    }
    return PMPI_Finalize();
}
