/* The same for kernels; see cuda_runtime_api.h. */
#include "cuda_runtime_api.h"
