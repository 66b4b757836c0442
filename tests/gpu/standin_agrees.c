/* Compiled against the CUDA toolkit, with its header first: that this does compile is the test that
 * the stand-in's header tells the truth. */
#include <cuda_runtime_api.h>

#ifndef __CUDA_RUNTIME_API_H__
#error "this is not the toolkit's header"
#endif

#include "standin/cuda_runtime_api.h"
