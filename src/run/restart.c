/* Where a restarted run continues; see restart.h. */
#include "run/restart.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/agree.h"
#include "base/file.h"
#include "base/message.h"
#include "run/output.h"
#include "run/report.h"

enum { CASE_LIMIT = 64 << 20, RECORD_LIMIT = 64 << 20 };

/* State of a run in status.json or report.json. */
struct record {
    bool known;
    enum run_state state;
    int64_t step, steps; /* reached; wanted, in status.json */
    bool checkpoint;     /* status.json: there was one */
    bool by_stop;        /* report.json: run.stop was met */
};

/* A file that is damaged, or no regular one, says nothing. */
static struct record read_record(const char *dir, const char *name)
{
    struct record r = {.known = false};
    char path[FOLDER_PATH], *text = NULL;
    if (!folder_path(path, dir, name) || file_get(path, RECORD_LIMIT, &text, NULL))
        return r;
    json_t *const root = json_loads(text, 0, NULL);
    const json_t *const step = json_object_get(root, "step"), *const steps =
                                                                  json_object_get(root, "steps");
    const char *const state = json_string_value(json_object_get(root, "state"));
    for (enum run_state s = RUN_starting; state && s <= RUN_failed; s++)
        if (strcmp(state, run_state_name(s)) == 0) {
            r.state = s;
            r.known = json_is_integer(step) && json_is_integer(steps);
        }
    r.step = json_integer_value(step);
    r.steps = json_integer_value(steps);
    r.checkpoint = json_is_object(json_object_get(root, "checkpoint"));
    r.by_stop = json_is_true(json_object_get(json_object_get(root, "stop"), "met"));
    r.known = r.known && r.step >= 0;
    json_decref(root);
    free(text);
    return r;
}

/* The step of the newest checkpoint in dir; -1: there is none; -2: the folder could not be read
 * (reported). */
static int64_t newest_step(const char *dir)
{
    int64_t *steps;
    const int count = folder_checkpoints(dir, &steps);
    const int64_t newest = count > 0 ? steps[0] : count < 0 ? -2 : -1;
    free(steps);
    return newest;
}

/* The line with run.stop in a resolved case; returns its length, 0 if there is none. */
static size_t stop_line(const char *text, const char **line)
{
    static const char begin[] = "\n  stop: ";
    *line = strstr(text, begin);
    return *line ? 1 + strcspn(*line + 1, "\n") : 0;
}

/* Have two resolved cases the same run.stop? */
static bool same_stop(const char *a, const char *b)
{
    const char *left, *right;
    const size_t length = stop_line(a, &left);
    return length == stop_line(b, &right) && length > 0 && strncmp(left, right, length) == 0;
}

/* Rank 0: does the run in dir, if any, belong to this case? *before: its resolved case, allocated,
 * or NULL. */
static enum status case_in_folder(const struct flow_case *c, const char *dir, char **before)
{
    char path[FOLDER_PATH], name[FOLDER_PATH];
    *before = NULL;
    if (!folder_holds_run(dir, name))
        return STATUS_OK;
    if (!folder_path(path, dir, "case.yaml") || access(path, F_OK) != 0)
        return fail_user("%s holds %s but no case.yaml: it is not known what run that is "
                         "(--overwrite to replace it, or --output DIR for another folder)",
                         dir, name);
    const enum status status = file_read(path, CASE_LIMIT, before, NULL);
    return status ? status : case_same_flow(*before, c->resolved, path);
}

/* Was the resolved case made with this physics version? */
static enum status same_physics(const char *resolved, const char *whose)
{
    const int version = case_physics(resolved);
    if (version == CASE_PHYSICS)
        return STATUS_OK;
    return fail_user("cannot go on from %s: it was made by version %d of the physics, and this "
                     "tagflow has version %d (go on with the tagflow that made it, or start from "
                     "the beginning with --overwrite)",
                     whose, version, CASE_PHYSICS);
}

/* Rank 0: has the run in dir ended? before: its resolved case. status.json alone does not decide:
 * report.json must say the same, and the newest checkpoint, if there is one, be of that step. */
static enum status end_in_folder(const struct flow_case *c, const char *dir, const char *before,
                                 enum restart_from *from)
{
    const struct record now = read_record(dir, "status.json"),
                        end = read_record(dir, "report.json");
    const bool ended = now.known && (now.state == RUN_diverged || now.state == RUN_done);
    const bool agree = ended && end.known && end.state == now.state && end.step == now.step;
    const int64_t newest = ended ? newest_step(dir) : -1;
    if (newest < -1)
        return STATUS_MACHINE;
    if (agree && now.state == RUN_diverged) {
        fail_user("the run in %s diverged at step %lld; see its log.txt (--restart FILE to go on "
                  "from a checkpoint all the same)",
                  dir, (long long)now.step);
        return STATUS_DIVERGED;
    }
    const bool kept = !strstr(before, "\ncheckpoint:\n  every: 0\n"); /* one at the end, too */
    const bool done = agree && (newest < 0 || newest == now.step || (newest < now.step && !kept));
    const bool older = case_physics(before) != CASE_PHYSICS;
    const bool steady = now.step < now.steps && now.steps == c->run.steps && end.by_stop &&
                        (older || same_stop(before, c->resolved));
    if (done && now.state == RUN_done && (now.step >= c->run.steps || steady)) {
        say("the run in %s is done at step %lld (a %s would go on)", dir, (long long)now.step,
            steady ? "smaller run.stop.change" : "larger run.steps");
        *from = RESTART_DONE;
        output_check_files(c, dir);
    }
    if (ended && !done)
        warn("status_contradicts",
             "%s/status.json says that the run %s at step %lld, but its report.json or its "
             "newest checkpoint does not: it is not taken as ended",
             dir, now.state == RUN_done ? "is done" : "diverged", (long long)now.step);
    return *from == RESTART_DONE ? STATUS_OK : same_physics(before, dir);
}

/* Rank 0: there is no checkpoint in dir. Are its results those of a job that died before its first
 * one, so that they will be written again? Others must not be lost. */
static enum status may_begin(const char *dir, const struct results *results)
{
    const struct record now = read_record(dir, "status.json"),
                        end = read_record(dir, "report.json");
    const bool died = now.known && now.state != RUN_done && now.state != RUN_stopped &&
                      now.state != RUN_diverged && !now.checkpoint;
    char path[FOLDER_PATH], how[96] = "";
    const enum status status = folder_result(dir, results, path);
    if (status || !*path || (died && (!end.known || end.state == RUN_failed)))
        return status;
    if (now.known)
        snprintf(how, sizeof how, " that %s step %lld",
                 now.state == RUN_done ? "is done at" : "reached", (long long)now.step);
    return fail_user("%s holds results of a run%s, for example %s, but no checkpoint: to begin "
                     "anew would remove them (put a checkpoint back, --overwrite to begin anew, or "
                     "--output DIR for another folder)",
                     dir, how, path);
}

/* Does a verified checkpoint belong to this case? */
static enum status fits(const struct checkpoint *k, const struct flow_case *c, const char *path)
{
    for (int a = 0; a < 3; a++)
        if (k->cells[a] != c->cells[a])
            return fail_user("cannot restart from %s: it holds a grid of %d x %d x %d cells, and "
                             "the case has %d x %d x %d",
                             path, k->cells[0], k->cells[1], k->cells[2], c->cells[0], c->cells[1],
                             c->cells[2]);
    enum status status = same_physics(k->case_text, path);
    if (!status)
        status = case_same_flow(k->case_text, c->resolved, path);
    if (!status && k->step > c->run.steps)
        return fail_user("cannot restart from %s: it is of step %lld, and the case ends at step "
                         "%lld (a larger run.steps)",
                         path, (long long)k->step, (long long)c->run.steps);
    return status;
}

/* Opens the newest checkpoint in dir that verifies. */
static enum status newest(const char *dir, MPI_Comm comm, enum restart_from *from,
                          struct checkpoint *k, char path[FOLDER_PATH])
{
    int rank, count = 0;
    int64_t *steps = NULL;
    char reason[CHECKPOINT_REASON];
    MPI_Comm_rank(comm, &rank);
    if (rank == 0)
        count = folder_checkpoints(dir, &steps);
    MPI_Bcast(&count, 1, MPI_INT, 0, comm);
    *from = RESTART_BEGINNING;
    for (int i = 0; i < count && *from == RESTART_BEGINNING; i++) {
        int64_t step = rank == 0 ? steps[i] : 0;
        MPI_Bcast(&step, 1, MPI_INT64_T, 0, comm);
        if (!folder_checkpoint(path, dir, step))
            break;
        const bool whole = checkpoint_open(k, comm, path, reason);
        if (whole && k->step == step) {
            *from = RESTART_CHECKPOINT;
            break;
        }
        if (whole)
            snprintf(reason, sizeof reason, "it is of step %lld", (long long)k->step);
        checkpoint_close(k);
        warn("checkpoint_unused", "%s is not used: %s", path, reason);
    }
    free(steps);
    if (count < 0)
        return STATUS_MACHINE;
    if (count == 0 || *from == RESTART_CHECKPOINT)
        return STATUS_OK;
    if (rank == 0)
        fail_machine("none of the checkpoints in %s is whole (--overwrite to start from the "
                     "beginning)",
                     dir);
    return STATUS_MACHINE;
}

enum status restart_choose(const char *which, const struct flow_case *c, const char *dir,
                           const struct results *results, MPI_Comm comm, enum restart_from *from,
                           struct checkpoint *k, char path[FOLDER_PATH])
{
    const bool automatic = strcmp(which, "auto") == 0;
    int rank, choice = RESTART_BEGINNING;
    char reason[CHECKPOINT_REASON], *before = NULL;
    enum status status = STATUS_OK;
    MPI_Comm_rank(comm, &rank);
    *k = (struct checkpoint){0};
    *from = RESTART_BEGINNING;
    if (!automatic && snprintf(path, FOLDER_PATH, "%s", which) >= FOLDER_PATH)
        return fail_user("--restart: the name of the file is too long");
    if (!automatic && !checkpoint_open(k, comm, path, reason)) {
        if (k->blame == STATUS_USAGE)
            return fail_user("cannot restart from %s: %s", path, reason);
        return rank ? STATUS_MACHINE : fail_machine("cannot restart from %s: %s", path, reason);
    }
    if (rank == 0) {
        status = case_in_folder(c, dir, &before);
        if (!status && automatic && before)
            status = end_in_folder(c, dir, before, from);
        choice = (int)*from;
        free(before);
    }
    status = status_agree(comm, status);
    MPI_Bcast(&choice, 1, MPI_INT, 0, comm);
    *from = automatic ? (enum restart_from)choice : RESTART_CHECKPOINT;
    if (!status && *from == RESTART_BEGINNING)
        status = newest(dir, comm, from, k, path);
    if (!status && *from == RESTART_BEGINNING)
        status = status_agree(comm, rank == 0 ? may_begin(dir, results) : STATUS_OK);
    if (!status && *from == RESTART_CHECKPOINT)
        status = status_agree(comm, fits(k, c, path));
    if (status)
        checkpoint_close(k);
    return status;
}
