#include "backends/cpu/kernels/conv_phases.h"

#include <algorithm>

#include "backends/cpu/kernels/conv_plans.h"
#include "base/error.h"

namespace mnnc {
namespace {

constexpr int kMaxPhases = 1 << 14;

}  // namespace

std::vector<ConvPhase> convPhases(const ConvShape& s, bool transposed) {
    std::vector<ConvPhase> phases;
    const int sh = transposed ? s.strideH : 1, sw = transposed ? s.strideW : 1;
    if (int64_t{std::min(sh, s.oh)} * std::min(sw, s.ow) > kMaxPhases)
        fail(Status::NotSupported, "no deconvolution kernel does a stride of %dx%d", sh, sw);
    for (int py = 0; py < std::min(sh, s.oh); ++py) {
        for (int px = 0; px < std::min(sw, s.ow); ++px) {
            ConvPhase p{py, px, ceilDiv(s.oh - py, sh), ceilDiv(s.ow - px, sw), {}, {}};
            for (int ky = 0; ky < s.kh; ++ky) {
                if (transposed && (py + s.padTop - ky * s.dilateH) % sh != 0) continue;
                for (int kx = 0; kx < s.kw; ++kx) {
                    if (!transposed) {
                        p.taps.push_back({ky, kx, ky * s.dilateH - s.padTop, kx * s.dilateW - s.padLeft});
                        continue;
                    }
                    const int y = py + s.padTop - ky * s.dilateH, x = px + s.padLeft - kx * s.dilateW;
                    if (x % sw == 0) p.taps.push_back({ky, kx, y / sh, x / sw});
                }
            }
            phases.push_back(std::move(p));
        }
    }
    return phases;
}

}  // namespace mnnc
