/* Time for measuring: seconds since the program started, independent of changes of the system
 * clock. */
#ifndef TAGFLOW_CLOCK_H
#define TAGFLOW_CLOCK_H

#include <stdbool.h>

void clock_start(void); /* first thing in main */
bool clock_started(void);
double clock_seconds(void);

/* Call it between two looks at something that another thread, process or device will change;
 * *looks: 0 before the first. After some us it gives the core away, after some ms it sleeps for 50
 * us. */
void clock_rest(int *looks);

#endif
