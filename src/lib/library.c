/* Open, step and close a run from another program; see tagflow.h. */
#include "lib/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/agree.h"
#include "base/clock.h"
#include "base/message.h"
#include "base/signals.h"
#include "base/start.h"
#include "base/watchdog.h"
#include "foreign/child.h"
#include "run/folder.h"
#include "run/read_case.h"
#include "version.h"

static char error[LIBRARY_ERROR];

/* What a process has once. */
static struct {
    bool open;                        /* there is a run */
    bool again;                       /* there was one */
    struct sigaction pipe, file_size; /* actions of the caller */
} process;

int tagflow_api(void)
{
    return TAGFLOW_API;
}

const char *tagflow_version(void)
{
    return TAGFLOW_VERSION " (" TAGFLOW_COMMIT ")";
}

const char *tagflow_error(void)
{
    return error;
}

int tagflow_warnings(void)
{
    return message_warnings();
}

const char *tagflow_warning(int number, const char **name)
{
    const struct warning *const w = number < 0 ? NULL : message_warning(number);
    if (name)
        *name = w ? w->name : NULL;
    return w ? w->text : NULL;
}

/* ---- calls ---- */

void library_enter(void)
{
    *error = '\0';
    message_forget_error();
    watchdog_wake();
}

/* Gives all ranks the text of the first rank that has one. */
static void share_error(MPI_Comm comm, const char *otherwise)
{
    const char *const mine = message_error();
    int rank, ranks, from;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    from = mine ? rank : ranks;
    MPI_Allreduce(MPI_IN_PLACE, &from, 1, MPI_INT, MPI_MIN, comm);
    snprintf(error, sizeof error, "%s", mine ? mine : otherwise);
    if (from < ranks)
        MPI_Bcast(error, sizeof error, MPI_CHAR, from, comm);
}

int library_leave(struct tagflow_run *r, enum status status)
{
    if (status) {
        share_error(r->comm, *r->error ? r->error : "stopped early with a checkpoint");
        if (status != STATUS_USAGE) /* of a call that can be made again */
            snprintf(r->error, sizeof r->error, "%s", error);
    }
    watchdog_rest();
    return (int)status;
}

/* A failure before there are ranks to agree with. */
static int refuse(enum status status)
{
    snprintf(error, sizeof error, "%s", message_error() ? message_error() : "");
    watchdog_rest();
    return (int)status;
}

static void finalize(void)
{
    int finalized;
    MPI_Finalized(&finalized);
    if (!finalized)
        MPI_Finalize();
}

/* ---- the process ---- */

/* A pipe that is closed and a file that grows too large are errors, and do not end the process. The
 * caller's own handlers stay. */
static void ignore(int number, struct sigaction *before)
{
    const struct sigaction ignored = {.sa_handler = SIG_IGN};
    if (sigaction(number, NULL, before) == 0 && before->sa_handler == SIG_DFL)
        sigaction(number, &ignored, NULL);
}

static void restore(int number, const struct sigaction *before)
{
    struct sigaction now;
    if (before->sa_handler == SIG_DFL && sigaction(number, NULL, &now) == 0 &&
        now.sa_handler == SIG_IGN)
        sigaction(number, before, NULL);
}

/* Is an address in the first object of the process, which is its program? */
static int in_program(struct dl_phdr_info *object, size_t size, void *found)
{
    static const char here;
    const uintptr_t at = (uintptr_t)&here - object->dlpi_addr;
    (void)size;
    for (int k = 0; k < object->dlpi_phnum; k++) {
        const ElfW(Phdr) *const part = &object->dlpi_phdr[k];
        if (part->p_type == PT_LOAD && at >= part->p_vaddr && at - part->p_vaddr < part->p_memsz)
            *(bool *)found = true;
    }
    return 1; /* no other object */
}

static bool is_executable(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, X_OK) == 0;
}

/* Second processes are this program, or the one that is installed with this library. */
static void find_program(void)
{
    static const char *const places[] = {"tagflow", "../bin/tagflow", "../../bin/tagflow",
                                         "../../tagflow"};
    static const char here;
    char library[PATH_MAX], program[PATH_MAX + 32];
    Dl_info found;
    bool own = false;
    child_program(NULL);
    dl_iterate_phdr(in_program, &own);
    if (own || !dladdr(&here, &found) || !found.dli_fname || !realpath(found.dli_fname, library))
        return;
    *strrchr(library, '/') = '\0';
    for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        snprintf(program, sizeof program, "%s/%s", library, places[k]);
        if (is_executable(program)) {
            child_program(program);
            return;
        }
    }
    /* Named in the error of a run that needs it. */
    snprintf(program, sizeof program, "%s/%s", library, places[0]);
    child_program(program);
}

/* ---- open ---- */

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *walk)
{
    (void)s, (void)type, (void)walk;
    return remove(path);
}

/* Rank 0 makes a temporary folder; all ranks get its name. */
static enum status make_folder(struct tagflow_run *r)
{
    const char *const where = getenv("TMPDIR");
    int rank;
    MPI_Comm_rank(r->comm, &rank);
    r->folder = calloc(1, FOLDER_PATH);
    enum status status = r->folder ? STATUS_OK : fail_machine("out of memory");
    if (!status && rank == 0) {
        const int length =
            snprintf(r->folder, FOLDER_PATH, "%s/tagflow_XXXXXX", where && *where ? where : "/tmp");
        if (length >= FOLDER_PATH || !mkdtemp(r->folder))
            status = fail_machine("cannot make a temporary folder %s: %s", r->folder,
                                  strerror(length >= FOLDER_PATH ? ENAMETOOLONG : errno));
    }
    status = status_agree(r->comm, status);
    if (!status)
        MPI_Bcast(r->folder, FOLDER_PATH, MPI_CHAR, 0, r->comm);
    r->options.temporary = !status;
    return status;
}

static enum status copy(char **to, const char *from)
{
    *to = from ? strdup(from) : NULL;
    return from && !*to ? fail_machine("out of memory") : STATUS_OK;
}

static bool interrupted(void *asked)
{
    const struct tagflow_run *const r = asked;
    return r->interrupted(r->own) != 0;
}

/* Checks what the caller gives, on each rank alone. */
static enum status check_options(const struct tagflow_options *o)
{
    if (!o || o->api < 1 || o->api > TAGFLOW_API)
        return fail_user("tagflow_open: options for interface %d, and this library has %d (begin "
                         "with TAGFLOW_OPTIONS)",
                         o ? o->api : 0, TAGFLOW_API);
    if (!o->file == !o->text)
        return fail_user("tagflow_open: give a case as its file or as its text");
    if (o->restart && o->overwrite)
        return fail_user("tagflow_open: restart goes on with a run and overwrite replaces it: give "
                         "one of them");
    if (o->set_count < 0 || (o->set_count > 0 && !o->sets))
        return fail_user("tagflow_open: set_count %d without sets", o->set_count);
    if ((o->folder && !*o->folder) || (o->restart && !*o->restart))
        return fail_user("tagflow_open: the name of the %s is empty",
                         o->folder && !*o->folder ? "folder" : "checkpoint");
    if (process.open)
        return fail_user(
            "tagflow_open: another run is open in this process (tagflow_close ends it)");
    return STATUS_OK;
}

static enum status read_it(struct tagflow_run *r, const struct tagflow_options *o)
{
    const struct case_source source = {.path = o->file ? o->file : "the case",
                                       .text = o->text,
                                       .set_count = o->set_count,
                                       .sets = o->sets,
                                       .goes_on = o->restart,
                                       .folder = r->folder};
    return read_case(&source, r->comm, &r->c);
}

static enum status open_run(struct tagflow_run *r, const struct tagflow_options *o)
{
    struct run_options *const options = &r->options;
    const char *const backend = o->backend ? o->backend : "auto";
    enum status status = copy(&r->folder, o->folder);
    if (!status)
        status = copy(&r->restart, o->restart);
    status = status_agree(r->comm, status);
    if (!status)
        status = read_it(r, o);
    if (!status && !r->folder)
        status = make_folder(r);
    if (!status)
        status = backend_choose(backend, r->comm, &options->backend, options->backend_reason);
    if (status)
        return status;
    threads_choose(&r->c, r->comm, &options->threads);
    options->dir = r->folder;
    options->case_path = o->file;
    options->restart = r->restart;
    options->overwrite = o->overwrite;
    options->silent = !o->echo;
    options->share_gpu = o->share_gpu;
    options->interrupted = o->interrupted ? interrupted : NULL;
    options->asked = r;
    return run_open(&r->run, &r->c, options, r->comm);
}

/* Makes the run of checked options, in an MPI that was started. */
static enum status create(const struct tagflow_options *options, struct tagflow_run **out)
{
    struct tagflow_run *const r = calloc(1, sizeof *r);
    MPI_Comm comm = MPI_COMM_WORLD;
    int rank, ranks;
    if (options->comm)
        memcpy(&comm, options->comm, sizeof comm);
    const enum status status =
        status_agree(comm, r ? STATUS_OK : fail_machine("out of memory for a run"));
    if (status) {
        free(r);
        return status;
    }
    *r = (struct tagflow_run){
        .signals = options->signals, .interrupted = options->interrupted, .own = options->own};
    MPI_Comm_dup(comm, &r->comm);
    MPI_Comm_rank(r->comm, &rank);
    MPI_Comm_size(r->comm, &ranks);
    message_set_rank(rank, ranks);
    *out = r;
    return STATUS_OK;
}

/* Takes what a process has once. */
static void take_process(const struct tagflow_run *r)
{
    if (process.again || !clock_started())
        clock_start();
    process.open = process.again = true;
    find_program();
    ignore(SIGPIPE, &process.pipe);
    ignore(SIGXFSZ, &process.file_size);
    if (r->signals) {
        signals_save();
        signals_install();
    }
}

/* Gives all back. */
static void destroy(struct tagflow_run *r)
{
    int rank;
    MPI_Comm_rank(r->comm, &rank);
    if (r->options.temporary && rank == 0)
        nftw(r->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    library_free_fields(r);
    case_destroy(&r->c);
    free(r->folder);
    free(r->restart);
    if (r->signals)
        signals_restore();
    restore(SIGPIPE, &process.pipe);
    restore(SIGXFSZ, &process.file_size);
    message_silent(false);
    process.open = false;
    MPI_Comm_free(&r->comm);
    free(r);
}

int tagflow_open(const struct tagflow_options *options, struct tagflow_run **run)
{
    bool ours = false;
    struct tagflow_run *r = NULL;
    if (!process.open) {
        message_silent(!options || !options->echo);
        message_begin();
    }
    library_enter();
    enum status status =
        run ? check_options(options) : fail_user("tagflow_open: no place for the run");
    if (run)
        *run = NULL;
    if (!status)
        status =
            start_mpi(&ours, options->comm ? *(const MPI_Comm *)options->comm : MPI_COMM_WORLD);
    if (ours)
        atexit(finalize);
    if (!status)
        status = create(options, &r);
    if (status)
        return refuse(status);
    take_process(r);
    status = open_run(r, options);
    const int result = library_leave(r, status);
    if (status)
        destroy(r);
    else
        *run = r;
    return result;
}

/* ---- steps ---- */

int tagflow_step(struct tagflow_run *run, int64_t steps)
{
    library_enter();
    const int64_t now = run_step(run->run);
    enum status status = STATUS_OK;
    if (steps < 0)
        status = fail_user("tagflow_step: %lld steps", (long long)steps);
    else
        status = run_advance(run->run, steps > INT64_MAX - now ? INT64_MAX : now + steps);
    return library_leave(run, status);
}

int tagflow_checkpoint(struct tagflow_run *run)
{
    library_enter();
    return library_leave(run, run_checkpoint(run->run));
}

void tagflow_stop(struct tagflow_run *run)
{
    run_ask_to_stop(run->run);
}

int tagflow_close(struct tagflow_run *run)
{
    if (!run)
        return TAGFLOW_OK;
    library_enter();
    library_free_raw(run);
    const int result = library_leave(run, run_close(run->run));
    destroy(run);
    return result;
}

/* ---- what it says ---- */

int tagflow_over(const struct tagflow_run *run)
{
    return run_over(run->run);
}

int64_t tagflow_step_number(const struct tagflow_run *run)
{
    return run_step(run->run);
}

double tagflow_time(const struct tagflow_run *run)
{
    return (double)run_step(run->run) * run->c.units.dt;
}

const char *tagflow_folder(const struct tagflow_run *run)
{
    return run->folder;
}

const char *tagflow_case(const struct tagflow_run *run)
{
    return run->c.resolved;
}

int tagflow_levels(const struct tagflow_run *run)
{
    return run_grid(run->run)->levels;
}
