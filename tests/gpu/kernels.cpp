/* The kernels as g++ compiles them, for the stand-in to run. */
#include "kernels.cu"
