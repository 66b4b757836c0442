/* Reading the case of a run; see read_case.h. */
#include "run/read_case.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/agree.h"
#include "base/file.h"
#include "base/message.h"
#include "run/earlier.h"
#include "run/folder.h"
#include "tags/inputs.h"

/* Largest case file, bytes. */
enum { CASE_LIMIT = 16 << 20 };

/* Gives all ranks a text of rank 0, allocated, with a NUL behind it; NULL there: NULL on all. */
static enum status share_text(char **text, size_t length, const char *what, MPI_Comm comm)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    unsigned long long bytes = *text ? length + 1 : 0;
    MPI_Bcast(&bytes, 1, MPI_UNSIGNED_LONG_LONG, 0, comm);
    if (rank != 0)
        *text = bytes ? malloc(bytes) : NULL;
    const enum status status = status_agree(
        comm, bytes && !*text ? fail_machine("out of memory for %s", what) : STATUS_OK);
    if (!status && bytes)
        MPI_Bcast(*text, (int)bytes, MPI_CHAR, 0, comm);
    return status;
}

/* The resolved case of the run that goes on from a checkpoint in its folder, on rank 0, allocated;
 * NULL: there is none. */
static char *case_before(const struct case_source *s, size_t *length)
{
    char path[FOLDER_PATH], name[CASE_NAME], *text = NULL;
    int64_t *steps = NULL;
    case_name_of(name, s->path);
    const char *const dir = s->folder ? s->folder : name;
    if (s->goes_on && folder_checkpoints(dir, &steps) > 0 && folder_path(path, dir, "case.yaml") &&
        file_get(path, CASE_LIMIT, &text, length))
        text = NULL;
    free(steps);
    return text;
}

/* The text of the case on rank 0, allocated. */
static enum status case_text(const struct case_source *s, char **text, size_t *length)
{
    struct stat info;
    if (s->text) {
        *length = strlen(s->text);
        *text = strdup(s->text);
        return *text ? STATUS_OK : fail_machine("out of memory for the case");
    }
    if (stat(s->path, &info) == 0 && S_ISDIR(info.st_mode))
        return fail_user("%s is a folder, not a case file (did you mean %s/case.yaml?)", s->path,
                         s->path);
    if (access(s->path, R_OK))
        return fail_user("%s: %s (the case file to read)", s->path, strerror(errno));
    return file_read_any(s->path, CASE_LIMIT, text, length);
}

enum status read_case(const struct case_source *source, MPI_Comm comm, struct flow_case *c)
{
    char *text = NULL, *before = NULL;
    size_t length = 0, before_length = 0;
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    *c = (struct flow_case){0};
    enum status status =
        status_agree(comm, rank == 0 ? case_text(source, &text, &length) : STATUS_OK);
    if (!status)
        status = share_text(&text, length, "the case file", comm);
    if (!status && rank == 0)
        before = case_before(source, &before_length);
    if (!status)
        status = share_text(&before, before_length, "the case of the run before", comm);
    if (!status) {
        unsigned long long bytes = length;
        MPI_Bcast(&bytes, 1, MPI_UNSIGNED_LONG_LONG, 0, comm);
        struct case_files files = inputs(&comm);
        files.earlier = earlier_header;
        files.before = before;
        status = case_read_files(source->path, text, (long)bytes, source->set_count, source->sets,
                                 &files, c);
        if (status == STATUS_MACHINE &&
            ranks > 1) /* others may wait for this rank to read a file */
            MPI_Abort(comm, (int)status);
        status = status_agree(comm, status);
    }
    free(before);
    free(text);
    return status;
}
