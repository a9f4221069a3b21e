// Executes Rasters that move whole channels of packed tensors.
#include "backends/vulkan/ops/raster_planes.h"

#include <algorithm>
#include <array>
#include <functional>

#include "backends/vulkan/ops/raster_boxes.h"

namespace mnnc::vulkan {

namespace {

constexpr int64_t kMaxPlanes = 1 << 18;  // more would make a table larger than the data
constexpr uint32_t kNone = 15, kWhole = 1u << 16;

// Visits the pairs of channels, over all batches, that a box copies.
void forEachChannel(const CopyBox& box, const std::function<void(int64_t src, int64_t dst)>& visit) {
    const int64_t count = box.count();
    for (int64_t i = 0; i < count; ++i) {
        int64_t rest = i, src = box.src, dst = box.dst;
        for (size_t axis = box.axes.size(); axis-- > 0;) {
            const CopyAxis& a = box.axes[axis];
            src += rest % a.size * a.src;
            dst += rest % a.size * a.dst;
            rest /= a.size;
        }
        visit(src, dst);
    }
}

// Returns the offset of a channel's first element in a packed tensor.
uint32_t planeOffset(const Operand& tensor, int64_t channel) {
    const Packed p(tensor);
    const int64_t n = channel / p.c, c = channel % p.c;
    return static_cast<uint32_t>(((n * p.blocks + c / kChannelBlock) * p.plane) * kChannelBlock + c % kChannelBlock);
}

}  // namespace

bool movesPlanes(const Command& command) {
    const Operand& output = *command.outputs[0];
    if (!canPack(output) || command.inputs.size() > PlaneRaster::kSources ||
        output.batch() * output.shape.at(1) > kMaxPlanes)
        return false;
    int64_t planes = 0;
    for (const Region& region : command.regions) {
        if (region.count() == 0) continue;
        const Operand& input = *command.inputs[static_cast<size_t>(region.input)];
        if (!canPack(input)) return false;
        const auto box = channelBox(region, input, output);
        if (!box || (planes += box->count()) > kMaxPlanes) return false;
    }
    return true;
}

void PlaneRaster::prepare() {
    const Packed out(output_);
    struct Source {
        uint32_t input = kNone, offset = 0;
    };
    std::vector<Source> sources(static_cast<size_t>(out.n * out.blocks * kChannelBlock));
    for (const Region& region : command_.regions) {
        if (region.count() == 0) continue;
        const Operand& input = *command_.inputs[static_cast<size_t>(region.input)];
        forEachChannel(*channelBox(region, input, output_), [&](int64_t src, int64_t dst) {
            const int64_t at = dst / out.c * out.blocks * kChannelBlock + dst % out.c;
            sources[static_cast<size_t>(at)] = {static_cast<uint32_t>(region.input), planeOffset(input, src)};
        });
    }
    std::vector<uint32_t> words;
    for (size_t i = 0; i < sources.size(); i += kChannelBlock) {
        const Source* quad = &sources[i];
        const auto lanes =
            std::min<int64_t>(kChannelBlock, out.c - static_cast<int64_t>(i) % (out.blocks * kChannelBlock));
        bool whole = quad[0].input != kNone && quad[0].offset % kChannelBlock == 0;
        uint32_t inputs = 0;
        for (uint32_t lane = 0; lane < kChannelBlock; ++lane) {
            inputs |= quad[lane].input << (4 * lane);
            // Padding lanes may take whatever the source has there.
            whole = whole && (lane >= lanes ||
                              (quad[lane].input == quad[0].input && quad[lane].offset == quad[0].offset + lane));
        }
        words.push_back(inputs | (whole ? kWhole : 0));
        for (size_t lane = 0; lane < kChannelBlock; ++lane) words.push_back(quad[lane].offset);
    }
    table_ = backend().table(words);
    pipeline_ = &backend().pipeline("raster_planes", output_, 2 + kSources, kLocal);
}

void PlaneRaster::encode(FrameRecorder& recorder) const {
    const int64_t quads = output_.storageElements() / kChannelBlock;
    std::vector<Binding> bindings{recorder.writes(output_), recorder.reads(*table_)};
    // An input without elements has no memory, and no region reads it.
    const auto usable = [](const Operand* input) { return !input->empty(); };
    const auto any = std::find_if(command_.inputs.begin(), command_.inputs.end(), usable);
    for (size_t i = 0; i < kSources; ++i) {
        const bool given = i < command_.inputs.size() && usable(command_.inputs[i]);
        if (given || any != command_.inputs.end())
            bindings.push_back(recorder.reads(given ? *command_.inputs[i] : **any));
        else
            bindings.push_back(recorder.reads(*table_));
    }
    recorder.dispatch(*pipeline_, bindings, Push().u(quads, output_.plane()), ceilDiv(quads, pipeline_->localSize));
}

}  // namespace mnnc::vulkan
