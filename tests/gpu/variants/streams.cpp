/* The streams as g++ compiles them, for the stand-in to run. */
#include "streams.cu"
