// Finds Rasters whose output can be a view of their input.
#include "plan/raster_views.h"

#include "plan/storage_location.h"
#include "tensor/region_check.h"

namespace mnnc {

namespace {

// A Raster that copies all elements in order needs no step: the output becomes another view of the input. A live-out
// tensor may share the memory of an input of the plan here, as mnn_tensor_write() documents; in rangeView() it may not.
std::optional<RasterView> wholeView(const Command& command, const ViewRules& rules) {
    const Operand &input = *command.inputs[0], &output = *command.outputs[0];
    if (elementBytes(input.type) != elementBytes(output.type) || input.elements() != output.elements() ||
        !isIdentity(command.regions, output.elements()))
        return {};
    if (rules.isLiveOut(&output) && rules.isOverwritten(&input)) return {};
    // On a device the type determines the width of an element.
    if (input.onDevice && (input.type == DataType::Float32) != (output.type == DataType::Float32)) return {};
    RasterView view{input, 0};
    const bool toHost = input.onDevice && rules.isLiveOut(&output);
    if (toHost) view.input.onDevice = false;
    if (toHost || (input.channelBlock > 1 && !sameChannels(input, output))) view.input.channelBlock = 1;
    return view;
}

// A contiguous slice becomes a view on the host only: on a device each view would need an upload of its own.
std::optional<RasterView> rangeView(const Command& command, const ViewRules& rules) {
    if (rules.hasDevice || command.regions.size() != 1) return {};
    Operand input = *command.inputs[0], output = *command.outputs[0];
    // A live-out tensor must keep its values when its input, which lies outside of the plan, is filled again.
    if (rules.isLiveOut(command.outputs[0]) && rules.liesOutside(command.inputs[0])) return {};
    if (input.channelBlock > 1 && packsToItself(input, input.channelBlock) &&
        !(canPackOnHost(output) && packsToItself(output, input.channelBlock)))
        static_cast<Storage&>(input) = {1, false};
    if (input.channelBlock > 1 && !canPackOnHost(output)) return {};
    Region reversed = command.regions[0];
    std::swap(reversed.src, reversed.dst);
    output.channelBlock = input.channelBlock;
    const int64_t offset = subrangeOffset(input, output, reversed);
    if (offset < 0) return {};
    return RasterView{input, offset};
}

}  // namespace

std::optional<RasterView> rasterView(const Command& command, const ViewRules& rules) {
    if (command.type != OpType::Raster || command.inputs.size() != 1) return {};
    const std::optional<RasterView> whole = wholeView(command, rules);
    return whole ? whole : rangeView(command, rules);
}

int64_t subrangeOffset(const Operand& whole, const Operand& part, const Region& region) {
    constexpr int64_t kAlignment = 64;
    const int64_t offset = region.dst.offset, elements = part.elements();
    if (part.type != whole.type || part.channelBlock != whole.channelBlock || !isLinear(region, elements) ||
        offset < 0 || offset > whole.elements() - elements)
        return -1;
    const auto bytes = static_cast<int64_t>(elementBytes(whole.type));
    const int channelBlock = whole.channelBlock;
    if ((channelBlock == 1 || (packsToItself(whole, channelBlock) && packsToItself(part, channelBlock))) &&
        offset * bytes % kAlignment == 0)
        return offset * bytes;
    if (channelBlock == 1) return -1;
    const int64_t plane = whole.plane(), channels = whole.shape[1];
    if (part.plane() != plane || offset % plane != 0) return -1;
    const int64_t n = offset / plane / channels, first = offset / plane % channels;
    if (first == 0 && part.shape[1] == channels) return n * roundUp(channels, channelBlock) * plane * bytes;
    // A block of channels must not mix two tensors.
    const int64_t end = first + part.shape[1];
    if (part.batch() != 1 || first % channelBlock != 0 || (end % channelBlock != 0 && end != channels)) return -1;
    return (n * roundUp(channels, channelBlock) + first) * plane * bytes;
}

}  // namespace mnnc
