/* What the fuzz targets share: stdout and stderr caught and checked, inputs cut into --set
 * arguments and text, two cases compared. A broken promise ends in fuzz_wrong(), which libFuzzer
 * reports as a crash. Targets are listed in run.sh. */
#ifndef TAGFLOW_FUZZ_H
#define TAGFLOW_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "case/case.h"

#define FUZZ_PATH "folder/case.yaml"

enum { FUZZ_SETS = 16 };

/* A promise of the code under test does not hold: say which, print what was said, abort. */
_Noreturn void fuzz_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Forget what was said. */
void said_clear(void);

/* What was said on stderr fits the status: nothing when it is OK, else one whole printable line
 * that begins with "tagflow: ". */
void said_check(enum status s);

/* Lines on stdout and stderr are whole and printable, however many there are. */
void said_check_lines(void);

/* The one line begins with the place of the mistake, in the text or in one of the settings. */
void said_check_place(const char *text, size_t length);

/* What was said, NUL at the end. */
const char *said_text(void);

/* An input cut up: lines `--set PATH=VALUE` up to the first other line, then the text. */
struct fuzz_input {
    int set_count;
    char *set[FUZZ_SETS];
    char *text; /* a block of exactly `length` bytes (at least 1): the sanitizer guards its end */
    size_t length;
};
void fuzz_cut(const uint8_t *data, size_t size, struct fuzz_input *in);
void fuzz_cut_free(struct fuzz_input *in);

/* case_read, with what it says and leaves behind checked. */
enum status fuzz_read(const struct fuzz_input *in, struct flow_case *c);

/* The resolved text of a case that was read reads back to the same case, itself included. */
void fuzz_check_resolved(const struct flow_case *c);

#endif
