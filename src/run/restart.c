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
#include "run/report.h"

enum { CASE_LIMIT = 64 << 20 };

/* The state of the run in dir by its status.json; RUN_running if unknown. */
static enum run_state state_of(const char *dir, int64_t *step, int64_t *steps)
{
    char path[FOLDER_PATH];
    enum run_state state = RUN_running;
    json_t *const root =
        folder_path(path, dir, "status.json") ? json_load_file(path, 0, NULL) : NULL;
    const char *const name = json_string_value(json_object_get(root, "state"));
    for (enum run_state s = RUN_starting; name && s <= RUN_failed; s++)
        if (strcmp(name, run_state_name(s)) == 0)
            state = s;
    *step = json_integer_value(json_object_get(root, "step"));
    *steps = json_integer_value(json_object_get(root, "steps"));
    json_decref(root);
    return state;
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

/* Rank 0: has the run in dir ended? before: its resolved case. */
static enum status end_in_folder(const struct flow_case *c, const char *dir, const char *before,
                                 enum restart_from *from)
{
    int64_t step, steps;
    const enum run_state state = state_of(dir, &step, &steps);
    if (state == RUN_diverged) {
        fail_user("the run in %s diverged at step %lld; see its log.txt (--restart FILE to go on "
                  "from a checkpoint all the same)",
                  dir, (long long)step);
        return STATUS_DIVERGED;
    }
    const bool older = case_physics(before) != CASE_PHYSICS;
    const bool steady =
        step < steps && steps == c->run.steps && (older || same_stop(before, c->resolved));
    if (state == RUN_done && (step >= c->run.steps || steady)) {
        say("the run in %s is done at step %lld (a %s would go on)", dir, (long long)step,
            steady ? "smaller run.stop.change" : "larger run.steps");
        *from = RESTART_DONE;
    }
    return *from == RESTART_DONE ? STATUS_OK : same_physics(before, dir);
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
        warn("%s is not used: %s", path, reason);
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
                           MPI_Comm comm, enum restart_from *from, struct checkpoint *k,
                           char path[FOLDER_PATH])
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
    if (!automatic && !checkpoint_open(k, comm, path, reason))
        return fail_user("cannot restart from %s: %s", path, reason);
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
    if (!status && *from == RESTART_CHECKPOINT)
        status = status_agree(comm, fits(k, c, path));
    if (status)
        checkpoint_close(k);
    return status;
}
