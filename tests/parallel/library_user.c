/* A program that uses libtagflow by its header alone; tests/robustness/library.py starts it.
 *
 *     library_user run CASE FOLDER PIECE [--set PATH=VALUE]   in pieces of so many steps
 *     library_user twice CASE FOLDER      two runs, one after the other, the second one continued
 *     library_user wrong CASE FOLDER      errors leave the process as it was
 *     library_user diverge CASE FOLDER    a flow that diverges, then one that does not
 *     library_user stop CASE FOLDER       one rank asks to stop
 *     library_user steer CASE FOLDER      the factor `pump` is set at step 30, with a checkpoint at
 * 40 library_user raw CASE FOLDER BACKEND  arrays in memory of the backend
 *
 * Prints "ok WHAT" or "FAIL WHAT" for each thing that it checks. Exit status 1: one failed. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "tagflow.h"

#ifdef STANDIN
#include "cuda_runtime_api.h"
#endif

static int rank, ranks, failures;

static void check(int good, const char *what)
{
    MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    failures += !good;
    if (rank == 0)
        printf("%s %s (%s)\n", good ? "ok  " : "FAIL", what, tagflow_error());
}

static struct tagflow_run *open_case(const char *file, const char *folder, int set_count,
                                     const char *const *sets, int status)
{
    struct tagflow_options options = TAGFLOW_OPTIONS;
    struct tagflow_run *run = NULL;
    options.file = file;
    options.folder = folder;
    options.overwrite = 1;
    options.set_count = set_count;
    options.sets = sets;
    check(tagflow_open(&options, &run) == status && (run != NULL) == (status == 0), "open");
    return run;
}

static int run_pieces(const char *file, const char *folder, int64_t piece, int set_count,
                      const char *const *sets)
{
    struct tagflow_run *const run = open_case(file, folder, set_count, sets, 0);
    uint64_t hash = 0;
    int64_t expected = 0;
    int status = 0;
    if (!run)
        return 1;
    check(tagflow_step(run, 0) == 0 && tagflow_step_number(run) == 0, "no step");
    while (!status && !tagflow_over(run)) {
        status = tagflow_step(run, piece);
        expected += piece;
        if (!tagflow_over(run) && tagflow_step_number(run) != expected)
            status = -1;
    }
    check(!status, "all pieces have their steps");
    check(tagflow_step(run, 5) == 0 && tagflow_over(run), "no step after the last");
    check(tagflow_hash(run, &hash) == 0, "hash");
    if (rank == 0)
        printf("hash %016llx\n", (unsigned long long)hash);
    check(tagflow_close(run) == 0, "close");
    return 0;
}

/* The largest difference between the field of this rank's block and the function of its cells. */
static void look_at_fields(struct tagflow_run *run)
{
    struct tagflow_array u, again, p, t;
    check(tagflow_field(run, "velocity", 0, &u) == 0 && u.shape[3] == 3 && u.type == 64 &&
              u.device == -1 && u.stride[3] == 1 && u.stride[2] == 3 &&
              u.bytes == 8 * u.shape[0] * u.shape[1] * u.shape[2] * u.shape[3],
          "velocity");
    int64_t cells = u.shape[0] * u.shape[1] * u.shape[2], all = cells;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    check(all == u.cells[0] * u.cells[1] * u.cells[2], "the blocks make up the box");
    check(tagflow_field(run, "velocity", 0, &again) == 0 && again.data == u.data,
          "it is filled into the same memory");
    check(tagflow_field(run, "pressure", 0, &p) == 0 && p.shape[3] == 1 && p.data != u.data,
          "pressure has its own");
    check(tagflow_field(run, "tags", 0, &t) == 0 && t.type == 8 && t.bytes == cells, "tags");
    /* The mean over the fluid, from the fields. */
    double sum[4] = {0, 0, 0, 0}, mean[3];
    for (int64_t c = 0; c < cells; c++)
        if (((const uint8_t *)t.data)[c] == 1) {
            for (int k = 0; k < 3; k++)
                sum[k] += ((const double *)u.data)[3 * c + k];
            sum[3]++;
        }
    MPI_Allreduce(MPI_IN_PLACE, sum, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    int good = tagflow_mean(run, "velocity", NULL, NULL, mean) == 0;
    for (int k = 0; k < 3; k++)
        good = good && fabs(mean[k] - sum[k] / sum[3]) <= 1e-12;
    check(good && mean[0] != 0, "the mean of the whole box");
    const int64_t from[3] = {3, 2, 0}, to[3] = {5, 4, 1};
    double part[3], corner[3] = {0, 0, 0}, at[3];
    check(tagflow_mean(run, "velocity", from, to, part) == 0, "the mean of some cells");
    for (int k = 0; k < 4; k++) {
        double one[3];
        at[0] = (3.5 + (k & 1)) * u.spacing;
        at[1] = (2.5 + (k >> 1)) * u.spacing;
        at[2] = 0.5 * u.spacing;
        tagflow_points(run, "velocity", 1, at, one);
        for (int a = 0; a < 3; a++)
            corner[a] += one[a] / 4;
    }
    good = 1;
    for (int a = 0; a < 3; a++)
        good = good && fabs(part[a] - corner[a]) <= 1e-12;
    check(good, "is that of the points in their centres");
}

static void run_twice(const char *file, const char *folder)
{
    const char *const sets[] = {"run.steps=20"};
    uint64_t first = 0, second = 1;
    struct tagflow_options options = TAGFLOW_OPTIONS;
    struct tagflow_run *run = open_case(file, folder, 1, sets, 0), *other = NULL;
    tagflow_step(run, 20);
    look_at_fields(run);
    options.file = file;
    check(tagflow_open(&options, &other) == TAGFLOW_USAGE && !other &&
              strstr(tagflow_error(), "another run is open") != NULL,
          "one run at a time");
    tagflow_hash(run, &first);
    check(tagflow_close(run) == 0, "close");
    run = open_case(file, folder, 1, sets, 0);
    check(tagflow_step(run, 7) == 0 && tagflow_checkpoint(run) == 0 && tagflow_close(run) == 0,
          "a run that is closed early");
    options.folder = folder;
    options.restart = "auto";
    options.sets = sets;
    options.set_count = 1;
    check(tagflow_open(&options, &run) == 0 && tagflow_step_number(run) == 7, "it goes on");
    tagflow_step(run, INT64_MAX);
    tagflow_hash(run, &second);
    check(first == second, "to the same bits");
    check(tagflow_close(run) == 0, "close");
    check(tagflow_open(&options, &run) == 0 && tagflow_over(run) && tagflow_step(run, 3) == 0,
          "a run that is done has nothing to do");
    struct tagflow_array array;
    check(tagflow_field(run, "velocity", 0, &array) == TAGFLOW_USAGE, "and no flow");
    check(tagflow_close(run) == 0, "close");
}

static void try_wrong(const char *file, const char *folder)
{
    static const char *const sets[] = {"fluid.viscosty=3"};
    struct tagflow_options options = TAGFLOW_OPTIONS;
    struct tagflow_array array;
    struct tagflow_run *run = NULL;
    double value;
    check(tagflow_open(&options, &run) == TAGFLOW_USAGE && *tagflow_error(), "no case");
    options.file = file;
    options.text = "domain: {}";
    check(tagflow_open(&options, &run) == TAGFLOW_USAGE, "a file and a text");
    options.text = NULL;
    options.api = TAGFLOW_API + 1;
    check(tagflow_open(&options, &run) == TAGFLOW_USAGE, "a later interface");
    options.api = TAGFLOW_API;
    options.file = "nowhere.yaml";
    check(tagflow_open(&options, &run) == TAGFLOW_USAGE &&
              strstr(tagflow_error(), "nowhere.yaml: No such file") == tagflow_error(),
          "no such file");
    options.file = file;
    options.backend = "abacus";
    check(tagflow_open(&options, &run) == TAGFLOW_USAGE, "no such backend");
    open_case(file, folder, 1, sets, TAGFLOW_USAGE);
    check(strstr(tagflow_error(), "did you mean fluid.viscosity?") != NULL, "says what is wrong");
    options.backend = NULL;
    options.file = NULL;
    options.text = "domain:\n  cells: [8, 8]\n";
    check(tagflow_open(&options, &run) == TAGFLOW_USAGE &&
              strncmp(tagflow_error(), "the case:2:", 11) == 0,
          "with the line of a text");
    run = open_case(file, folder, 0, NULL, 0);
    check(tagflow_step(run, -1) == TAGFLOW_USAGE, "steps below 0");
    check(tagflow_step(run, 3) == 0 && tagflow_step_number(run) == 3, "the run goes on");
    check(tagflow_field(run, "velocty", 0, &array) == TAGFLOW_USAGE &&
              strstr(tagflow_error(), "did you mean velocity?") != NULL,
          "no such field");
    check(tagflow_field(run, "velocity", 1, &array) == TAGFLOW_USAGE, "no such level");
    check(tagflow_points(run, "velocity", 1, (const double[]){-1, 0, 0}, &value) == TAGFLOW_USAGE,
          "a point outside");
    check(tagflow_column(run, "flow.nothing", &value) == TAGFLOW_USAGE, "no such column");
    check(tagflow_column(run, "flow.mass", &value) == 0 && value > 0, "a column");
    check(tagflow_steer(run, "pump", 1) == TAGFLOW_USAGE, "nothing to steer");
    check(tagflow_step(run, 3) == 0 && tagflow_close(run) == 0, "and goes on");
}

static void diverge(const char *file, const char *folder)
{
    static const char *const sets[] = {"check.every=1", "check.max_velocity=0.01"};
    char text[2048];
    struct tagflow_array array;
    struct tagflow_run *run = open_case(file, folder, 2, sets, 0);
    int status = 0;
    while (!status && !tagflow_over(run))
        status = tagflow_step(run, 3);
    snprintf(text, sizeof text, "%s", tagflow_error());
    check(status == TAGFLOW_DIVERGED && strstr(text, "diverged") != NULL, "it diverges");
    check(tagflow_step(run, 3) == TAGFLOW_DIVERGED && strcmp(text, tagflow_error()) == 0,
          "later calls say the same");
    check(tagflow_field(run, "velocity", 0, &array) == TAGFLOW_USAGE, "no flow to look at");
    check(tagflow_close(run) == TAGFLOW_DIVERGED, "so does close");
    run = open_case(file, folder, 0, NULL, 0);
    check(tagflow_step(run, 3) == 0 && tagflow_close(run) == 0, "the next run is good");
}

static int asked;
static int interrupted(void *own)
{
    return ++*(int *)own > 2 && rank == ranks - 1;
}

static void stop(const char *file, const char *folder)
{
    static const char *const sets[] = {"run.steps=100000000", "output={}", "check.every=1000"};
    struct tagflow_options options = TAGFLOW_OPTIONS;
    struct tagflow_run *run;
    options.file = file;
    options.folder = folder;
    options.overwrite = 1;
    options.sets = sets;
    options.set_count = 3;
    options.interrupted = interrupted;
    options.own = &asked;
    check(tagflow_open(&options, &run) == 0, "open");
    check(tagflow_step(run, 50000000) == 0 && !tagflow_over(run) && tagflow_step_number(run) > 0,
          "one rank interrupts the call");
    int64_t least = tagflow_step_number(run), most = least;
    MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    check(least == most, "all ranks are at the same step");
    asked = -1000000000;
    check(tagflow_step(run, 10) == 0 && tagflow_step_number(run) == least + 10, "it goes on");
    if (rank == ranks - 1)
        tagflow_stop(run);
    check(tagflow_step(run, 50000000) == TAGFLOW_STOPPED, "one rank asks to stop");
    check(tagflow_close(run) == TAGFLOW_STOPPED, "close");
}

static void steer(const char *file, const char *folder)
{
    struct tagflow_run *const run = open_case(file, folder, 0, NULL, 0);
    double before[3], after[3];
    uint64_t hash;
    check(tagflow_steered(run, "pump") == 0.5 && isnan(tagflow_steered(run, "none")), "its start");
    tagflow_step(run, 30);
    check(tagflow_steer(run, "pump", 2.5) == TAGFLOW_USAGE &&
              tagflow_steer(run, "pump", NAN) == TAGFLOW_USAGE &&
              tagflow_steer(run, "pum", 1) == TAGFLOW_USAGE && tagflow_steered(run, "pump") == 0.5,
          "what cannot be set");
    check(tagflow_steer(run, "pump", 2) == 0 && tagflow_steered(run, "pump") == 2, "set");
    tagflow_mean(run, "velocity", NULL, NULL, before);
    tagflow_step(run, 10);
    tagflow_mean(run, "velocity", NULL, NULL, after);
    check(after[0] > 1.5 * before[0], "it acts");
    check(tagflow_checkpoint(run) == 0, "a checkpoint");
    check(tagflow_step(run, INT64_MAX) == 0, "to the end");
    tagflow_hash(run, &hash);
    if (rank == 0)
        printf("hash %016llx\n", (unsigned long long)hash);
    check(tagflow_close(run) == 0, "close");
}

/* A number of an array in memory of the backend. */
static double number_at(const struct tagflow_array *array, int64_t place)
{
    const double *const from = (const double *)array->data + place;
#ifdef STANDIN
    double number = NAN;
    if (array->device >= 0) {
        cudaMemcpy(&number, from, sizeof number, cudaMemcpyDeviceToHost);
        return number;
    }
#endif
    return *from;
}

static void raw(const char *file, const char *folder, const char *backend)
{
    struct tagflow_options options = TAGFLOW_OPTIONS;
    struct tagflow_run *run;
    struct tagflow_array flow, u, again;
    options.file = file;
    options.folder = folder;
    options.overwrite = 1;
    options.share_gpu = 1;
    options.backend = backend;
    check(tagflow_open(&options, &run) == 0, "open");
    tagflow_step(run, 20);
    check(tagflow_raw(run, "velocity", 0, &flow) == TAGFLOW_USAGE, "no such array");
    check(tagflow_raw(run, "flow", 0, &flow) == 0 && flow.shape[3] == 4 &&
              (flow.device >= 0) == (strcmp(backend, "cuda") == 0),
          "the flow in memory of the backend");
    tagflow_field(run, "velocity", 0, &u);
    int good = 1;
    double most = 0;
    for (int64_t cell = 0; cell < u.shape[0] * u.shape[1] * u.shape[2]; cell++)
        for (int k = 0; k < 3; k++) {
            const double one = number_at(&flow, 4 * cell + 1 + k),
                         other = ((const double *)u.data)[3 * cell + k];
            good = good && one == other;
            most = fmax(most, fabs(one));
        }
    check(good, "its velocity is that of the field");
    check(most > 0, "and is not 0");
    check(tagflow_raw(run, "flow", 0, &again) == 0 && again.data == flow.data, "the same memory");
    check(tagflow_close(run) == 0, "close");
}

int main(int count, char **arguments)
{
    int provided;
    if (count < 4)
        return 2;
    MPI_Init_thread(&count, &arguments, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *const what = arguments[1], *const file = arguments[2], *const folder = arguments[3];
    if (!strcmp(what, "run") && count > 4)
        run_pieces(file, folder, atoi(arguments[4]), count - 5, (const char *const *)arguments + 5);
    else if (!strcmp(what, "twice"))
        run_twice(file, folder);
    else if (!strcmp(what, "wrong"))
        try_wrong(file, folder);
    else if (!strcmp(what, "diverge"))
        diverge(file, folder);
    else if (!strcmp(what, "stop"))
        stop(file, folder);
    else if (!strcmp(what, "steer"))
        steer(file, folder);
    else if (!strcmp(what, "raw") && count > 4)
        raw(file, folder, arguments[4]);
    else
        failures++;
    MPI_Finalize();
    return failures != 0;
}
