// Lists the taps of each phase of outputs and the part of the map that they read.
#include "backends/cpu/kernels/conv/conv_phases.h"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <utility>

#include "backends/cpu/kernels/chunks.h"
#include "base/error.h"

namespace mnnc {
namespace {

constexpr int kMaxPhases = 1 << 14;
constexpr int64_t kMaxRegionTaps = 1 << 20;  // of all regions: the lists of huge kernels would take gigabytes

// A tap of an axis, and the place that it reads, relative to the output's position times the step.
struct AxisTap {
    int k, offset;
};

// Returns the taps of each phase of an axis. A tap of a transposed convolution belongs to one phase: the outputs o
// with (o + pad - k * dilation) % stride == 0.
std::vector<std::vector<AxisTap>> axisTaps(int taps, int dilation, int pad, int stride, int phases, bool transposed) {
    std::vector<std::vector<AxisTap>> result(static_cast<size_t>(phases));
    for (int k = 0; k < taps; ++k) {
        const int place = k * dilation - pad, phase = (place % stride + stride) % stride;
        if (!transposed)
            result[0].push_back({k, place});
        else if (phase < phases)
            result[phase].push_back({k, (phase - place) / stride});
    }
    return result;
}

}  // namespace

std::vector<ConvPhase> convPhases(const ConvShape& s, bool transposed) {
    std::vector<ConvPhase> phases;
    const int sh = transposed ? s.strideH : 1, sw = transposed ? s.strideW : 1;
    if (int64_t{std::min(sh, s.oh)} * std::min(sw, s.ow) > kMaxPhases)
        fail(Status::NotSupported, "deconvolution has a stride of %dx%d, which no kernel supports", sh, sw);
    const auto down = axisTaps(s.kh, s.dilateH, s.padTop, sh, std::min(sh, s.oh), transposed),
               across = axisTaps(s.kw, s.dilateW, s.padLeft, sw, std::min(sw, s.ow), transposed);
    for (int py = 0; py < std::min(sh, s.oh); ++py) {
        for (int px = 0; px < std::min(sw, s.ow); ++px) {
            ConvPhase p{py, px, ceilDiv(s.oh - py, sh), ceilDiv(s.ow - px, sw), {}};
            for (const AxisTap& y : down[py])
                for (const AxisTap& x : across[px]) p.taps.push_back({y.k, x.k, y.offset, x.offset});
            phases.push_back(std::move(p));
        }
    }
    return phases;
}

namespace {

// The outputs begin .. begin + count of an axis, for which the taps first .. end of its list read inside of the map.
struct Band {
    int begin, count, first, end;
};

// The taps of an axis, which are equally far apart. `offset` is the place that the first one reads, relative to the
// output's position times the step.
struct TapLine {
    int count, offset, distance;
};

// Returns no bands when there are more than `maxBands`.
std::vector<Band> bands(int outputs, int inputs, int step, const TapLine& taps, size_t maxBands) {
    const int64_t distance = std::max<int64_t>(1, std::abs(int64_t{taps.distance}));
    std::vector<Band> out;
    for (int i = 0, next; i < outputs; i = next) {
        // The output's position is measured at the tap that reads the lowest place. Positions below 0 and from `inputs`
        // on are outside.
        const int64_t at =
            int64_t{i} * step + taps.offset + (taps.distance < 0 ? int64_t{taps.count - 1} * taps.distance : 0);
        const auto below = [&](int64_t limit) {
            const int64_t count = limit > at ? (limit - at + distance - 1) / distance : 0;
            return static_cast<int>(std::min<int64_t>(count, taps.count));
        };
        int first = below(0), end = below(inputs);
        // The next band begins where fewer taps are below one of the limits; maps may have 2^31 outputs.
        const auto change = [&](int64_t limit, int count) {
            return count ? (limit - (count - 1) * distance - at + step - 1) / step : outputs;
        };
        next = static_cast<int>(std::min({int64_t{outputs}, i + change(0, first), i + change(inputs, end)}));
        if (taps.distance < 0) {
            std::swap(first, end);
            first = taps.count - first;
            end = taps.count - end;
        }
        if (out.size() == maxBands) return {};
        out.push_back({i, next - i, first, end});
    }
    return out;
}

int64_t tapsOf(const std::vector<Band>& bands) {
    int64_t taps = 0;
    for (const Band& band : bands) taps += band.end - band.first;
    return taps;
}

}  // namespace

std::vector<TapRegion> tapRegions(const ConvShape& s, bool transposed, size_t maxRegions) {
    std::vector<TapRegion> regions;
    const std::vector<ConvPhase> phases = convPhases(s, transposed);
    int64_t allTaps = 0;
    for (size_t p = 0; p < phases.size(); ++p) {
        const ConvPhase& phase = phases[p];
        // The taps form a grid.
        const int taps = static_cast<int>(phase.taps.size());
        int wide = 0;
        while (wide < taps && phase.taps[wide].ky == phase.taps[0].ky) ++wide;
        const TapLine down{wide ? taps / wide : 0, taps ? phase.taps[0].dy : 0,
                           wide < taps ? phase.taps[wide].dy - phase.taps[0].dy : 1};
        const TapLine across{wide, taps ? phase.taps[0].dx : 0, wide > 1 ? phase.taps[1].dx - phase.taps[0].dx : 1};
        const std::vector<Band> rows = bands(phase.rows, s.ih, transposed ? 1 : s.strideH, down, maxRegions),
                                columns = bands(phase.cols, s.iw, transposed ? 1 : s.strideW, across, maxRegions);
        if (rows.empty() || columns.empty()) return {};
        allTaps += tapsOf(rows) * tapsOf(columns);
        if (rows.size() * columns.size() > maxRegions - regions.size() || allTaps > kMaxRegionTaps) return {};
        const size_t begin = regions.size();
        for (const Band& y : rows) {
            for (const Band& x : columns) {
                TapRegion region{p, y.begin, x.begin, y.count, x.count, {}};
                for (int i = y.first; i < y.end; ++i)
                    for (int j = x.first; j < x.end; ++j) region.taps.push_back(i * wide + j);
                regions.push_back(std::move(region));
            }
        }
        std::stable_sort(
            regions.begin() + static_cast<ptrdiff_t>(begin), regions.end(),
            [](const TapRegion& a, const TapRegion& b) { return int64_t{a.rows} * a.cols > int64_t{b.rows} * b.cols; });
    }
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
    // A phase may have no taps: then its outputs are the bias.
    const int tapRows = lastTap == INT_MIN ? 0 : lastTap - y0 + 1;
    return {-y0, -x0, y1 - y0, x1 - x0, tapRows};
}

}  // namespace mnnc
