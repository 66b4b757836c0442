/* The tree against the table of keys: does every key exist, is there a map where one belongs? */
#ifndef TAGFLOW_OUTLINE_H
#define TAGFLOW_OUTLINE_H

#include "case/value.h"

/* Reports the first unknown key, invalid name, or value in place of a map. */
enum status outline_check(const struct reader *r);

/* After all sections are read: reports the first key whose value was not used. */
enum status outline_check_used(const struct reader *r);

#endif
