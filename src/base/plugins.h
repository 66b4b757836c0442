/* Shared libraries that MPI loaded and may unload. */
#ifndef TAGFLOW_PLUGINS_H
#define TAGFLOW_PLUGINS_H

/* Keeps all libraries of the process in memory until it ends. Call it after MPI_Init. Without it
 * MPI_Finalize of Open MPI 4 unloads plugins, and a thread of Open MPI may still call them: the
 * process then dies by SIGSEGV when its work is done. */
void plugins_keep(void);

#endif
