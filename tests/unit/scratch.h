/* For tests that write files: a folder of their own, a limit on the size of files, and what was
 * said on stderr meanwhile. To be included after cmocka.h. */
#ifndef TAGFLOW_TEST_SCRATCH_H
#define TAGFLOW_TEST_SCRATCH_H

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char scratch[256]; /* the folder of the test that runs */
static int scratch_stderr = -1, scratch_pipe[2];

/* The path of a file in the folder; the last 8 stay valid. */
static inline char *scratch_path(const char *name)
{
    static char path[8][512];
    static int next;
    char *to = path[next++ % 8];
    snprintf(to, 512, "%s/%s", scratch, name);
    return to;
}

static inline int scratch_setup(void **state)
{
    (void)state;
    const char *in = getenv("TMPDIR");
    snprintf(scratch, sizeof scratch, "%s/tagflow-test-XXXXXX", in ? in : "/tmp");
    signal(SIGXFSZ, SIG_IGN);
    return mkdtemp(scratch) ? 0 : -1;
}

/* How many files there are in the folder; with `remove`, they are removed. */
static inline int scratch_files(int remove)
{
    int files = 0;
    DIR *folder = opendir(scratch);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        ++files;
        char *path = scratch_path(entry->d_name);
        if (remove && unlink(path) != 0)
            rmdir(path);
    }
    if (folder)
        closedir(folder);
    return files;
}

static inline int scratch_teardown(void **state)
{
    (void)state;
    scratch_files(1);
    return rmdir(scratch);
}

/* No file of this process may grow beyond so many bytes; RLIM_INFINITY: any size. */
static inline void scratch_limit(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static inline void scratch_listen(void)
{
    fflush(stderr);
    assert_int_equal(pipe(scratch_pipe), 0);
    scratch_stderr = dup(STDERR_FILENO);
    dup2(scratch_pipe[1], STDERR_FILENO);
    close(scratch_pipe[1]);
}

/* What was said since scratch_listen. */
static inline const char *scratch_heard(void)
{
    static char text[8192];
    fflush(stderr);
    dup2(scratch_stderr, STDERR_FILENO);
    close(scratch_stderr);
    ssize_t length = read(scratch_pipe[0], text, sizeof text - 1);
    close(scratch_pipe[0]);
    text[length > 0 ? length : 0] = '\0';
    return text;
}

/* One line, and it says this. */
static inline void assert_one_line(const char *text, const char *says)
{
    const char *end = strchr(text, '\n');
    if (!end || end[1] != '\0' || !strstr(text, says))
        fail_msg("expected one line with '%s', heard '%s'", says, text);
}

#define SCRATCH_TEST(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

#endif
