/* The files of each output; see tally.h. */
#include "run/tally.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/message.h"
#include "run/checkpoint.h"

enum { NONE = -1, REPORT_LIMIT = 64 << 20 /* bytes */, NAME = CASE_NAME + 16 };

static bool has_files(const struct output_entry *e)
{
    return e->part != RESULTS_series;
}

/* The name of an output among all. */
static void name_of(const struct output_entry *e, char name[NAME])
{
    snprintf(name, NAME, "%s/%s", results_folder(e->part), e->name);
}

static enum status register_files(struct output_entry *e, struct state *state)
{
    char full[STATE_NAME], name[NAME];
    e->files = (struct output_files){NONE, 0, NONE, 0};
    if (!has_files(e))
        return STATUS_OK;
    name_of(e, name);
    snprintf(full, sizeof full, "files/%s", name);
    const enum status status = state_add_numbers(
        state, full, "of the output: files, bytes, step and bytes of the last file", SAMPLE_int64,
        sizeof e->files / sizeof(int64_t), &e->files);
    if (!status)
        state_optional(state);
    return status;
}

enum status tally_register(struct output_entry *entry, int count, struct state *state)
{
    enum status status = STATUS_OK;
    for (struct output_entry *e = entry; e < entry + count && !status; e++)
        status = register_files(e, state);
    return status;
}

static void count_file(struct output_files *c, int64_t step, int64_t bytes)
{
    if (step == c->last) { /* written again */
        c->bytes -= c->last_bytes;
    } else {
        c->count++;
    }
    c->bytes += bytes;
    if (step >= c->last) {
        c->last = step;
        c->last_bytes = bytes;
    }
}

void tally_add(struct output_entry *e, int64_t step)
{
    struct stat info;
    char path[FOLDER_PATH];
    if (!folder_file(path, e->dir, e->part, e->name, step) && stat(path, &info) == 0)
        count_file(&e->files, step, info.st_size);
}

/* ---- at a restart ---- */

/* The step of a file of this output; NONE: it is another file. */
static int64_t step_of(const struct output_entry *e, const char *file)
{
    const size_t length = strlen(e->name);
    const char *const digits = file + length + 1;
    if (strncmp(file, e->name, length) != 0 || file[length] != '_' ||
        strspn(digits, "0123456789") != RESULTS_DIGITS ||
        strcmp(digits + RESULTS_DIGITS, results_ending(e->part)) != 0)
        return NONE;
    return strtoll(digits, NULL, 10);
}

/* Counts the files of an output up to this step. */
static struct output_files look(const struct output_entry *e, int64_t last)
{
    struct output_files found = {.last = NONE};
    char folder[FOLDER_PATH], path[FOLDER_PATH];
    struct stat info;
    DIR *const d = folder_path(folder, e->dir, results_folder(e->part)) ? opendir(folder) : NULL;
    for (const struct dirent *f = d ? readdir(d) : NULL; f; f = readdir(d)) {
        const int64_t step = step_of(e, f->d_name);
        if (step != NONE && step <= last && folder_path(path, folder, f->d_name) &&
            lstat(path, &info) == 0)
            count_file(&found, step, info.st_size);
    }
    if (d)
        closedir(d);
    return found;
}

/* since: the end of a sentence on the earlier count. */
static void compare(const struct output_entry *e, const struct output_files *found, int64_t last,
                    const char *since)
{
    const struct output_files *const was = &e->files;
    const char *const folder = results_folder(e->part);
    if (found->count < was->count)
        warn("files_missing",
             "%s/%s: %" PRId64 " of the %" PRId64 " files of %s up to step %" PRId64
             " are not there",
             e->dir, folder, was->count - found->count, was->count, e->name, last);
    else if (found->count == was->count && found->bytes != was->bytes)
        warn("files_changed",
             "%s/%s: the files of %s up to step %" PRId64 " have %" PRId64
             " bytes, and had %" PRId64 " when the %s: some were cut or changed",
             e->dir, folder, e->name, last, found->bytes, was->bytes, since);
}

/* Counts the files anew; since: compares them, as above. */
static void look_at_all(struct output_entry *entry, int count, int64_t last, const char *since)
{
    for (struct output_entry *e = entry; e < entry + count; e++) {
        const struct output_files found =
            last >= 0 && has_files(e) ? look(e, last) : (struct output_files){.last = NONE};
        if (since && e->files.count != NONE)
            compare(e, &found, last, since);
        e->files = found;
    }
}

static const char since_checkpoint[] = "checkpoint was written";

void tally_start(struct output_entry *entry, int count, int64_t resumed, bool here)
{
    look_at_all(entry, count, resumed, resumed >= 0 && here ? since_checkpoint : NULL);
}

/* ---- of a run that has ended ---- */

json_t *tally_json(const struct output_entry *entry, int count)
{
    json_t *const all = json_object();
    char name[NAME];
    for (const struct output_entry *e = entry; e < entry + count; e++)
        if (has_files(e)) {
            const struct output_files *const f = &e->files;
            name_of(e, name);
            json_object_set_new(all, name,
                                json_pack("{s:I, s:I, s:I, s:I}", "files", (json_int_t)f->count,
                                          "bytes", (json_int_t)f->bytes, "last",
                                          (json_int_t)f->last, "last_bytes",
                                          (json_int_t)f->last_bytes));
        }
    return all;
}

/* Reads the counts from report.json. Returns its step, NONE: it has none. */
static int64_t read_report(struct output_entry *entry, int count, const char *dir)
{
    char path[FOLDER_PATH], name[NAME], *text = NULL;
    if (!folder_path(path, dir, "report.json") || file_get(path, REPORT_LIMIT, &text, NULL))
        return NONE;
    json_t *const root = json_loads(text, 0, NULL);
    const json_t *const files = json_object_get(root, "files"), *const at =
                                                                    json_object_get(root, "step");
    const int64_t step =
        json_is_object(files) && json_is_integer(at) ? json_integer_value(at) : NONE;
    for (struct output_entry *e = entry; e < entry + count; e++) {
        name_of(e, name);
        const json_t *const own = json_object_get(files, name);
        if (json_is_object(own))
            e->files = (struct output_files){
                json_integer_value(json_object_get(own, "files")),
                json_integer_value(json_object_get(own, "bytes")),
                json_integer_value(json_object_get(own, "last")),
                json_integer_value(json_object_get(own, "last_bytes")),
            };
    }
    json_decref(root);
    free(text);
    return step;
}

/* Reads the counts from a checkpoint. */
static void read_counts(const struct checkpoint *k, const char *path, const struct state *state)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (int i = 0; fd >= 0 && i < state->count; i++)
        for (int j = 0; j < k->count; j++) {
            const struct state_array *const to = &state->array[i];
            const struct checkpoint_array *const from = &k->array[j];
            int64_t numbers[sizeof(struct output_files) / sizeof(int64_t)];
            if (strcmp(to->name, from->name) == 0 && !from->in_cells &&
                from->components == to->components && from->sample == (int)to->sample &&
                file_read_at(fd, numbers, sizeof numbers, from->offset) == 0)
                memcpy(to->data, numbers, sizeof numbers);
        }
    if (fd >= 0)
        close(fd);
}

void tally_check(struct output_entry *entry, int count, const char *dir)
{
    char path[FOLDER_PATH], reason[CHECKPOINT_REASON];
    struct checkpoint k = {0};
    struct state state = {0};
    int64_t *steps;
    for (struct output_entry *e = entry; e < entry + count; e++)
        e->files.count = NONE;
    const int64_t ended = read_report(entry, count, dir);
    if (ended >= 0) {
        look_at_all(entry, count, ended, "run ended");
        return;
    }
    const bool there = folder_checkpoints(dir, &steps) > 0;
    if (there && folder_checkpoint(path, dir, steps[0]) &&
        checkpoint_describe(&k, MPI_COMM_SELF, path, reason) &&
        !tally_register(entry, count, &state)) {
        read_counts(&k, path, &state);
        tally_start(entry, count, k.step, true);
    }
    free(steps);
    state_destroy(&state);
    checkpoint_close(&k);
}
