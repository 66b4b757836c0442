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

static bool holds_a_run(const char *dir)
{
    char path[FOLDER_PATH];
    for (int i = 0; i < FILES; i++)
        if (folder_path(path, dir, files[i]) && access(path, F_OK) == 0)
            return true;
    return false;
}

static enum status remove_file(const char *path)
{
    if (unlink(path) && errno != ENOENT)
        return fail_machine("cannot remove %s: %s", path, strerror(errno));
    return STATUS_OK;
}

/* Remove files with the ending, or left over from a run that was killed while writing one. */
static enum status empty_folder(const char *dir, const char *ending)
{
    DIR *const d = opendir(dir);
    enum status status = STATUS_OK;
    if (!d)
        return errno == ENOENT ? STATUS_OK : fail_machine("cannot read %s: %s", dir, strerror(errno));
    for (const struct dirent *e = readdir(d); e && !status; e = readdir(d)) {
        char path[FOLDER_PATH];
        if ((ends_with(e->d_name, ending) || ends_with(e->d_name, FILE_TEMPORARY)) &&
            folder_path(path, dir, e->d_name))
            status = remove_file(path);
    }
    closedir(d);
    return status;
}

enum status folder_open(const char *dir, bool overwrite)
{
    char path[FOLDER_PATH];
    enum status status = STATUS_OK;
    if (holds_a_run(dir) && !overwrite)
        return fail_user("%s holds a run already (--overwrite to replace it, or --output DIR for another "
                         "folder)",
                         dir);
    status = folder_create(dir);
    for (int i = 0; i < FILES && !status; i++)
        if (folder_path(path, dir, files[i]))
            status = remove_file(path);
    for (int i = 0; i < FOLDERS && !status; i++) {
        if (!folder_path(path, dir, folders[i].name))
            return fail_user("the name of the output folder is too long");
        status = folder_create(path);
        if (!status)
            status = empty_folder(path, folders[i].ending);
    }
    return status;
}
