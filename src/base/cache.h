/* Sizes of the processor's caches, from /sys. */
#ifndef TAGFLOW_CACHE_H
#define TAGFLOW_CACHE_H

/* Bytes of the host's last-level caches, all together; 0 if not known. */
double cache_host(void);

/* Bytes of the last-level caches that `threads` threads of this process can use, as affinity
 * allows; 0 if not known. */
double cache_last(int threads);

#endif
