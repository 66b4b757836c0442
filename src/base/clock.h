/* Time for measuring: seconds since the program started, unmoved by changes of the clock. */
#ifndef TAGFLOW_CLOCK_H
#define TAGFLOW_CLOCK_H

void clock_start(void); /* first thing in main */
double clock_seconds(void);

#endif
