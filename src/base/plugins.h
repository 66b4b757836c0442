/* Shared libraries that MPI loaded and may unload. */
#ifndef TAGFLOW_PLUGINS_H
#define TAGFLOW_PLUGINS_H

/* Keeps all libraries of the process in memory until it ends. After MPI_Init: in MPI_Finalize Open
 * MPI 4 unloads plugins while a thread of its own may still run their functions, and the process
 * then dies by SIGSEGV after all its work was done. */
void plugins_keep(void);

#endif
