// Finds Rasters that transpose [batch][pixels][channels] to [batch][channels][pixels] or back, and computes them with
// the packed side in its own storage.
#include "backends/cpu/ops/channels_last_raster.h"

#include <climits>

#include "backends/cpu/kernels/pack.h"

namespace mnnc::cpu {

namespace {

struct Axis {
    int64_t size = 1, src = 0, dst = 0;
};

// Returns the axes of a region that have more than one element. Axes that are contiguous on both sides are merged.
std::vector<Axis> axesOf(const Region& region) {
    std::vector<Axis> axes;
    for (int i = 2; i >= 0; --i)
        if (region.size[i] != 1) axes.push_back({region.size[i], region.src.stride[i], region.dst.stride[i]});
    for (size_t i = 0; i < axes.size(); ++i)
        for (size_t k = 0; k < axes.size(); ++k) {
            Axis &inner = axes[i], &outer = axes[k];
            if (i == k || outer.src != inner.src * inner.size || outer.dst != inner.dst * inner.size) continue;
            inner.size *= outer.size;
            axes.erase(axes.begin() + static_cast<ptrdiff_t>(k));
            i = k = 0;
        }
    return axes;
}

// Returns whether the command copies all of a map [batch][channels][plane] from [batch][plane][channels], or to it
// (`last` false).
bool isTransposition(const Command& command, const Operand& map, bool last) {
    const Operand &input = *command.inputs[0], &output = *command.outputs[0];
    if (map.shape.rank() < 3 || map.format == Format::NHWC || !canPackOnHost(map) || elementBytes(input.type) != 4 ||
        elementBytes(output.type) != 4 || input.elements() != output.elements())
        return false;
    const int64_t batch = map.batch(), channels = map.shape[1], plane = map.plane();
    const Region& region = command.regions[0];
    if (channels < 2 || plane < 2 || channels > INT_MAX || plane > INT_MAX || batch > INT_MAX ||
        region.src.offset != 0 || region.dst.offset != 0 || region.count() != map.elements())
        return false;
    const int64_t image = channels * plane;  // no more than the elements of the region
    size_t wanted = batch > 1 ? 3 : 2;
    const std::vector<Axis> axes = axesOf(region);
    if (axes.size() != wanted) return false;
    for (const Axis& axis : axes) {
        const int64_t inMap = last ? axis.src : axis.dst, inRows = last ? axis.dst : axis.src;
        const bool isChannel = axis.size == channels && inMap == plane && inRows == 1;
        const bool isPixel = axis.size == plane && inMap == 1 && inRows == channels;
        const bool isBatch = axis.size == batch && inMap == image && inRows == image;
        wanted -= isChannel || isPixel || isBatch;
    }
    return wanted == 0;
}

class ChannelsLastRaster final : public Execution {
  public:
    ChannelsLastRaster(const CpuBackend& backend, const Command& command, bool last)
        : backend_(backend), input_(*command.inputs[0]), output_(*command.outputs[0]), last_(last) {}

    void run(const Frame& frame) const override {
        const Operand& map = last_ ? input_ : output_;
        (last_ ? packedToNhwc : nhwcToPacked)(backend_.kernels(), frame.data<const float>(input_),
                                              frame.data<float>(output_), static_cast<int>(map.batch()),
                                              static_cast<int>(map.shape[1]), static_cast<size_t>(map.plane()),
                                              frame.pool());
    }

  private:
    const CpuBackend& backend_;
    const Operand& input_;
    const Operand& output_;
    const bool last_;
};

bool oneRegion(const Command& command) {
    return command.inputs.size() == 1 && command.outputs.size() == 1 && command.regions.size() == 1;
}

}  // namespace

StorageChoice channelsLastStorage(const CpuBackend& backend, const Command& command) {
    StorageChoice choice;
    if (!oneRegion(command)) return choice;
    if (command.inputs[0]->channelBlock > 1 && isTransposition(command, *command.inputs[0], true))
        choice.inputBlock = backend.channelBlock();
    else if (isTransposition(command, *command.outputs[0], false) &&
             command.outputs[0]->shape[1] * 2 >= backend.channelBlock())  // fewer would leave most lanes empty
        choice.outputBlock = backend.channelBlock();
    return choice;
}

std::unique_ptr<Execution> createChannelsLastRaster(CpuBackend& backend, const Command& command) {
    if (!oneRegion(command)) return nullptr;
    const Operand &input = *command.inputs[0], &output = *command.outputs[0];
    const bool last = input.channelBlock > 1 && output.channelBlock == 1;
    if (!last && !(input.channelBlock == 1 && output.channelBlock > 1)) return nullptr;
    if (!isTransposition(command, last ? input : output, last)) return nullptr;
    return std::make_unique<ChannelsLastRaster>(backend, command, last);
}

}  // namespace mnnc::cpu
