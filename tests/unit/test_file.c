/* Small files: whole or not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "scratch.h"

static void assert_content(const char *path, const char *expected, size_t length)
{
    char *text = NULL;
    size_t got = 0;
    assert_int_equal(file_read(path, 1 << 20, &text, &got), STATUS_OK);
    assert_int_equal(got, length);
    assert_memory_equal(text, expected, length);
    assert_int_equal(text[length], '\0');
    free(text);
}

static void replaces_a_file_and_leaves_nothing_else(void **state)
{
    (void)state;
    const char *path = scratch_path("a");
    assert_int_equal(file_replace(path, "first, longer", 13), STATUS_OK);
    assert_int_equal(file_replace(path, "se\0cond", 7), STATUS_OK);
    assert_content(path, "se\0cond", 7);
    assert_int_equal(file_replace(path, NULL, 0), STATUS_OK);
    assert_content(path, "", 0);
    assert_int_equal(scratch_files(0), 1);
}

static void writes_into_a_pipe_that_keeps_its_name(void **state)
{
    (void)state;
    const char *path = scratch_path("pipe");
    char got[8] = "";
    struct stat there;
    assert_int_equal(mkfifo(path, 0600), 0);
    const int reader = open(path, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_int_equal(file_write(path, "through", 7), STATUS_OK);
    assert_int_equal(read(reader, got, 7), 7);
    assert_string_equal(got, "through");
    close(reader);
    assert_int_equal(stat(path, &there), 0);
    assert_true(S_ISFIFO(there.st_mode));
    assert_int_equal(scratch_files(0), 1);
}

/* In a folder of someone else the temporary name may be there already, as a link. */
static void leaves_alone_what_links_point_to(void **state)
{
    (void)state;
    const char *const target = scratch_path("target"), *const path = scratch_path("a"),
                      *const temporary = scratch_path("a" FILE_TEMPORARY);
    for (int hard = 0; hard < 2; hard++) {
        assert_int_equal(file_replace(target, "precious", 8), STATUS_OK);
        unlink(path);
        assert_int_equal(hard ? link(target, path) : symlink(target, path), 0);
        assert_int_equal(hard ? link(target, temporary) : symlink(target, temporary), 0);
        assert_int_equal(file_replace(path, "new", 3), STATUS_OK);
        assert_content(target, "precious", 8);
        assert_content(path, "new", 3);
    }
    assert_int_equal(scratch_files(0), 2);
}

/* Nothing waits for who writes into a pipe. */
static void reads_no_pipe(void **state)
{
    (void)state;
    const char *path = scratch_path("pipe");
    char *text = NULL;
    size_t length = 1;
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(file_get(path, 100, &text, &length), EINVAL);
    scratch_listen();
    const enum status status = file_read(path, 100, &text, &length);
    const char *heard = scratch_heard();
    assert_int_equal(status, STATUS_MACHINE);
    assert_one_line(heard, "is not a file");
    assert_int_equal(file_read_any(path, 100, &text, &length), STATUS_OK);
    assert_int_equal(length, 0);
    free(text);
}

static void keeps_the_old_file_when_the_new_one_does_not_fit(void **state)
{
    (void)state;
    const char *path = scratch_path("a");
    static const char large[5000];
    assert_int_equal(file_replace(path, "old", 3), STATUS_OK);
    scratch_listen();
    scratch_limit(4096);
    enum status status = file_replace(path, large, sizeof large);
    scratch_limit(RLIM_INFINITY);
    const char *heard = scratch_heard();
    assert_int_equal(status, STATUS_MACHINE);
    assert_one_line(heard, "File too large");
    assert_content(path, "old", 3);
    assert_int_equal(scratch_files(0), 1);
}

static void says_which_folder_is_missing(void **state)
{
    (void)state;
    scratch_listen();
    enum status status = file_replace(scratch_path("no/a"), "x", 1);
    const char *heard = scratch_heard();
    assert_int_equal(status, STATUS_MACHINE);
    assert_one_line(heard, "/no/a.tmp: No such file or directory");
}

static void does_not_replace_a_folder(void **state)
{
    (void)state;
    assert_int_equal(folder_create(scratch_path("a")), STATUS_OK);
    scratch_listen();
    enum status status = file_replace(scratch_path("a"), "x", 1);
    const char *heard = scratch_heard();
    assert_int_equal(status, STATUS_MACHINE);
    assert_one_line(heard, "cannot rename");
    assert_int_equal(scratch_files(0), 1);
}

static void reads_up_to_the_limit_and_no_further(void **state)
{
    (void)state;
    const char *path = scratch_path("a");
    static char data[10000];
    memset(data, 'x', sizeof data);
    char *text = NULL;
    assert_int_equal(file_replace(path, data, sizeof data), STATUS_OK);
    assert_int_equal(file_read(path, sizeof data, &text, NULL), STATUS_OK);
    assert_int_equal(strlen(text), sizeof data);
    free(text);
    text = NULL;
    scratch_listen();
    enum status status = file_read(path, sizeof data - 1, &text, NULL);
    const char *heard = scratch_heard();
    assert_int_equal(status, STATUS_MACHINE);
    assert_null(text);
    assert_one_line(heard, "larger than 9999 bytes");
}

static void reads_neither_folders_nor_what_is_not_there(void **state)
{
    (void)state;
    char *text = NULL;
    scratch_listen();
    enum status folder = file_read(scratch, 100, &text, NULL);
    const char *heard = scratch_heard();
    assert_int_equal(folder, STATUS_MACHINE);
    assert_one_line(heard, "Is a directory");
    scratch_listen();
    enum status nothing = file_read(scratch_path("no"), 100, &text, NULL);
    heard = scratch_heard();
    assert_int_equal(nothing, STATUS_MACHINE);
    assert_one_line(heard, "No such file or directory");
    assert_null(text);
}

static void makes_a_folder_once_or_twice_but_not_over_a_file(void **state)
{
    (void)state;
    assert_int_equal(folder_create(scratch_path("f")), STATUS_OK);
    assert_int_equal(folder_create(scratch_path("f")), STATUS_OK);
    assert_int_equal(file_replace(scratch_path("a"), "x", 1), STATUS_OK);
    scratch_listen();
    enum status file = folder_create(scratch_path("a"));
    const char *heard = scratch_heard();
    assert_int_equal(file, STATUS_MACHINE);
    assert_one_line(heard, "Not a directory");
    scratch_listen();
    enum status deep = folder_create(scratch_path("g/h"));
    heard = scratch_heard();
    assert_int_equal(deep, STATUS_MACHINE);
    assert_one_line(heard, "No such file or directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(replaces_a_file_and_leaves_nothing_else),
        SCRATCH_TEST(writes_into_a_pipe_that_keeps_its_name),
        SCRATCH_TEST(leaves_alone_what_links_point_to),
        SCRATCH_TEST(reads_no_pipe),
        SCRATCH_TEST(keeps_the_old_file_when_the_new_one_does_not_fit),
        SCRATCH_TEST(says_which_folder_is_missing),
        SCRATCH_TEST(does_not_replace_a_folder),
        SCRATCH_TEST(reads_up_to_the_limit_and_no_further),
        SCRATCH_TEST(reads_neither_folders_nor_what_is_not_there),
        SCRATCH_TEST(makes_a_folder_once_or_twice_but_not_over_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
