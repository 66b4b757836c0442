/* Datasets of HDF5 files from other programs, read by a second process, because libhdf5 crashes on
 * some damaged files and unpacks others without end. A failure of that process becomes an error of
 * the file, in words.
 *
 * Errors are not reported here: STATUS_USAGE (the file is wrong), STATUS_MACHINE (reading failed)
 * and STATUS_STOPPED (this process was asked to stop) come with a reason that follows the file's
 * name. */
#ifndef TAGFLOW_FOREIGN_HDF5_H
#define TAGFLOW_FOREIGN_HDF5_H

#include <stdint.h>

#include "base/status.h"
#include "foreign/child.h"

/* This command starts the program as the second process; main() handles it before anything else. */
#define FOREIGN_COMMAND "--foreign-hdf5"
int foreign_serve(int count, char **arguments);

enum { FOREIGN_REASON = 192 };

enum foreign_type { FOREIGN_integers, FOREIGN_reals, FOREIGN_others };

/* An open dataset. With 2 axes these are y and x. */
struct foreign {
    struct child child;
    int axes;        /* number of axes in the file; sizes are set only for 2 or 3 */
    int64_t size[3]; /* z, y, x */
    /* Planes and lines that are unpacked together and kept; blocks start at multiples of these.
     * Read planes in ascending order within a block, or they are unpacked again and again. */
    int64_t block[2];
    enum foreign_type type;
    int bytes; /* of a number in the file */
    bool is_signed;
    size_t each; /* bytes of a number in memory */
};

/* The numbers to read: as in the file, or in the next larger type of C (1, 2, 4 or 8 bytes; reals 4
 * or 8), in the byte order of this machine; or doubles. Enumerations, and so numpy's bool, are their
 * integers. */
enum foreign_as { FOREIGN_AS_THEY_ARE, FOREIGN_DOUBLES };

enum status foreign_open(struct foreign *f, const char *path, const char *dataset,
                         enum foreign_as as, char reason[FOREIGN_REASON]);

/* Read lo[0] <= x < hi[0], lo[1] <= y < hi[1] of plane z into out[hi[1] - lo[1]][hi[0] - lo[0]]. */
enum status foreign_plane(struct foreign *f, int64_t z, const int64_t lo[2], const int64_t hi[2],
                          void *out, char reason[FOREIGN_REASON]);

void foreign_close(struct foreign *f);

/* For other work of a second process: end it, and give the reason why it did not answer. */
enum status foreign_explain(struct child *c, enum child_answer answer, char reason[FOREIGN_REASON]);
/* Set the limits of a process that opens such a file. */
void foreign_limit(void);

#endif
