/* A run's folder; see folder.h. */
#include "run/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/message.h"

/* What a run leaves: files, and folders with files of one ending. */
static const char *const files[] = {"case.yaml", "log.txt", "status.json", "report.json"};
static const struct {
    const char *name, *ending;
} folders[] = {{"fields", ".vtkhdf"}, {"images", ".png"}, {"series", ".csv"}};

/* Room for what is put behind the folder's name: /fields/<name>_<step>.vtkhdf.tmp */
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

/* Is this what a run writes into its folder i, or a leftover of one that was killed meanwhile? */
static bool is_result(const char *name, int i)
{
    return ends_with(name, folders[i].ending) || ends_with(name, FILE_TEMPORARY);
}

/* Does dir hold anything that a new run would replace? Its name then, for the message. */
static bool holds_a_run(const char *dir, char name[FOLDER_PATH])
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

/* Remove files with the ending, or left over from a run that was killed while writing one. */
static enum status empty_folder(const char *dir, int i)
{
    DIR *const d = opendir(dir);
    enum status status = STATUS_OK;
    if (!d)
        return errno == ENOENT ? STATUS_OK
                               : fail_machine("cannot read %s: %s", dir, strerror(errno));
    for (const struct dirent *e = readdir(d); e && !status; e = readdir(d)) {
        char path[FOLDER_PATH];
        if (is_result(e->d_name, i) && folder_path(path, dir, e->d_name))
            status = remove_file(path);
    }
    closedir(d);
    return status;
}

/* The first `length` bytes of dir are a folder afterwards. */
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

/* dir and the folders that it is in. */
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

/* Is the case that is to run the case.yaml of this folder, which the run would replace? */
static bool holds_the_case(const char *dir, const char *case_path)
{
    char path[FOLDER_PATH];
    struct stat ours, theirs;
    return folder_path(path, dir, files[0]) && stat(path, &ours) == 0 &&
           stat(case_path, &theirs) == 0 && ours.st_dev == theirs.st_dev &&
           ours.st_ino == theirs.st_ino;
}

enum status folder_open(const char *dir, bool overwrite, const char *case_path)
{
    char path[FOLDER_PATH];
    enum status status = STATUS_OK;
    if (holds_the_case(dir, case_path))
        return fail_user(
            "%s: a run in %s would replace this file (copy it elsewhere, or --output DIR for "
            "another folder)",
            case_path, dir);
    if (!overwrite && holds_a_run(dir, path))
        return fail_user(
            "%s holds a run already, %s (--overwrite to replace it, or --output DIR for another "
            "folder)",
            dir, path);
    status = make_folders(dir);
    for (int i = 0; i < FILES && !status; i++)
        if (folder_path(path, dir, files[i]))
            status = remove_file(path);
    for (int i = 0; i < FOLDERS && !status; i++) {
        if (!folder_path(path, dir, folders[i].name))
            return fail_user("the name of the output folder is too long");
        status = folder_create(path);
        if (!status)
            status = empty_folder(path, i);
    }
    return status;
}
