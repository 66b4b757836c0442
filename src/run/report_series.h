/* Series in report.json. */
#ifndef TAGFLOW_REPORT_SERIES_H
#define TAGFLOW_REPORT_SERIES_H

#include <jansson.h>

#include "case/case.h"

/* A number of a report; null when it is not finite. */
json_t *json_number(double x);

/* Put `statistics`, an object with an entry for each series that has them, into the report of the
 * run in `dir`; nothing if none has. Rank 0 only. STATUS_MACHINE, reported, when a file cannot be
 * read. */
enum status report_statistics(json_t *report, const char *dir, const struct flow_case *c);

#endif
