/* Messages between hdf5.c and hdf5_serve.c, through the pipes; both are the same program. */
#ifndef TAGFLOW_FOREIGN_HDF5_WIRE_H
#define TAGFLOW_FOREIGN_HDF5_WIRE_H

#include "foreign/hdf5.h"

enum {
    FOREIGN_SECONDS = 30, /* of processor time for one request */
    FOREIGN_OPEN = 512,   /* MiB that opening a file may take */
    FOREIGN_CHUNKS = 256, /* MiB of unpacked chunks kept, at least one row of them */
    FOREIGN_ROW = 1024,   /* MiB that a row of chunks may have at most */
};

/* The answer to opening, and the first part of the answer to a request. */
struct foreign_answer {
    enum status status;
    char reason[FOREIGN_REASON];
};

struct foreign_header {
    struct foreign_answer answer;
    struct foreign found; /* its child is not used */
};

struct foreign_request {
    int64_t z, lo[2], hi[2];
};

#endif
