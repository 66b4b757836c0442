/* A run's folder; see folder.h. */
#include "run/folder.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/message.h"
#include "run/lock.h"

/* The results of a run: these files, and those of run/results.h. */
static const char *const files[] = {"case.yaml", "log.txt", "status.json", "report.json"};

/* Room behind the folder's name, for /fields/<name>_<step>.vtkhdf.tmp */
enum { LONGEST_NAME = 128 };

enum { CASE_LIMIT = 64 << 20, REPORTS = 2, FILES = sizeof files / sizeof *files };

bool folder_path(char path[FOLDER_PATH], const char *dir, const char *name)
{
    return snprintf(path, FOLDER_PATH, "%s/%s", dir, name) < FOLDER_PATH;
}

enum status folder_file(char path[FOLDER_PATH], const char *dir, enum results_part part,
                        const char *name, int64_t step)
{
    char digits[32] = "";
    if (part != RESULTS_series)
        snprintf(digits, sizeof digits, "_%0*" PRId64, RESULTS_DIGITS, step);
    if (snprintf(path, FOLDER_PATH, "%s/%s/%s%s%s", dir, results_folder(part), name, digits,
                 results_ending(part)) < FOLDER_PATH)
        return STATUS_OK;
    return fail_user("the name of the output folder is too long");
}

static bool ends_with(const char *name, const char *ending)
{
    const size_t n = strlen(name), e = strlen(ending);
    return n > e && strcmp(name + n - e, ending) == 0;
}

/* May this be a file that some run wrote into this folder, or that a killed run left there? */
static bool may_be_result(const char *name, enum results_part part)
{
    return ends_with(name, results_ending(part)) || ends_with(name, FILE_TEMPORARY) ||
           ends_with(name, RESULTS_ASIDE);
}

bool folder_holds_run(const char *dir, char name[FOLDER_PATH])
{
    char path[FOLDER_PATH];
    bool found = false;
    for (int i = 0; i < FILES && !found; i++)
        found = folder_path(path, dir, strcpy(name, files[i])) && access(path, F_OK) == 0;
    for (enum results_part i = 0; i < RESULTS_PARTS && !found; i++) {
        DIR *const d = folder_path(path, dir, results_folder(i)) ? opendir(path) : NULL;
        for (const struct dirent *e = d ? readdir(d) : NULL; e && !found; e = readdir(d)) {
            found = may_be_result(e->d_name, i);
            if (found)
                folder_path(name, results_folder(i), e->d_name);
        }
        if (d)
            closedir(d);
    }
    return found;
}

static enum status remove_file(const char *path)
{
    if (unlink(path) && errno != ENOENT)
        return fail_machine("cannot remove %s: %s", path, strerror(errno));
    return STATUS_OK;
}

/* Calls `visitor` for every file of the run in a folder of dir. The visitor may remove or rename
 * it, and ends the visit by RESULTS_FOREIGN as its kind. */
static enum status
visit(const char *dir, const struct results *r, enum results_part part,
      enum status (*visitor)(struct results_file *f, const char *path, void *data), void *data)
{
    char folder[FOLDER_PATH], path[FOLDER_PATH];
    if (!folder_path(folder, dir, results_folder(part)))
        return fail_user("the name of the output folder is too long");
    DIR *const d = opendir(folder);
    enum status status = STATUS_OK;
    bool ended = false;
    if (!d)
        return errno == ENOENT ? STATUS_OK
                               : fail_machine("cannot read %s: %s", folder, strerror(errno));
    for (const struct dirent *e = readdir(d); e && !status && !ended; e = readdir(d)) {
        struct results_file f = results_look(r, part, e->d_name);
        if (f.kind == RESULTS_FOREIGN || !folder_path(path, folder, e->d_name))
            continue;
        status = visitor(&f, path, data);
        ended = f.kind == RESULTS_FOREIGN;
    }
    closedir(d);
    return status;
}

static enum status remove_any(struct results_file *f, const char *path, void *data)
{
    (void)f, (void)data;
    return remove_file(path);
}

/* Files that will not be written again stay, under another name. */
static enum status rewind_file(struct results_file *f, const char *path, void *data)
{
    const int64_t *const step = data;
    char aside[FOLDER_PATH];
    if (f->kind == RESULTS_TEMPORARY)
        return remove_file(path);
    if (f->kind == RESULTS_PUT_ASIDE || f->step <= *step)
        return STATUS_OK;
    if (f->again)
        return remove_file(path);
    if (snprintf(aside, sizeof aside, "%s" RESULTS_ASIDE, path) < FOLDER_PATH &&
        rename(path, aside) == 0)
        return STATUS_OK;
    return fail_machine("cannot rename %s: %s", path, strerror(errno));
}

static enum status take_path(struct results_file *f, const char *path, void *data)
{
    if (f->kind != RESULTS_WHOLE)
        return STATUS_OK;
    strcpy(data, path);
    f->kind = RESULTS_FOREIGN;
    return STATUS_OK;
}

enum status folder_learn(const char *dir, struct results *r)
{
    char path[FOLDER_PATH], *text;
    if (!folder_path(path, dir, files[0]) || file_get(path, CASE_LIMIT, &text, NULL))
        return STATUS_OK;
    const enum status status = results_add(r, text);
    free(text);
    return status;
}

enum status folder_result(const char *dir, const struct results *r, char path[FOLDER_PATH])
{
    enum status status = STATUS_OK;
    *path = '\0';
    for (enum results_part i = 0; i < RESULTS_checkpoints && !status && !*path; i++)
        status = visit(dir, r, i, take_path, path);
    return status;
}

/* Is this a file that a killed run did not complete: "status.json.tmp", or with its number? */
static bool is_incomplete(const char *name)
{
    for (int i = 0; i < FILES; i++) {
        const size_t length = strlen(files[i]);
        if (strncmp(name, files[i], length) == 0 && name[length] == '.' &&
            ends_with(name, FILE_TEMPORARY))
            return true;
    }
    return false;
}

enum status folder_tidy(const char *dir)
{
    char path[FOLDER_PATH];
    enum status status = STATUS_OK;
    DIR *const d = opendir(dir);
    if (!d)
        return fail_machine("cannot open the folder %s: %s", dir, strerror(errno));
    for (const struct dirent *e; !status && (e = readdir(d));)
        if (is_incomplete(e->d_name) && folder_path(path, dir, e->d_name))
            status = remove_file(path);
    closedir(d);
    return status;
}

enum status folder_rewind(const char *dir, const struct results *r, int64_t step)
{
    enum status status = STATUS_OK;
    for (enum results_part i = 0; i < RESULTS_PARTS && !status; i++)
        status = visit(dir, r, i, rewind_file, &step);
    return status;
}

/* Removes those of the files from number `first` on, before `end`, the last one first. */
static enum status remove_files(const char *dir, int first, int end)
{
    char path[FOLDER_PATH];
    enum status status = STATUS_OK;
    for (int i = end - 1; i >= first && !status; i--)
        if (folder_path(path, dir, files[i]))
            status = remove_file(path);
    return status;
}

enum status folder_forget_end(const char *dir)
{
    return remove_files(dir, REPORTS, FILES);
}

enum status folder_empty(const char *dir, const struct results *r)
{
    enum status status = STATUS_OK;
    /* Checkpoints first, the case last: if this is interrupted, no run continues from the rest, and
     * the case still tells what it was. */
    for (int i = RESULTS_PARTS - 1; i >= 0 && !status; i--)
        status = visit(dir, r, (enum results_part)i, remove_any, NULL);
    return status ? status : remove_files(dir, 0, REPORTS);
}

void folder_checkpoint_name(char name[FOLDER_CHECKPOINT_NAME], int64_t step)
{
    snprintf(name, FOLDER_CHECKPOINT_NAME, "checkpoints/step_%0*" PRId64 ".h5", RESULTS_DIGITS,
             step);
}

bool folder_checkpoint(char path[FOLDER_PATH], const char *dir, int64_t step)
{
    char name[FOLDER_CHECKPOINT_NAME];
    folder_checkpoint_name(name, step);
    return folder_path(path, dir, name);
}

static int newest_first(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a < b) - (a > b);
}

int folder_checkpoints(const char *dir, int64_t **steps)
{
    char folder[FOLDER_PATH];
    struct results names = {0};
    int count = 0;
    *steps = NULL;
    if (results_add(&names, ""))
        return -1;
    DIR *const d = folder_path(folder, dir, "checkpoints") ? opendir(folder) : NULL;
    if (!d && errno != ENOENT) {
        fail_machine("cannot read %s: %s", folder, strerror(errno));
        count = -1;
    }
    for (const struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        const struct results_file f = results_look(&names, RESULTS_checkpoints, e->d_name);
        if (f.kind != RESULTS_WHOLE)
            continue;
        if (!ARRAY_ADD(*steps, count, f.step)) {
            fail_machine("out of memory for a list of checkpoints");
            count = -1;
            break;
        }
    }
    if (d)
        closedir(d);
    results_free(&names);
    if (count > 0)
        qsort(*steps, (size_t)count, sizeof **steps, newest_first);
    return count;
}

enum status folder_prune(const char *dir, int keep)
{
    char path[FOLDER_PATH];
    int64_t *steps;
    const int count = folder_checkpoints(dir, &steps);
    enum status status = count < 0 ? STATUS_MACHINE : STATUS_OK;
    for (int i = keep; i < count && !status; i++)
        if (folder_checkpoint(path, dir, steps[i]))
            status = remove_file(path);
    free(steps);
    return status;
}

/* Makes the first `length` bytes of dir a folder, if it is none yet. */
static enum status make_part(const char *dir, size_t length)
{
    char path[FOLDER_PATH];
    struct stat info;
    snprintf(path, sizeof path, "%.*s", (int)length, dir);
    if (stat(path, &info) == 0)
        return S_ISDIR(info.st_mode)
                   ? STATUS_OK
                   : fail_user("%s is not a folder (--output DIR for another one)", path);
    if (errno == ENAMETOOLONG || errno == ENOTDIR)
        return fail_user("%s cannot be a folder: %s (--output DIR for another one)", path,
                         strerror(errno));
    return folder_create(path);
}

/* Makes the folders of results in dir. A link could lead to files of someone else. */
static enum status make_inner_folders(const char *dir)
{
    char path[FOLDER_PATH];
    struct stat info;
    enum status status = STATUS_OK;
    for (enum results_part i = 0; i < RESULTS_PARTS && !status; i++) {
        if (!folder_path(path, dir, results_folder(i)))
            status = fail_user("the name of the output folder is too long");
        else if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode))
            status = fail_user("%s is a link: a run writes only into folders of its own (remove "
                               "it, or --output DIR for another folder)",
                               path);
        else
            status = folder_create(path);
    }
    return status;
}

/* Makes dir and the folders that contain it. */
static enum status make_folders(const char *dir)
{
    const size_t whole = strlen(dir);
    enum status status = STATUS_OK;
    if (whole > FOLDER_PATH - LONGEST_NAME)
        return fail_user("the name of the output folder is too long (%zu bytes, at most %d)", whole,
                         FOLDER_PATH - LONGEST_NAME);
    for (size_t length = 1; length <= whole && !status; length++)
        if (length == whole || (dir[length] == '/' && dir[length - 1] != '/'))
            status = make_part(dir, length);
    return status;
}

/* Is the case file to run the case.yaml of this folder? The run would replace it. */
static bool holds_the_case(const char *dir, const char *case_path)
{
    char path[FOLDER_PATH];
    struct stat ours, theirs;
    return folder_path(path, dir, files[0]) && stat(path, &ours) == 0 &&
           stat(case_path, &theirs) == 0 && ours.st_dev == theirs.st_dev &&
           ours.st_ino == theirs.st_ino;
}

static enum status refuse_run(const char *dir)
{
    char name[FOLDER_PATH];
    if (!folder_holds_run(dir, name))
        return STATUS_OK;
    return fail_user("%s holds a run already, %s (--restart auto to go on with it, --overwrite to "
                     "replace it, or --output DIR for another folder)",
                     dir, name);
}

enum status folder_open(const char *dir, enum folder_mode mode, const char *case_path,
                        struct lock **lock)
{
    *lock = NULL;
    if (holds_the_case(dir, case_path))
        return fail_user(
            "%s: a run in %s would replace this file (copy it elsewhere, or --output DIR for "
            "another folder)",
            case_path, dir);
    enum status status = mode == FOLDER_NEW ? refuse_run(dir) : STATUS_OK;
    if (!status)
        status = make_folders(dir);
    if (!status)
        status = lock_take(lock, dir, mode == FOLDER_RESUME ? STATUS_STOPPED : STATUS_USAGE);
    if (!status && mode == FOLDER_NEW) /* again under the lock: another run may have begun */
        status = refuse_run(dir);
    if (!status)
        status = make_inner_folders(dir);
    if (status) {
        lock_release(*lock);
        *lock = NULL;
    }
    return status;
}
