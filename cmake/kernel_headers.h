// The headers that kernels include beside the standard ones (kernels.cmake): those of Highway that are the same for
// each instruction set, and the compiler's intrinsics.
#include "backends/cpu/kernels/dispatch.h"
#include "hwy/base.h"
#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif
