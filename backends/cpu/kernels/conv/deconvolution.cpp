// Transposed convolutions: stride x stride phases of outputs, each a direct convolution with the taps that reach its
// outputs.
#include <algorithm>

#include "backends/cpu/kernels/chunks.h"
#include "backends/cpu/kernels/conv/conv_cost.h"
#include "backends/cpu/kernels/conv/conv_implementations.h"
#include "backends/cpu/kernels/conv/gemm_conv.h"

namespace mnnc {
namespace {

bool acceptsDeconvolution(const Kernels&, const ConvShape&, const ConvOptions& options) {
    return options.transposed && !options.srcNchw;
}

double deconvolutionCycles(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    const int phasesX = std::min(s.strideW, s.ow);
    const double taps = double(ceilDiv(s.kh, s.strideH)) * ceilDiv(s.kw, s.strideW);
    ConvOptions packed = options;
    packed.quantization = {};  // these weights do not stay quantised
    return gemmConvCycles(k, s, packed, {s.oh * phasesX, ceilDiv(s.ow, phasesX), taps, true});
}

std::unique_ptr<ConvPlan> makeDeconvolution(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    return makeRowGemmPlan(k, s, options, "deconv");
}

}  // namespace

const ConvImplementation kDeconvolution{"deconvolution", acceptsDeconvolution, deconvolutionCycles, makeDeconvolution};

}  // namespace mnnc
