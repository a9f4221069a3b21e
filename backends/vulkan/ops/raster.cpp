// Raster on the device, in these forms: a change of storage; whole channels of packed tensors; boxes of quads or
// elements, for regions that follow the order of the buffers; and any regions between any storages, element by element.
#include <algorithm>

#include "backends/vulkan/ops/conversion.h"
#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/ops/raster_boxes.h"
#include "backends/vulkan/ops/raster_planes.h"
#include "tensor/region_check.h"
#include "tensor/region_overlap.h"

namespace mnnc::vulkan {

namespace {

constexpr size_t kSources = 4;  // buffers of one raster dispatch

struct Extents {
    int64_t channels = 1, plane = 1;
    explicit Extents(const Operand& tensor) {
        if (tensor.channelBlock == 1) return;
        channels = tensor.shape.at(1);
        plane = tensor.plane();
    }
};

constexpr size_t kMaxRegions = 1 << 16;
constexpr size_t kMaxPasses = 64;

const Operand& sourceOf(const Command& command, const Region& region) {
    return *command.inputs[static_cast<size_t>(region.input)];
}

bool allPacked(const Command& command) {
    return !command.inputs.empty() && canPack(*command.outputs[0]) &&
           std::all_of(command.inputs.begin(), command.inputs.end(),
                       [](const Operand* input) { return input->channelBlock > 1; });
}

// Returns whether all regions move whole channel quads of packed tensors.
bool movesQuads(const Command& command) {
    return std::all_of(command.regions.begin(), command.regions.end(), [&](const Region& region) {
        return region.count() == 0 || quadBox(region, sourceOf(command, region), *command.outputs[0]);
    });
}

class RasterVulkan final : public VulkanExecution {
  public:
    RasterVulkan(VulkanBackend& backend, const Command& command)
        : VulkanExecution(backend), command_(command), output_(*command.outputs[0]) {
        int64_t covered = 0;
        for (const Region& region : command_.regions) covered += region.count();
        overlaps_ = regionsOverlap(command_.regions, output_.elements());
        fill_ = overlaps_ || covered != output_.elements();
        const bool quads = output_.channelBlock > 1 && allPacked(command_) && movesQuads(command_);
        for (const Region& region : command_.regions)
            if (region.count() > 0) add(region, quads);
    }

    void prepare() override {
        if (fill_) zero_ = &backend().pipeline("raster_fill", output_, 1, kLocal);
        for (Pass& pass : passes_) {
            constexpr uint32_t kBuffers = 2 + kSources;
            if (pass.form == Form::Stored)
                pass.pipeline = &backend().pipeline("raster", output_, kBuffers, kLocal,
                                                    {static_cast<uint32_t>(output_.channelBlock)});
            else
                pass.pipeline =
                    &backend().pipeline("raster_box", output_, kBuffers, kLocal, {pass.form == Form::Quads});
            std::vector<uint32_t> words;
            pass.groups = 0;
            for (const Copy& copy : pass.copies) {
                words.push_back(static_cast<uint32_t>(pass.groups));
                words.push_back(copy.source);
                if (pass.form == Form::Stored)
                    describeStored(*copy.region, words);
                else
                    describeBox(copy.box, words);
                pass.groups += ceilDiv(copy.count, pass.pipeline->localSize);
            }
            pass.table = backend().table(words);
        }
    }

    void encode(FrameRecorder& recorder) const override {
        if (fill_) {
            const int64_t total = output_.storageElements();
            recorder.dispatch(*zero_, {{recorder.writes(output_)}}, Push().u(total).f(0.0f),
                              ceilDiv(total, zero_->localSize));
        }
        const Extents e(output_);
        for (const Pass& pass : passes_) {
            std::vector<Binding> bindings{recorder.writes(output_), recorder.reads(*pass.table)};
            for (size_t i = 0; i < kSources; ++i)
                bindings.push_back(recorder.reads(*pass.sources[i < pass.sources.size() ? i : 0]));
            Push push;
            push.u(static_cast<int64_t>(pass.copies.size()));
            if (pass.form == Form::Stored) push.u(e.channels, e.plane);
            recorder.dispatch(*pass.pipeline, bindings, push, pass.groups);
        }
    }

  private:
    enum class Form : uint8_t { Quads, Elements, Stored };
    struct Copy {
        uint32_t source = 0;  // among those of the pass
        int64_t count = 0;    // invocations
        CopyBox box;
        const Region* region = nullptr;
    };
    // The copies of one dispatch.
    struct Pass {
        Form form;
        std::vector<Copy> copies;
        std::vector<const Operand*> sources;
        std::shared_ptr<const Block> table;
        int64_t groups = 0;
        const Pipeline* pipeline = nullptr;
    };

    void add(const Region& region, bool quads) {
        const Operand& source = sourceOf(command_, region);
        Copy copy;
        copy.region = &region;
        copy.count = region.count();
        Form form = Form::Stored;
        if (quads) {
            form = Form::Quads;
            copy.box = *quadBox(region, source, output_);
        } else if (source.channelBlock == 1 && output_.channelBlock == 1) {
            form = Form::Elements;
            copy.box = elementBox(region);
            if (auto wide = inQuads(copy.box)) {
                form = Form::Quads;
                copy.box = std::move(*wide);
            }
        }
        if (form != Form::Stored) copy.count = copy.box.count();
        Pass& pass = passFor(form, source);
        const auto at = std::find(pass.sources.begin(), pass.sources.end(), &source) - pass.sources.begin();
        copy.source = static_cast<uint32_t>(at);
        pass.copies.push_back(std::move(copy));
    }

    // Regions that overlap must be executed in order; others can join an earlier pass.
    Pass& passFor(Form form, const Operand& source) {
        for (Pass& pass : passes_) {
            if (overlaps_) break;
            if (pass.form != form) continue;
            if (std::find(pass.sources.begin(), pass.sources.end(), &source) != pass.sources.end()) return pass;
            if (pass.sources.size() == kSources) continue;
            pass.sources.push_back(&source);
            return pass;
        }
        passes_.push_back({form, {}, {&source}, nullptr, 0, nullptr});
        return passes_.back();
    }

    void describeStored(const Region& region, std::vector<uint32_t>& words) const {
        const Operand& source = sourceOf(command_, region);
        const Extents e(source);
        for (const int64_t word :
             {static_cast<int64_t>(source.channelBlock), e.channels, e.plane, region.src.offset, region.dst.offset})
            words.push_back(static_cast<uint32_t>(word));
        for (const int64_t size : region.size) words.push_back(static_cast<uint32_t>(size));
        for (const int64_t stride : region.src.stride) words.push_back(static_cast<uint32_t>(stride));
        for (const int64_t stride : region.dst.stride) words.push_back(static_cast<uint32_t>(stride));
    }

    static void describeBox(const CopyBox& box, std::vector<uint32_t>& words) {
        CopyAxis axes[CopyBox::kMaxAxes];
        std::copy(box.axes.begin(), box.axes.end(), std::end(axes) - box.axes.size());
        for (const int64_t word : {box.src, box.dst, box.count()}) words.push_back(static_cast<uint32_t>(word));
        for (const int64_t CopyAxis::*field : {&CopyAxis::size, &CopyAxis::src, &CopyAxis::dst})
            for (const CopyAxis& axis : axes) words.push_back(static_cast<uint32_t>(axis.*field));
    }

    const Command command_;
    const Operand& output_;
    std::vector<Pass> passes_;
    bool fill_ = false, overlaps_ = false;
    const Pipeline* zero_ = nullptr;
};

bool changesStorage(const Command& command) {
    return command.inputs.size() == 1 &&
           (command.inputs[0]->channelBlock != command.outputs[0]->channelBlock ||
            command.inputs[0]->wide != command.outputs[0]->wide) &&
           isIdentity(command.regions, command.outputs[0]->elements()) &&
           command.inputs[0]->elements() == command.outputs[0]->elements();
}

bool supportsRaster(const VulkanBackend& backend, const Command& command, std::string& reason) {
    const Operand& output = *command.outputs[0];
    for (const Region& region : command.regions) {
        if (region.input < 0 || region.input >= static_cast<int>(command.inputs.size()))
            fail(Status::BadIndex, "op '%s': a region reads input %d of %zu", command.name.c_str(), region.input,
                 command.inputs.size());
        const Operand& input = sourceOf(command, region);
        checkRegion(region, input.elements(), output.elements(), command.name.c_str());
        if (region.count() == 0) continue;
        if (!writesOnce(region)) return refuse(reason, "a region writes elements twice, which needs an order");
        if (input.type != output.type)
            return refuse(reason, format("the Vulkan backend copies no %s into %s", dataTypeName(input.type),
                                         dataTypeName(output.type)));
    }
    // Tables of regions must stay small beside the data; overlapping regions cost a dispatch each.
    if (command.regions.size() > kMaxRegions ||
        (command.regions.size() > kMaxPasses && regionsOverlap(command.regions, output.elements())))
        return refuse(reason, format("%zu regions are too many for the device", command.regions.size()));
    if (backend.limits().storageBuffers < 2 + kSources && !changesStorage(command))
        return refuse(reason, "the device binds too few buffers");
    return true;
}

// Packed inputs stay packed. The output is packed where channel quads or whole channels move, or where the model
// requires it; otherwise its consumer is more likely to need it row-major.
StorageChoice rasterStorage(const VulkanBackend&, const Command& command) {
    StorageChoice choice;
    if (!allPacked(command)) return choice;
    choice.inputBlock = kChannelBlock;
    if (movesPlanes(command) || movesQuads(command) || command.outputs[0]->format == Format::NC4HW4)
        choice.outputBlock = kChannelBlock;
    return choice;
}

std::unique_ptr<Execution> createRaster(VulkanBackend& backend, const Command& command) {
    if (changesStorage(command)) return std::make_unique<Conversion>(backend, *command.inputs[0], *command.outputs[0]);
    if (command.outputs[0]->channelBlock > 1 && allPacked(command) && !movesQuads(command) && movesPlanes(command))
        return std::make_unique<PlaneRaster>(backend, command);
    return std::make_unique<RasterVulkan>(backend, command);
}

}  // namespace

constexpr VulkanOp kRaster[] = {{OpType::Raster, supportsRaster, rasterStorage, createRaster}};
extern constinit const VulkanFamily rasterVulkan = kRaster;

}  // namespace mnnc::vulkan
