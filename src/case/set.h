/* `--set PATH=VALUE`: a value from the command line put into the tree. */
#ifndef TAGFLOW_SET_H
#define TAGFLOW_SET_H

#include "base/status.h"
#include "case/document.h"

/* Put VALUE (YAML: a scalar, list or map) at PATH, in place of what was there. Missing maps on the
 * way are created. A word becomes a map where both are allowed: faces.ymax.wall.velocity turns
 * `ymax: wall` into `ymax: {wall: {velocity: ...}}`. PATH must name a known key. `argument` must
 * outlive the document. Errors are reported and quote the argument. */
enum status set_apply(struct document *d, const char *argument);

#endif
