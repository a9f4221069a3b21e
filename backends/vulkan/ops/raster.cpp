// Raster on the device, every change of storage there, and the copies to and from the host.
#include <algorithm>
#include <cstring>

#include "backends/vulkan/ops/families.h"
#include "backends/vulkan/vulkan_execution.h"
#include "tensor/region_check.h"

namespace mnnc::vulkan {

namespace {

constexpr uint32_t kLocal = 64;
constexpr int kSources = 4;  // buffers of one raster dispatch

struct Extents {
    int64_t channels = 1, plane = 1;
    explicit Extents(const Tensor& tensor) {
        if (tensor.pack == 1) return;
        channels = tensor.shape.at(1);
        plane = tensor.plane();
    }
};

// One dispatch of convert.comp.
class Conversion : public VulkanExecution {
  public:
    enum class Width : uint8_t { Same, Up, Down };
    Conversion(VulkanBackend& backend, const Tensor& from, const Tensor& to, Width width)
        : VulkanExecution(backend), from_(from), to_(to), width_(width) {}

    void onResize() override {
        const std::vector<uint32_t> packs{static_cast<uint32_t>(from_.pack), static_cast<uint32_t>(to_.pack)};
        const bool changes = backend().half() && to_.type == DataType::Float32 && width_ != Width::Same;
        if (changes)
            pipeline_ = &backend().exactPipeline(width_ == Width::Up ? "convert_up" : "convert_down", 2,
                                                 kLocal, packs);
        else
            pipeline_ = &backend().pipeline("convert", to_.type, 2, kLocal, packs);
    }

    void encode(Recorder& recorder) override {
        const Tensor& packed = to_.pack > 1 ? to_ : from_;
        const Extents e(packed);
        const int64_t total = to_.storageElements();
        recorder.dispatch(*pipeline_, {{reads(source()), writes(to_)}},
                          Push().u(total).u(e.channels).u(e.plane), ceilDiv(total, pipeline_->localSize));
    }

  protected:
    virtual const Tensor& source() const { return from_; }
    const Tensor& from_;
    const Tensor& to_;

  private:
    const Width width_;
    const Pipeline* pipeline_ = nullptr;
};

// From the host: its bytes pass through staging memory.
class Upload final : public Conversion {
  public:
    Upload(VulkanBackend& backend, const Tensor& host, const Tensor& staging, const Tensor& device)
        : Conversion(backend, host, device, Width::Down), staging_(staging) {}
    bool hasHostPart() const override { return true; }
    void beforeSubmit() override {
        std::memcpy(staging_.data, from_.data, static_cast<size_t>(from_.storageBytes()));
    }

  private:
    const Tensor& source() const override { return staging_; }
    const Tensor& staging_;
};

class RasterVulkan final : public VulkanExecution {
  public:
    RasterVulkan(VulkanBackend& backend, const Command& command)
        : VulkanExecution(backend), command_(command), output_(*command.outputs[0]) {
        int64_t covered = 0;
        for (const Region& region : command_.regions) covered += region.count();
        fill_ = covered != output_.elements();
        overlaps_ = covered > output_.elements();
        for (const Region& region : command_.regions)
            if (region.count() > 0) add(region);
    }

    void onResize() override {
        const DataType type = output_.type;
        copy_ =
            &backend().pipeline("raster", type, 2 + kSources, kLocal, {static_cast<uint32_t>(output_.pack)});
        if (fill_) zero_ = &backend().pipeline("fill", type, 1, kLocal);
        for (Pass& pass : passes_) {
            std::vector<uint32_t> words;
            int64_t groups = 0;
            for (const Region& region : pass.regions) {
                describe(region, pass, groups, words);
                groups += ceilDiv(region.count(), copy_->localSize);
            }
            pass.groups = groups;
            pass.table = backend().table(words);
        }
    }

    void encode(Recorder& recorder) override {
        if (fill_) {
            const int64_t total = output_.storageElements();
            recorder.dispatch(*zero_, {{writes(output_)}}, Push().u(total).f(0),
                              ceilDiv(total, zero_->localSize));
        }
        const Extents e(output_);
        for (const Pass& pass : passes_) {
            std::vector<Binding> bindings{writes(output_), reads(*pass.table)};
            for (int i = 0; i < kSources; ++i)
                bindings.push_back(
                    reads(*pass.sources[static_cast<size_t>(i) < pass.sources.size() ? i : 0]));
            recorder.dispatch(*copy_, bindings,
                              Push().u(static_cast<int64_t>(pass.regions.size())).u(e.channels).u(e.plane),
                              pass.groups);
        }
    }

  private:
    // Regions that one dispatch copies.
    struct Pass {
        std::vector<Region> regions;
        std::vector<const Tensor*> sources;
        std::shared_ptr<const Block> table;
        int64_t groups = 0;
    };

    // Regions that overlap have to follow one another.
    void add(const Region& region) {
        const Tensor* source = command_.inputs[static_cast<size_t>(region.input)];
        const auto uses = [&](const Pass& pass) {
            return std::find(pass.sources.begin(), pass.sources.end(), source) != pass.sources.end();
        };
        if (passes_.empty() || overlaps_ ||
            (!uses(passes_.back()) && passes_.back().sources.size() == kSources))
            passes_.emplace_back();
        Pass& pass = passes_.back();
        if (!uses(pass)) pass.sources.push_back(source);
        pass.regions.push_back(region);
    }

    void describe(const Region& region, const Pass& pass, int64_t firstGroup,
                  std::vector<uint32_t>& words) const {
        const Tensor* source = command_.inputs[static_cast<size_t>(region.input)];
        const Extents e(*source);
        const auto index = std::find(pass.sources.begin(), pass.sources.end(), source) - pass.sources.begin();
        for (const int64_t word :
             {firstGroup, static_cast<int64_t>(index), static_cast<int64_t>(source->pack), e.channels,
              e.plane, region.src.offset, region.dst.offset})
            words.push_back(static_cast<uint32_t>(word));
        for (const int64_t size : region.size) words.push_back(static_cast<uint32_t>(size));
        for (const int64_t stride : region.src.stride) words.push_back(static_cast<uint32_t>(stride));
        for (const int64_t stride : region.dst.stride) words.push_back(static_cast<uint32_t>(stride));
    }

    const Command command_;
    const Tensor& output_;
    std::vector<Pass> passes_;
    bool fill_ = false, overlaps_ = false;
    const Pipeline* copy_ = nullptr;
    const Pipeline* zero_ = nullptr;
};

bool supportsRaster(const VulkanBackend& backend, const Command& command, std::string& reason) {
    const Tensor& output = *command.outputs[0];
    for (const Region& region : command.regions) {
        if (region.input < 0 || region.input >= static_cast<int>(command.inputs.size()))
            fail(Status::BadIndex, "op '%s': a region reads input %d of %zu", command.name.c_str(),
                 region.input, command.inputs.size());
        const Tensor& input = *command.inputs[static_cast<size_t>(region.input)];
        if (region.count() == 0) continue;
        checkRegion(region, input.elements(), output.elements(), command.name.c_str());
        if (input.type != output.type) {
            reason = format("the Vulkan backend copies no %s into %s", dataTypeName(input.type),
                            dataTypeName(output.type));
            return false;
        }
    }
    if (backend.limits().storageBuffers < 2 + kSources) {
        reason = "the device binds too few buffers";
        return false;
    }
    return true;
}

// Packed when the inputs are: what follows is likely to want it, and addresses are computed either way.
StorageChoice rasterStorage(const VulkanBackend&, const Command& command) {
    StorageChoice choice;
    const bool packed = !command.inputs.empty() && canPack(*command.outputs[0]) &&
                        std::all_of(command.inputs.begin(), command.inputs.end(),
                                    [](const Tensor* input) { return input->pack > 1; });
    if (packed) choice.inputPack = choice.outputPack = kPack;
    return choice;
}

std::unique_ptr<Execution> createRaster(VulkanBackend& backend, const Command& command) {
    if (command.inputs.size() == 1 && command.inputs[0]->pack != command.outputs[0]->pack &&
        isIdentity(command.regions, command.outputs[0]->elements()))
        return std::make_unique<Conversion>(backend, *command.inputs[0], *command.outputs[0],
                                            Conversion::Width::Same);
    return std::make_unique<RasterVulkan>(backend, command);
}

constexpr VulkanOp kRaster[] = {{OpType::Raster, supportsRaster, rasterStorage, createRaster}};

}  // namespace

VulkanFamily rasterVulkan() {
    return kRaster;
}

std::unique_ptr<Execution> VulkanBackend::createUpload(const Tensor& host, const Tensor& staging,
                                                       const Tensor& device) {
    return std::make_unique<Upload>(*this, host, staging, device);
}

std::unique_ptr<Execution> VulkanBackend::createDownload(const Tensor& device, const Tensor& host) {
    return std::make_unique<Conversion>(*this, device, host, Conversion::Width::Up);
}

}  // namespace mnnc::vulkan
