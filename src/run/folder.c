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

#include "base/file.h"
#include "base/message.h"
#include "run/lock.h"

/* The results of a run: files, and folders of files with one ending. */
static const char *const files[] = {"case.yaml", "log.txt", "status.json", "report.json"};
static const struct {
    const char *name, *ending;
} folders[] = {
    {"fields", ".vtkhdf"}, {"images", ".png"}, {"series", ".csv"}, {"checkpoints", ".h5"}};

/* Appended to the name of a checkpoint that must not be used any more. */
#define ASIDE ".aside"
enum { STEP_DIGITS = 10 };

/* Room behind the folder's name, for /fields/<name>_<step>.vtkhdf.tmp */
enum { LONGEST_NAME = 128 };

enum { FILES = sizeof files / sizeof *files, FOLDERS = sizeof folders / sizeof *folders };

bool folder_path(char path[FOLDER_PATH], const char *dir, const char *name)
{
    return snprintf(path, FOLDER_PATH, "%s/%s", dir, name) < FOLDER_PATH;
}

static bool ends_with(const char *name, const char *ending)
{
    const size_t n = strlen(name), e = strlen(ending);
    return n > e && strcmp(name + n - e, ending) == 0;
}

/* Is this a file that a run writes into its folder i, or that a killed run left there? */
static bool is_result(const char *name, int i)
{
    return ends_with(name, folders[i].ending) || ends_with(name, FILE_TEMPORARY) ||
           ends_with(name, ASIDE);
}

bool folder_holds_run(const char *dir, char name[FOLDER_PATH])
{
    char path[FOLDER_PATH];
    bool found = false;
    for (int i = 0; i < FILES && !found; i++)
        found = folder_path(path, dir, strcpy(name, files[i])) && access(path, F_OK) == 0;
    for (int i = 0; i < FOLDERS && !found; i++) {
        DIR *const d = folder_path(path, dir, folders[i].name) ? opendir(path) : NULL;
        for (const struct dirent *e = d ? readdir(d) : NULL; e && !found; e = readdir(d)) {
            found = is_result(e->d_name, i);
            if (found)
                folder_path(name, folders[i].name, e->d_name);
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

/* Calls `visitor` for every result in folder i of dir, with its name and path. The visitor may
 * remove or rename it. */
static enum status
visit(const char *dir, int i,
      enum status (*visitor)(int i, const char *name, const char *path, int64_t step), int64_t step)
{
    char folder[FOLDER_PATH], path[FOLDER_PATH];
    if (!folder_path(folder, dir, folders[i].name))
        return fail_user("the name of the output folder is too long");
    DIR *const d = opendir(folder);
    enum status status = STATUS_OK;
    if (!d)
        return errno == ENOENT ? STATUS_OK
                               : fail_machine("cannot read %s: %s", folder, strerror(errno));
    for (const struct dirent *e = readdir(d); e && !status; e = readdir(d))
        if (is_result(e->d_name, i) && folder_path(path, folder, e->d_name))
            status = visitor(i, e->d_name, path, step);
    closedir(d);
    return status;
}

static enum status remove_any(int i, const char *name, const char *path, int64_t step)
{
    (void)i, (void)name, (void)step;
    return remove_file(path);
}

/* The step in "<name>_<10 digits><ending>"; -1: another kind of name. */
static int64_t step_of(const char *name, const char *ending)
{
    const size_t length = strlen(name), tail = strlen(ending);
    if (!ends_with(name, ending) || length < tail + STEP_DIGITS + 1)
        return -1;
    const char *const digits = name + length - tail - STEP_DIGITS;
    if (digits[-1] != '_' || strspn(digits, "0123456789") != STEP_DIGITS)
        return -1;
    return strtoll(digits, NULL, 10);
}

static enum status rewind_file(int i, const char *name, const char *path, int64_t step)
{
    char aside[FOLDER_PATH];
    if (ends_with(name, FILE_TEMPORARY))
        return remove_file(path);
    /* A number at the end of a series' name is not a step. */
    if (strcmp(folders[i].name, "series") == 0 || step_of(name, folders[i].ending) <= step)
        return STATUS_OK;
    if (strcmp(folders[i].name, "checkpoints") != 0)
        return remove_file(path);
    if (snprintf(aside, sizeof aside, "%s" ASIDE, path) < FOLDER_PATH && rename(path, aside) == 0)
        return STATUS_OK;
    return fail_machine("cannot rename %s: %s", path, strerror(errno));
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

enum status folder_rewind(const char *dir, int64_t step)
{
    enum status status = STATUS_OK;
    for (int i = 0; i < FOLDERS && !status; i++)
        status = visit(dir, i, rewind_file, step);
    return status;
}

enum status folder_empty(const char *dir)
{
    char path[FOLDER_PATH];
    enum status status = STATUS_OK;
    /* Checkpoints first, the case last: if this is interrupted, no run continues from the rest, and
     * the case still tells what it was. */
    for (int i = 0; i < FOLDERS && !status; i++)
        status = visit(dir, i, remove_any, 0);
    for (int i = FILES - 1; i >= 0 && !status; i--)
        if (folder_path(path, dir, files[i]))
            status = remove_file(path);
    return status;
}

void folder_checkpoint_name(char name[FOLDER_CHECKPOINT_NAME], int64_t step)
{
    snprintf(name, FOLDER_CHECKPOINT_NAME, "checkpoints/step_%0*" PRId64 ".h5", STEP_DIGITS, step);
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
    int count = 0;
    *steps = NULL;
    DIR *const d = folder_path(folder, dir, "checkpoints") ? opendir(folder) : NULL;
    if (!d && errno == ENOENT)
        return 0;
    if (!d) {
        fail_machine("cannot read %s: %s", folder, strerror(errno));
        return -1;
    }
    for (const struct dirent *e = readdir(d); e; e = readdir(d)) {
        const int64_t step = step_of(e->d_name, ".h5");
        char name[FOLDER_CHECKPOINT_NAME];
        folder_checkpoint_name(name, step);
        if (step < 0 || strcmp(strchr(name, '/') + 1, e->d_name) != 0)
            continue;
        int64_t *const more = realloc(*steps, ((size_t)count + 1) * sizeof *more);
        if (!more) {
            fail_machine("out of memory for a list of checkpoints");
            count = -1;
            break;
        }
        *steps = more;
        more[count++] = step;
    }
    closedir(d);
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
    char path[FOLDER_PATH];
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
    for (int i = 0; i < FOLDERS && !status; i++)
        status = folder_path(path, dir, folders[i].name)
                     ? folder_create(path)
                     : fail_user("the name of the output folder is too long");
    if (!status && mode != FOLDER_RESUME)
        status = folder_empty(dir);
    if (status) {
        lock_release(*lock);
        *lock = NULL;
    }
    return status;
}
