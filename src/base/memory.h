/* How much memory the host has. */
#ifndef TAGFLOW_MEMORY_H
#define TAGFLOW_MEMORY_H

/* Bytes of memory of this host, or the limit of this process's control groups if it is less (a
 * batch job's share of its node). 0: not known. */
double memory_of_host(void);

#endif
