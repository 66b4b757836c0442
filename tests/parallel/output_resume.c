/* Averages go on after a restart as if nothing had happened, on any number of ranks; and what was
 * done at a step is not done again.
 *
 *     mpirun -n N output_resume FOLDER
 *
 * The registered arrays are carried by hand from one output to the next, as a checkpoint does it,
 * at every step in turn. All averages written must hold the same bytes. Exit status: 0 or 1. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/message.h"
#include "run/folder.h"
#include "run/output.h"

enum { STEPS = 12, CELLS = 9 * 7 * 5, VALUES = 10 * CELLS, MOST_ARRAYS = 16 };

static const char text[] = "domain:  {cells: [9, 7, 5]}\n"
                           "fluid:   {viscosity: 0.05, velocity: 0.05, length: 9}\n"
                           "faces:   {x: wall, ymin: wall, ymax: {wall: {velocity: [0.05, 0, 0]}}, "
                           "z: periodic}\n"
                           "run:     {steps: 12}\n"
                           "output:\n"
                           "  log: {every: 0}\n"
                           "  averages:\n"
                           "    all: {every: 2, from: 1, to: 9, of: [velocity, density, stress],\n"
                           "          precision: fp64}\n"
                           "    few: {every: 3, of: [velocity, stress], precision: fp64,\n"
                           "          region: {from: [7, 5, 3], to: [9, 7, 5]}}\n"
                           "  fields: {snap: {every: 5, of: vorticity}}\n";

static int failures, rank;

static void check(bool good, const char *what, int64_t step)
{
    if (!good && ++failures)
        fprintf(stderr, "rank %d: resumed at step %lld: %s\n", rank, (long long)step, what);
}

/* What a checkpoint would hold: the arrays, of this rank. */
struct memory {
    int count;
    size_t bytes[MOST_ARRAYS];
    void *data[MOST_ARRAYS];
};

static size_t bytes_of(const struct domain *d, const struct state_array *array)
{
    size_t cells = 1;
    for (int a = 0; a < 3 && array->in_cells; a++) {
        const int lo = array->box.lo[a] > d->lo[a] ? array->box.lo[a] : d->lo[a];
        const int end = d->lo[a] + d->view.n[a],
                  hi = array->box.hi[a] < end ? array->box.hi[a] : end;
        cells *= hi > lo ? (size_t)(hi - lo) : 0;
    }
    return cells * (size_t)array->components * 8; /* float64 and int64 */
}

static void keep(struct memory *m, const struct domain *d, const struct state *state)
{
    *m = (struct memory){.count = state->count};
    for (int i = 0; i < state->count; i++) {
        m->bytes[i] = bytes_of(d, &state->array[i]);
        m->data[i] = malloc(m->bytes[i] + 1);
        if (!m->data[i])
            MPI_Abort(MPI_COMM_WORLD, 1);
        memcpy(m->data[i], state->array[i].data, m->bytes[i]);
    }
}

static void bring_back(struct memory *m, struct state *state)
{
    for (int i = 0; i < m->count; i++) {
        memcpy(state->array[i].data, m->data[i], m->bytes[i]);
        free(m->data[i]);
    }
}

static bool there(const char *dir, const char *name)
{
    char path[FOLDER_PATH];
    return folder_path(path, dir, name) && access(path, F_OK) == 0;
}

/* The arrays of an average, as they are, one behind the other; how many values. */
static size_t read_average(const char *dir, const char *name, double *out)
{
    static const char *const arrays[] = {"velocity_mean", "density_mean", "reynolds_stress"};
    char path[FOLDER_PATH], dataset[64];
    size_t count = 0;
    if (!folder_path(path, dir, name))
        return 0;
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    for (int i = 0; file >= 0 && i < 3; i++) {
        snprintf(dataset, sizeof dataset, "VTKHDF/PointData/%s", arrays[i]);
        if (H5Lexists(file, dataset, H5P_DEFAULT) <= 0)
            continue;
        const hid_t set = H5Dopen2(file, dataset, H5P_DEFAULT), space = H5Dget_space(set);
        const size_t values = (size_t)H5Sget_simple_extent_npoints(space);
        if (count + values > VALUES ||
            H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out + count) < 0)
            return 0;
        count += values;
        H5Sclose(space);
        H5Dclose(set);
    }
    if (file >= 0)
        H5Fclose(file);
    return count;
}

struct setting {
    struct flow_case *c;
    struct grid grid;
    const char *dir;
};

static void must(enum status status)
{
    if (status)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The run with its output torn down and made again at step `resumed`; < 0: never. */
static void run(struct setting *t, int64_t resumed, bool thrice)
{
    struct state state = {0};
    struct output *o = NULL;
    struct memory memory;
    must(grid_create(&t->grid, t->c, ROW_BYTES, MPI_COMM_WORLD));
    must(grid_open(&t->grid, &backend_cpu, false));
    must(grid_start(&t->grid, TRANSPORT_host));
    must(grid_initialise(&t->grid, NULL));
    must(output_create(&o, t->c, &t->grid, &state, t->dir));
    must(output_start(o, &(struct output_start){.resumed = -1, .here = true}));
    must(output_write(o, false));
    for (int64_t next = 0;; next = t->grid.level->solver.step) {
        next += output_next(o, t->grid.level->solver.step);
        while (t->grid.level->solver.step < STEPS && t->grid.level->solver.step < next) {
            if (t->grid.level->solver.step == resumed) {
                keep(&memory, &t->grid.level->domain, &state);
                must(output_close(o, NULL));
                state_destroy(&state);
                must(output_create(&o, t->c, &t->grid, &state, t->dir));
                bring_back(&memory, &state);
                must(output_start(o, &(struct output_start){.resumed = resumed, .here = true}));
                check(!output_files_due(o, resumed), "files are due again", resumed);
                must(output_write(o, false));
                resumed = -1;
            }
            must(grid_sweep(&t->grid, 1));
        }
        const bool last = t->grid.level->solver.step == STEPS;
        must(output_write(o, last));
        if (thrice) {
            must(output_write(o, last));
            must(output_write(o, false));
        }
        if (last)
            break;
    }
    must(output_sync(o));
    must(output_close(o, NULL));
    state_destroy(&state);
    grid_destroy(&t->grid);
}

static void discard(const char *dir)
{
    static const char *const names[] = {
        "fields/all_0000000009.vtkhdf",  "fields/few_0000000012.vtkhdf",
        "fields/snap_0000000000.vtkhdf", "fields/snap_0000000005.vtkhdf",
        "fields/snap_0000000010.vtkhdf", "fields/snap_0000000012.vtkhdf"};
    char path[FOLDER_PATH];
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < 6; i++)
        if (folder_path(path, dir, names[i]))
            unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Ends the run early, at a step before the only sample: nothing but a line in the log. */
static void without_samples(struct setting *t)
{
    struct state state = {0};
    struct output *o = NULL;
    must(grid_create(&t->grid, t->c, ROW_BYTES, MPI_COMM_WORLD));
    must(grid_open(&t->grid, &backend_cpu, false));
    must(grid_start(&t->grid, TRANSPORT_host));
    must(grid_initialise(&t->grid, NULL));
    must(output_create(&o, t->c, &t->grid, &state, t->dir));
    must(output_start(o, &(struct output_start){.resumed = -1, .here = true}));
    must(grid_sweep(&t->grid, 1));
    must(output_write(o, true));
    check(!there(t->dir, "fields/all_0000000001.vtkhdf"), "an average of nothing is written", 1);
    check(!there(t->dir, "fields/few_0000000001.vtkhdf"), "an average of nothing is written", 1);
    must(output_close(o, NULL));
    state_destroy(&state);
    grid_destroy(&t->grid);
}

int main(int argc, char **argv)
{
    static double whole[2][VALUES], other[VALUES];
    static const char *const names[2] = {"fields/all_0000000009.vtkhdf",
                                         "fields/few_0000000012.vtkhdf"};
    struct flow_case c;
    size_t count[2];
    int ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    message_set_rank(rank, ranks);
    char path[FOLDER_PATH];
    if (argc != 2 || case_read("resume.yaml", text, (long)strlen(text), 0, NULL, &c) ||
        !folder_path(path, argv[1], "fields"))
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 0 && (folder_create(argv[1]) || folder_create(path)))
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Barrier(MPI_COMM_WORLD);

    struct setting t = {.c = &c, .dir = argv[1]};
    discard(t.dir);
    run(&t, -1, false);
    for (int i = 0; i < 2; i++) {
        count[i] = read_average(t.dir, names[i], whole[i]);
        check(count[i] == (i ? 9 * 8 : 10 * CELLS), "an average is missing", -1);
    }
    for (int64_t step = 0; step < STEPS; step++) {
        discard(t.dir);
        run(&t, step, step % 2);
        for (int i = 0; i < 2; i++) {
            check(read_average(t.dir, names[i], other) == count[i], "an average is missing", step);
            check(memcmp(other, whole[i], count[i] * sizeof *other) == 0, "an average differs",
                  step);
        }
        check(there(t.dir, "fields/snap_0000000012.vtkhdf"), "the last snapshot is missing", step);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    without_samples(&t);
    discard(t.dir);
    case_destroy(&c);
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return failures > 0;
}
