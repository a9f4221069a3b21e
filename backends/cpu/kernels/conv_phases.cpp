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

namespace {

// Outputs begin .. begin + count of an axis read the taps first .. end inside of the map.
struct Band {
    int begin, count, first, end;
};

std::vector<Band> bands(int outputs, int inputs, int kernel, int stride, int dilation, int pad) {
    std::vector<Band> out;
    for (int i = 0; i < outputs; ++i) {
        const int64_t at = int64_t{i} * stride - pad;
        const auto first = std::clamp<int64_t>(at < 0 ? (-at + dilation - 1) / dilation : 0, 0, kernel);
        const int64_t room = inputs - at;  // taps from here on are behind the map
        const auto end = std::clamp<int64_t>(room > 0 ? (room + dilation - 1) / dilation : 0, first, kernel);
        if (!out.empty() && out.back().first == first && out.back().end == end)
            ++out.back().count;
        else
            out.push_back({i, 1, static_cast<int>(first), static_cast<int>(end)});
    }
    return out;
}

}  // namespace

std::vector<TapRegion> tapRegions(const ConvShape& s, size_t most) {
    std::vector<TapRegion> regions;
    const std::vector<Band> rows = bands(s.oh, s.ih, s.kh, s.strideH, s.dilateH, s.padTop),
                            columns = bands(s.ow, s.iw, s.kw, s.strideW, s.dilateW, s.padLeft);
    if (rows.size() * columns.size() > most) return {};
    for (const Band& y : rows) {
        for (const Band& x : columns) {
            TapRegion& region = regions.emplace_back(TapRegion{y.begin, x.begin, y.count, x.count, {}});
            for (int ky = y.first; ky < y.end; ++ky)
                for (int kx = x.first; kx < x.end; ++kx) region.taps.push_back(ky * s.kw + kx);
        }
    }
    std::stable_sort(regions.begin(), regions.end(), [](const TapRegion& a, const TapRegion& b) {
        return int64_t{a.rows} * a.cols > int64_t{b.rows} * b.cols;
    });
    return regions;
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
