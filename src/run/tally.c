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
#include "run/folder.h"

enum { NONE = -1 };

struct count {
    int64_t files, bytes, last, last_bytes; /* last: step of the newest file */
};

struct entry {
    enum results_part part;
    const char *name;
    struct count count; /* files NONE: not known */
    int64_t pending;    /* step of a file that is not complete yet, or NONE */
};

struct tally {
    const char *dir;
    bool root;
    int entries;
    struct entry entry[];
};

static enum status enter(struct tally *t, enum results_part part, const char *name,
                         struct state *state)
{
    struct entry *const e = &t->entry[t->entries++];
    char full[STATE_NAME];
    *e = (struct entry){part, name, {NONE, 0, NONE, 0}, NONE};
    snprintf(full, sizeof full, "files/%s/%s", results_folder(part), name);
    const enum status status = state_add_numbers(
        state, full, "of the output: files, bytes, step and bytes of the last file", SAMPLE_int64,
        sizeof e->count / sizeof(int64_t), &e->count);
    if (!status)
        state_optional(state);
    return status;
}

enum status tally_create(struct tally **out, const struct flow_case *c, const char *dir, bool root,
                         struct state *state)
{
    const int most = c->fields_count + c->averages_count + c->surfaces_count + c->images_count;
    struct tally *const t = calloc(1, sizeof *t + (size_t)most * sizeof(struct entry));
    enum status status = STATUS_OK;
    *out = t;
    if (!t)
        return fail_machine("out of memory for the counts of files");
    t->dir = dir;
    t->root = root;
    for (int i = 0; i < c->fields_count && !status; i++)
        status = enter(t, RESULTS_fields, c->fields[i].name, state);
    for (int i = 0; i < c->averages_count && !status; i++)
        status = enter(t, RESULTS_fields, c->averages[i].name, state);
    for (int i = 0; i < c->surfaces_count && !status; i++)
        status = enter(t, RESULTS_fields, c->surfaces[i].name, state);
    for (int i = 0; i < c->images_count && !status; i++)
        status = enter(t, RESULTS_images, c->images[i].name, state);
    return status;
}

void tally_destroy(struct tally *t)
{
    free(t);
}

static void count_file(struct count *c, int64_t step, int64_t bytes)
{
    if (step == c->last) { /* written again */
        c->bytes -= c->last_bytes;
    } else {
        c->files++;
    }
    c->bytes += bytes;
    if (step >= c->last) {
        c->last = step;
        c->last_bytes = bytes;
    }
}

void tally_add(struct tally *t, enum results_part part, const char *name, int64_t step)
{
    struct stat info;
    char file[FOLDER_PATH], path[FOLDER_PATH];
    for (int i = 0; i < t->entries && t->root; i++) {
        struct entry *const e = &t->entry[i];
        if (e->part != part || strcmp(e->name, name) != 0)
            continue;
        snprintf(file, sizeof file, "%s/%s_%0*" PRId64 "%s", results_folder(part), name,
                 RESULTS_DIGITS, step, results_ending(part));
        if (folder_path(path, t->dir, file) && stat(path, &info) == 0)
            count_file(&e->count, step, info.st_size);
    }
}

void tally_later(struct tally *t, enum results_part part, const char *name, int64_t step)
{
    for (int i = 0; i < t->entries; i++)
        if (t->entry[i].part == part && strcmp(t->entry[i].name, name) == 0)
            t->entry[i].pending = step;
}

void tally_complete(struct tally *t)
{
    for (int i = 0; i < t->entries; i++) {
        struct entry *const e = &t->entry[i];
        if (e->pending != NONE)
            tally_add(t, e->part, e->name, e->pending);
        e->pending = NONE;
    }
}

/* ---- at a restart ---- */

/* The step of a file of this output; NONE: it is another file. */
static int64_t step_of(const struct entry *e, const char *file)
{
    const size_t length = strlen(e->name);
    const char *const digits = file + length + 1;
    if (strncmp(file, e->name, length) != 0 || file[length] != '_' ||
        strspn(digits, "0123456789") != RESULTS_DIGITS ||
        strcmp(digits + RESULTS_DIGITS, results_ending(e->part)) != 0)
        return NONE;
    return strtoll(digits, NULL, 10);
}

/* Counts the files in a folder up to this step. found: [entries] */
static void look(const struct tally *t, enum results_part part, int64_t last, struct count *found)
{
    char folder[FOLDER_PATH], path[FOLDER_PATH];
    struct stat info;
    DIR *const d = folder_path(folder, t->dir, results_folder(part)) ? opendir(folder) : NULL;
    for (const struct dirent *f = d ? readdir(d) : NULL; f; f = readdir(d))
        for (int i = 0; i < t->entries; i++) {
            const int64_t step = t->entry[i].part == part ? step_of(&t->entry[i], f->d_name) : NONE;
            if (step != NONE && step <= last && folder_path(path, folder, f->d_name) &&
                lstat(path, &info) == 0)
                count_file(&found[i], step, info.st_size);
        }
    if (d)
        closedir(d);
}

static void compare(const struct tally *t, const struct entry *e, const struct count *found,
                    int64_t last)
{
    const struct count *const was = &e->count;
    const char *const folder = results_folder(e->part);
    if (found->files < was->files)
        warn("%s/%s: %" PRId64 " of the %" PRId64 " files of %s up to step %" PRId64
             " are not there",
             t->dir, folder, was->files - found->files, was->files, e->name, last);
    else if (found->files == was->files && found->bytes != was->bytes)
        warn("%s/%s: the files of %s up to step %" PRId64 " have %" PRId64
             " bytes, and had %" PRId64
             " when the checkpoint was written: some were cut or changed",
             t->dir, folder, e->name, last, found->bytes, was->bytes);
}

void tally_start(struct tally *t, int64_t resumed, bool here)
{
    struct count *const found = calloc((size_t)t->entries + 1, sizeof *found);
    for (int i = 0; found && i < t->entries; i++)
        found[i].last = NONE;
    for (enum results_part p = RESULTS_fields; found && p <= RESULTS_images && t->root; p++)
        if (resumed >= 0)
            look(t, p, resumed, found);
    for (int i = 0; found && i < t->entries; i++) {
        struct entry *const e = &t->entry[i];
        if (resumed >= 0 && here && e->count.files != NONE && t->root)
            compare(t, e, &found[i], resumed);
        e->count = found[i];
    }
    free(found);
}

/* ---- of a run that has ended ---- */

/* Reads the counts from a checkpoint. */
static void read_counts(const struct checkpoint *k, const char *path, const struct state *state)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (int i = 0; fd >= 0 && i < state->count; i++)
        for (int j = 0; j < k->count; j++) {
            const struct state_array *const to = &state->array[i];
            const struct checkpoint_array *const from = &k->array[j];
            int64_t numbers[sizeof(struct count) / sizeof(int64_t)];
            if (strcmp(to->name, from->name) == 0 && !from->in_cells &&
                from->components == to->components && from->sample == (int)to->sample &&
                file_read_at(fd, numbers, sizeof numbers, from->offset) == 0)
                memcpy(to->data, numbers, sizeof numbers);
        }
    if (fd >= 0)
        close(fd);
}

void tally_check(const struct flow_case *c, const char *dir)
{
    char path[FOLDER_PATH], reason[CHECKPOINT_REASON];
    struct checkpoint k = {0};
    struct state state = {0};
    struct tally *t = NULL;
    int64_t *steps;
    const bool there = folder_checkpoints(dir, &steps) > 0;
    if (there && folder_checkpoint(path, dir, steps[0]) &&
        checkpoint_describe(&k, MPI_COMM_SELF, path, reason) &&
        !tally_create(&t, c, dir, true, &state)) {
        read_counts(&k, path, &state);
        tally_start(t, k.step, true);
    }
    free(steps);
    tally_destroy(t);
    state_destroy(&state);
    checkpoint_close(&k);
}
