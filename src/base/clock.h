/* Time for measuring: seconds since the program started, independent of changes of the system
 * clock. */
#ifndef TAGFLOW_CLOCK_H
#define TAGFLOW_CLOCK_H

void clock_start(void); /* first thing in main */
double clock_seconds(void);

#endif
