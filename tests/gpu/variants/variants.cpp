/* The variants as g++ compiles them, for the stand-in to run. */
#include "variants.cu"
