// Direct convolutions of any forward shape: products of taps and channels, one row of outputs at a time.
// Groups that do not fill vectors are multiplied as if they were dense, with zero weights.
#include "backends/cpu/kernels/conv/conv_cost.h"
#include "backends/cpu/kernels/conv/conv_implementations.h"
#include "backends/cpu/kernels/conv/gemm_conv.h"

namespace mnnc {
namespace {

bool acceptsDirect(const Kernels&, const ConvShape&, const ConvOptions& options) {
    return !options.transposed && !options.srcNchw;
}

double directCycles(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    return gemmConvCycles(k, s, options, {s.oh, s.ow, double(s.kh) * s.kw, true});
}

std::unique_ptr<ConvPlan> makeDirect(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    return makeRowGemmPlan(k, s, options, options.groups > 1 ? "grouped" : "direct");
}

}  // namespace

const ConvImplementation kDirectConv{"direct", acceptsDirect, directCycles, makeDirect};

}  // namespace mnnc
