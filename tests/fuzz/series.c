/* Fuzz target: the input as the file of a series at a restart, behind three bytes: the last step of
 * the checkpoint, and its mark of the file. Rows are added, and the file is cut once more: then it
 * is whole, and no temporary file is left. Or the case has another series of this name: then
 * the file gets a second name if it has rows. */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "io/series.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {"step", "time", "a"};
static const char header[] = "step,time,a\n";
static char folder[] = "/dev/shm/tagflow-fuzz-XXXXXX";

static void remove_folder(void)
{
    rmdir(folder);
}

/* Removes the files of the folder; one that is temporary is a fault. */
static void remove_files(void)
{
    char path[sizeof folder + 300];
    bool temporary = false;
    DIR *const files = opendir(folder);
    for (struct dirent *e; files && (e = readdir(files));) {
        temporary = temporary || strstr(e->d_name, FILE_TEMPORARY);
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        unlink(path);
    }
    closedir(files);
    if (temporary)
        fuzz_wrong("a temporary file is left");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool begun;
    char path[sizeof folder + 24];
    struct series *series = NULL;
    if (size < 3)
        return 0;
    if (!begun && (!mkdtemp(folder) || atexit(remove_folder)))
        fuzz_wrong("no folder");
    begun = true;
    const int64_t last = data[0];
    const struct series_mark mark = {
        .rows = (int8_t)data[1], .bytes = data[2] * 8 - 3, .sum = data[1] * 77};
    snprintf(path, sizeof path, "%s/s.csv", folder);
    FILE *const file = fopen(path, "w");
    if (!file || (data[1] & 1 && fputs(header, file) < 0) ||
        fwrite(data + 3, 1, size - 3, file) != size - 3 || fclose(file))
        fuzz_wrong("no file");
    said_clear();
    if (data[1] & 8) {
        bool anew;
        if (series_put_aside(path, last, data[1] & 4 ? "of: mass" : NULL, 8, "of: probe", 9, &anew))
            fuzz_wrong("the file cannot be put aside");
        said_check_lines();
        snprintf(path, sizeof path, "%s/s.csv.aside", folder);
        if (anew != (access(path, F_OK) == 0) || anew != (*said_text() != '\0'))
            fuzz_wrong("%s", anew ? "put aside, but not there, or not told"
                                  : "not put aside, but told, or there");
        remove_files();
        return 0;
    }
    const enum status s = series_resume(&series, path, 3, names, last, data[1] & 2 ? &mark : NULL);
    said_check_lines();
    if (!s) {
        struct series_mark now;
        const double values[] = {1, 2};
        if (series_append(series, last + 1, 1, values))
            fuzz_wrong("no row can be added");
        series_mark(series, &now);
        if (series_close(series) || series_resume(&series, path, 3, names, last + 1, &now))
            fuzz_wrong("the file does not fit its own mark");
        series_close(series);
        said_check_lines();
    }
    remove_files();
    return 0;
}
