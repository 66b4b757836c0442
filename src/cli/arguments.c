/* Command-line options and the case they name; see cli.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/agree.h"
#include "base/file.h"
#include "base/message.h"
#include "case/nearest.h"
#include "cli/cli.h"
#include "run/earlier.h"
#include "run/folder.h"
#include "tags/inputs.h"

/* Largest case file, bytes. */
enum { CASE_LIMIT = 16 << 20 };

int cli_flag(struct arguments *a, const char *name)
{
    if (a->next >= a->count || strcmp(a->argument[a->next], name) != 0)
        return 0;
    a->next++;
    return 1;
}

int cli_value(struct arguments *a, const char *name, const char **value)
{
    const size_t length = strlen(name);
    if (a->next >= a->count || strncmp(a->argument[a->next], name, length) != 0)
        return 0;
    const char *const rest = a->argument[a->next] + length;
    if (*rest == '=') {
        a->next++;
        *value = rest + 1;
        return 1;
    }
    if (*rest != '\0')
        return 0;
    a->next++;
    /* An option is not a value: --output --overwrite lacks one, --output=--overwrite has one. */
    const bool given = a->next < a->count && strncmp(a->argument[a->next], "--", 2) != 0;
    *value = given ? a->argument[a->next++] : NULL;
    if (!*value)
        fail_user("%s needs a value", name);
    return 1;
}

int cli_set(struct arguments *a, struct case_arguments *files)
{
    const char *value;
    if (!cli_value(a, "--set", &value))
        return 0;
    if (value && files->set_count < CLI_MAX_SETS) {
        files->sets[files->set_count++] = value;
        return 1;
    }
    if (value)
        fail_user("more than %d --set (put them into the case file)", CLI_MAX_SETS);
    files->set_count = CLI_MAX_SETS + 1;
    return 1;
}

enum status cli_unknown(const struct arguments *a, const char *command, const char *const *known)
{
    const char *const argument = a->argument[a->next];
    const char *const nearest = nearest_choice(known, argument);
    if (nearest)
        return fail_user("tagflow %s: %s is not known here (did you mean %s?)", command, argument,
                         nearest);
    return fail_user("tagflow %s: %s is not known here (tagflow %s --help)", command, argument,
                     command);
}

/* The resolved case of the run that goes on from a checkpoint in its folder, the same on all ranks,
 * allocated; NULL: there is none. */
static char *case_before(const struct case_arguments *a, int rank, MPI_Comm comm)
{
    char path[FOLDER_PATH], name[CASE_NAME], *text = NULL;
    int64_t *steps = NULL;
    size_t length = 0;
    case_name_of(name, a->path);
    const char *const dir = a->folder ? a->folder : name;
    if (rank == 0 && a->goes_on && folder_checkpoints(dir, &steps) > 0 &&
        folder_path(path, dir, "case.yaml") && file_get(path, CASE_LIMIT, &text, &length))
        text = NULL;
    free(steps);
    unsigned long long bytes = text ? length + 1 : 0;
    MPI_Bcast(&bytes, 1, MPI_UNSIGNED_LONG_LONG, 0, comm);
    if (rank != 0 && bytes)
        text = malloc(bytes);
    if (bytes && !text)
        MPI_Abort(comm, fail_machine("out of memory for the case of the run before"));
    if (bytes)
        MPI_Bcast(text, (int)bytes, MPI_CHAR, 0, comm);
    return text;
}

enum status cli_read_case(const struct case_arguments *a, MPI_Comm comm, struct flow_case *c)
{
    char *text = NULL;
    size_t length = 0;
    int rank, ranks, status = STATUS_OK;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (rank == 0) {
        struct stat info;
        if (stat(a->path, &info) == 0 && S_ISDIR(info.st_mode))
            status = fail_user("%s is a folder, not a case file (did you mean %s/case.yaml?)",
                               a->path, a->path);
        else if (access(a->path, R_OK))
            status = fail_user("%s: %s (the case file to read)", a->path, strerror(errno));
        else
            status = file_read_any(a->path, CASE_LIMIT, &text, &length);
    }
    MPI_Bcast(&status, 1, MPI_INT, 0, comm);
    if (status)
        return (enum status)status;
    unsigned long long bytes = length;
    MPI_Bcast(&bytes, 1, MPI_UNSIGNED_LONG_LONG, 0, comm);
    if (rank != 0)
        text = malloc(bytes + 1);
    if (!text)
        MPI_Abort(comm, fail_machine("out of memory for the case file"));
    MPI_Bcast(text, (int)bytes, MPI_CHAR, 0, comm);
    text[bytes] = '\0';
    struct case_files files = inputs(&comm);
    files.earlier = earlier_header;
    char *const before = case_before(a, rank, comm);
    files.before = before;
    status = case_read_files(a->path, text, (long)bytes, a->set_count, a->sets, &files, c);
    if (status == STATUS_MACHINE && ranks > 1) /* others may wait for this rank to read a file */
        MPI_Abort(comm, status);
    free(before);
    free(text);
    return status_agree(comm, (enum status)status);
}
