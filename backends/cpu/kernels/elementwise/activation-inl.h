// The activations of epilogues. Included once per instruction set, hence the toggling guard.
#if defined(MNNC_ACTIVATION_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef MNNC_ACTIVATION_INL_H
#undef MNNC_ACTIVATION_INL_H
#else
#define MNNC_ACTIVATION_INL_H
#endif

#include <cstddef>

#include "hwy/highway.h"
#include "ir/epilogue.h"

HWY_BEFORE_NAMESPACE();
namespace mnnc {
namespace HWY_NAMESPACE {

// data = min(max(act(data), lo), hi). All kernels of an instruction set call the one in elementwise_unary.cpp: it has
// several kilobytes.
void activate(float* data, size_t count, Act act, float lo, float hi);

}  // namespace HWY_NAMESPACE
}  // namespace mnnc
HWY_AFTER_NAMESPACE();
#endif
