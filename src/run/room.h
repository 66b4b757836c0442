/* Before a run takes its memory: is there as much on each host? */
#ifndef TAGFLOW_ROOM_H
#define TAGFLOW_ROOM_H

#include "domain/domain.h"
#include "solver/backend.h"

/* STATUS_USAGE, reported with the host, if the ranks of a host need more memory than it has: the
 * system would kill one of them without a word. Averages and residuals are not counted. A device
 * says itself that it is full (backend_no_room). Collective. */
enum status room_check(const struct domain *d, const struct backend *b);

#endif
