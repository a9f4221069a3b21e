// Gathers slices of a volume as the channels of an image.
#include "backends/cpu/ops/volume_slices.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/pack.h"
#include "base/checked.h"

namespace mnnc::cpu {

std::vector<DepthPhase> depthPhases(const Conv3dParams& p, const Conv3dWindow& w) {
    std::vector<DepthPhase> phases;
    const int64_t stride = p.stride[0];
    if (!p.transposed) {
        DepthPhase& phase = phases.emplace_back();
        phase.inputStep = stride;
        for (int64_t k = 0; k < p.kernel[0]; ++k) phase.taps.push_back({k, k * p.dilate[0] - w.begin[0]});
        return phases;
    }
    // Output z takes input i by tap k where i * stride + k * dilate - begin = z.
    const int64_t count = std::min(stride, w.out[0]);
    for (int64_t first = 0; first < count; ++first) {
        DepthPhase phase;
        phase.first = first;
        phase.step = stride;
        for (int64_t k = 0; k < p.kernel[0]; ++k) {
            const int64_t at = first + w.begin[0] - k * p.dilate[0];
            if (at % stride == 0) phase.taps.push_back({k, at / stride});
        }
        if (phase.taps.empty()) phase.taps.push_back({-1, 0});
        phases.push_back(std::move(phase));
    }
    return phases;
}

std::vector<float> phaseWeights(const DepthPhase& phase, const Conv3dParams& p, const Conv3dWindow& w,
                                const float* stored) {
    const int64_t depth = p.kernel[0], area = int64_t{p.kernel[1]} * p.kernel[2];
    const int64_t perGroup = w.ic / w.groups, taps = static_cast<int64_t>(phase.taps.size());
    const int64_t rows = p.transposed ? w.ic : w.oc;
    const int64_t columns = p.transposed ? w.oc / w.groups : perGroup;
    std::vector<float> ordered(static_cast<size_t>(rows * columns * taps * area));
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c)
            for (int64_t t = 0; t < taps; ++t) {
                const int64_t k = phase.taps[static_cast<size_t>(t)].k;
                if (k < 0) continue;
                const int64_t to = p.transposed
                                       ? (r / perGroup * taps + t) * perGroup * columns + r % perGroup * columns + c
                                       : (r * taps + t) * perGroup + c;
                std::copy_n(stored + ((r * columns + c) * depth + k) * area, area, ordered.data() + to * area);
            }
    return ordered;
}

VolumeSlices::VolumeSlices(const Operand& volume, const float* data, const Kernels& kernels)
    : kernels_(kernels),
      lanes_(kernels.lanes),
      data_(data),
      channels_(volume.shape[1]),
      depth_(volume.shape[2]),
      area_(volume.shape[3] * volume.shape[4]),
      packed_(volume.channelBlock > 1) {}

const float* VolumeSlices::channelAt(int64_t n, int64_t channel, int64_t depth) const {
    if (depth < 0 || depth >= depth_) return nullptr;
    if (!packed_) return data_ + ((n * channels_ + channel) * depth_ + depth) * area_;
    const int64_t blocks = ceilDiv(channels_, int64_t{lanes_});
    return data_ + ((n * blocks + channel / lanes_) * depth_ + depth) * area_ * lanes_ + channel % lanes_;
}

void VolumeSlices::copy(const float* const* lanes, int64_t count, int64_t from, int64_t pixels, float* dst) const {
    if (packed_)
        fromBlocks(lanes, count, from, pixels, dst);
    else
        fromRows(lanes, count, from, pixels, dst);
}

void VolumeSlices::fromRows(const float* const* lanes, int64_t count, int64_t from, int64_t pixels, float* dst) const {
    const int64_t apart = depth_ * area_;  // between channels
    bool even = lanes[0] != nullptr;
    for (int64_t l = 1; even && l < count; ++l) even = lanes[l] == lanes[0] + l * apart;
    if (even)
        return kernels_.pack->rowsToBlock(lanes[0] + from, static_cast<size_t>(apart), static_cast<int>(count),
                                          static_cast<size_t>(pixels), dst);
    for (int64_t l = 0; l < count; ++l)
        for (int64_t i = 0; i < pixels; ++i) dst[i * lanes_ + l] = lanes[l] ? lanes[l][from + i] : 0.0f;
}

// Copies lanes of a few blocks of the input; mostly they are a whole block, or from no more blocks than mixLanes takes.
void VolumeSlices::fromBlocks(const float* const* lanes, int64_t count, int64_t from, int64_t pixels,
                              float* dst) const {
    LaneSource sources[PackKernels::kMaxSources];
    int32_t taken[PackKernels::kMaxSources][kMaxLanes];
    int used = 0;
    bool few = true;
    for (int64_t l = 0; l < count && few; ++l) {
        if (!lanes[l]) continue;
        const auto lane = static_cast<int32_t>((lanes[l] - data_) % lanes_);
        const float* const source = lanes[l] - lane + from * lanes_;
        int i = 0;
        while (i < used && sources[i].block != source) ++i;
        few = i < PackKernels::kMaxSources;
        if (!few) break;
        if (i == used) {
            std::fill(taken[i], taken[i] + kMaxLanes, -1);
            sources[used++] = {source, taken[i]};
        }
        taken[i][l] = lane;
    }
    bool whole = few && used == 1;
    for (int64_t l = 0; l < count && whole; ++l) whole = taken[0][l] == l;
    if (whole)
        std::memcpy(dst, sources[0].block, static_cast<size_t>(pixels * lanes_) * sizeof(float));
    else if (few)
        kernels_.pack->mixLanes(sources, used, static_cast<size_t>(pixels), dst);
    else
        for (int64_t l = 0; l < count; ++l)
            for (int64_t i = 0; i < pixels; ++i) dst[i * lanes_ + l] = lanes[l] ? lanes[l][(from + i) * lanes_] : 0.0f;
}

}  // namespace mnnc::cpu
