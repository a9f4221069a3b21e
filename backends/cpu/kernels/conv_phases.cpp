// Lists the taps of each phase of outputs and the part of the map that they read.
#include "backends/cpu/kernels/conv_phases.h"

#include <algorithm>
#include <climits>
#include <utility>

#include "backends/cpu/kernels/chunks.h"
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
            ConvPhase p{py, px, ceilDiv(s.oh - py, sh), ceilDiv(s.ow - px, sw), {}};
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

TapExtent tapExtent(const ConvShape& s, const std::vector<ConvPhase>& phases, int stepY, int stepX) {
    int y0 = 0, x0 = 0, y1 = s.ih, x1 = s.iw, lastTap = INT_MIN;
    for (const ConvPhase& p : phases) {
        for (const ConvTap& t : p.taps) {
            y0 = std::min(y0, t.dy);
            x0 = std::min(x0, t.dx);
            lastTap = std::max(lastTap, t.dy);
            y1 = std::max(y1, (p.rows - 1) * stepY + t.dy + 1);
            x1 = std::max(x1, (p.cols - 1) * stepX + t.dx + 1);
        }
    }
    return {-y0, -x0, y1 - y0, x1 - x0, lastTap - y0 + 1};
}

}  // namespace mnnc
