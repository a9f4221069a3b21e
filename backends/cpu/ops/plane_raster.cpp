// Copies whole channel planes from packed tensors to a packed tensor, a block of channels at a time.
#include "backends/cpu/ops/plane_raster.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <type_traits>

#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/pack.h"
#include "backends/cpu/ops/raster_fill.h"
#include "backends/cpu/ops/strided_copy.h"

namespace mnnc::cpu {

namespace {

constexpr int64_t kMaxPlanes = 1 << 20;  // with more planes, the table of their sources could be larger than the data

// A region in units of planes: every offset and stride except that inside the plane is a multiple of a plane.
struct PlaneRegion {
    int64_t src = 0, dst = 0, size[3] = {1, 1, 1}, srcStride[3] = {0, 0, 0}, dstStride[3] = {0, 0, 0};
};

bool inPlanes(const Region& region, int64_t plane, PlaneRegion& out) {
    if (region.src.offset % plane || region.dst.offset % plane) return false;
    out.src = region.src.offset / plane;
    out.dst = region.dst.offset / plane;
    int64_t inner = 1;  // contiguous elements collected from the innermost axis outwards
    for (int axis = 2; axis >= 0; --axis) {
        const int64_t size = region.size[axis], ss = region.src.stride[axis], ds = region.dst.stride[axis];
        if (size == 1) continue;
        if (inner < plane) {
            if (ss != inner || ds != inner) return false;
            if (plane % (inner * size) == 0) {
                inner *= size;
                continue;
            }
            if ((inner * size) % plane) return false;
            out.size[axis] = inner * size / plane;
            out.srcStride[axis] = out.dstStride[axis] = 1;
            inner = plane;
        } else {
            if (ss % plane || ds % plane) return false;
            out.size[axis] = size;
            out.srcStride[axis] = ss / plane;
            out.dstStride[axis] = ds / plane;
        }
    }
    return inner == plane;
}

// Every output plane is a copy of one input plane, or zero. T: an element.
template <typename T>
class PlaneRaster final : public Execution {
  public:
    PlaneRaster(const CpuBackend& backend, const Command& command)
        : backend_(backend), inputs_(command.inputs), output_(*command.outputs[0]) {
        const int64_t channels = output_.shape.at(1), blocks = ceilDiv(channels, int64_t{output_.channelBlock});
        const std::vector<Source> planes = planesOf(command);
        for (int64_t n = 0; n < output_.batch(); ++n)
            for (int64_t b = 0; b < blocks; ++b) {
                const int64_t first = b * output_.channelBlock;
                addBlock({&planes[static_cast<size_t>(n * channels + first)],
                          static_cast<size_t>(std::min<int64_t>(output_.channelBlock, channels - first))});
            }
    }

    void run(const Frame& frame) const override {
        const int total = static_cast<int>(blocks_.size());
        auto body = [&](int block) { makeBlock(frame, block); };
        if (output_.storageBytes() < kThreadedBytes)
            for (int i = 0; i < total; ++i) body(i);
        else
            parallelFor(frame.pool(), total, body);
    }

  private:
    static constexpr int kMaxChannelBlock = kMaxLanes;

    struct Source {
        int input = -1;  // none: zero
        int lane = 0;
        int64_t offset = 0;  // of the block, in elements
    };
    // The lanes that an output block takes from one input block.
    struct Part {
        int input;
        int64_t offset;
        int32_t lane[kMaxChannelBlock];  // of the input block, for each of the output's; -1: none
    };
    struct Block {
        size_t firstPart;
        int parts;
        int lanes;   // of channels
        bool whole;  // a copy of one input block
    };

    std::vector<Source> planesOf(const Command& command) const {
        const int64_t plane = output_.plane();
        std::vector<Source> planes(static_cast<size_t>(output_.batch() * output_.shape.at(1)));
        for (const Region& region : command.regions) {
            PlaneRegion r;
            inPlanes(region, plane, r);
            for (int64_t i = 0; i < r.size[0]; ++i)
                for (int64_t j = 0; j < r.size[1]; ++j)
                    for (int64_t k = 0; k < r.size[2]; ++k) {
                        const int64_t src = r.src + i * r.srcStride[0] + j * r.srcStride[1] + k * r.srcStride[2];
                        const int64_t dst = r.dst + i * r.dstStride[0] + j * r.dstStride[1] + k * r.dstStride[2];
                        planes[static_cast<size_t>(dst)] = locate(region.input, src, plane);
                    }
        }
        return planes;
    }

    Source locate(int input, int64_t planeIndex, int64_t plane) const {
        const Operand& tensor = *inputs_[static_cast<size_t>(input)];
        const int64_t channels = tensor.shape.at(1), channelBlock = tensor.channelBlock;
        const int64_t n = planeIndex / channels, c = planeIndex % channels;
        return {input, static_cast<int>(c % channelBlock),
                (n * ceilDiv(channels, channelBlock) + c / channelBlock) * plane * channelBlock};
    }

    void addBlock(std::span<const Source> lanes) {
        Block block{parts_.size(), 0, static_cast<int>(lanes.size()), false};
        for (size_t i = 0; i < lanes.size(); ++i) {
            if (lanes[i].input < 0) continue;
            const auto from = parts_.begin() + static_cast<ptrdiff_t>(block.firstPart);
            auto part = std::find_if(from, parts_.end(), [&](const Part& one) {
                return one.input == lanes[i].input && one.offset == lanes[i].offset;
            });
            if (part == parts_.end()) {
                part = parts_.insert(part, {lanes[i].input, lanes[i].offset, {}});
                std::fill(std::begin(part->lane), std::end(part->lane), -1);
                ++block.parts;
            }
            part->lane[i] = lanes[i].lane;
        }
        block.whole = block.parts == 1;
        for (size_t i = 0; i < lanes.size(); ++i)
            block.whole = block.whole && parts_.back().lane[i] == static_cast<int32_t>(i);
        blocks_.push_back(block);
    }

    const T* dataOf(const Frame& frame, const Part& part) const {
        return frame.data<T>(*inputs_[static_cast<size_t>(part.input)]) + part.offset;
    }

    void makeBlock(const Frame& frame, int index) const {
        const Block& block = blocks_[static_cast<size_t>(index)];
        const Part* parts = parts_.data() + block.firstPart;
        const int64_t plane = output_.plane(), channelBlock = output_.channelBlock;
        T* dst = frame.data<T>(output_) + index * plane * channelBlock;
        if (block.whole) {
            std::memcpy(dst, dataOf(frame, *parts), static_cast<size_t>(plane * channelBlock) * sizeof(T));
            return;
        }
        if constexpr (std::is_same_v<T, float>) {
            if (block.parts > 0 && block.parts <= PackKernels::kMaxSources) {
                LaneSource sources[PackKernels::kMaxSources];
                for (int i = 0; i < block.parts; ++i) sources[i] = {dataOf(frame, parts[i]), parts[i].lane};
                backend_.kernels().pack->mixLanes(sources, block.parts, static_cast<size_t>(plane), dst);
                return;
            }
        }
        const T* base[kMaxChannelBlock];
        int64_t step[kMaxChannelBlock];
        for (int lane = 0; lane < block.lanes; ++lane) {
            const Part* part =
                std::find_if(parts, parts + block.parts, [&](const Part& one) { return one.lane[lane] >= 0; });
            const bool real = part != parts + block.parts;
            base[lane] = real ? dataOf(frame, *part) + part->lane[lane] : &zero_;
            step[lane] = real ? channelBlock : 0;
        }
        for (int64_t i = 0; i < plane; ++i)
            for (int lane = 0; lane < block.lanes; ++lane) dst[i * channelBlock + lane] = base[lane][i * step[lane]];
    }

    const CpuBackend& backend_;
    std::vector<Operand*> inputs_;
    const Operand& output_;
    const T zero_ = static_cast<T>(sizeof(T) == 1 ? fillByte(output_) : 0);
    std::vector<Part> parts_;
    std::vector<Block> blocks_;
};

}  // namespace

bool movesPlanes(const Command& command) {
    const Operand& output = *command.outputs[0];
    const bool moves = output.type == DataType::Float32 || output.type == DataType::Int8;
    if (output.shape.rank() < 2 || output.format == Format::NHWC || !moves) return false;
    const int64_t plane = output.plane();
    if (plane == 0 || output.elements() / plane > kMaxPlanes) return false;
    for (const Operand* input : command.inputs)
        if (input->shape.rank() < 2 || input->format == Format::NHWC || input->type != output.type ||
            input->plane() != plane)
            return false;
    PlaneRegion unused;
    return std::all_of(command.regions.begin(), command.regions.end(),
                       [&](const Region& region) { return inPlanes(region, plane, unused); });
}

std::unique_ptr<Execution> createPlaneRaster(const CpuBackend& backend, const Command& command) {
    if (elementBytes(command.outputs[0]->type) == 1) return std::make_unique<PlaneRaster<int8_t>>(backend, command);
    return std::make_unique<PlaneRaster<float>>(backend, command);
}

}  // namespace mnnc::cpu
