// Raster on the CPU, in three forms: change of storage (one side packed), regions between packed tensors in
// units of whole channel planes, and regions between row-major tensors.
#include <algorithm>
#include <cstring>
#include <span>
#include <type_traits>

#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/pack.h"
#include "backends/cpu/ops/channels_last_raster.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/strided_copy.h"
#include "base/error.h"
#include "tensor/region_check.h"
#include "tensor/region_overlap.h"

namespace mnnc::cpu {

namespace {

constexpr int64_t kMaxPlanes = 1 << 20;  // more would make a table larger than the data

// Row-major <-> packed, linear order kept. Any four-byte type: the kernels only move bits.
class StorageChange final : public Execution {
  public:
    StorageChange(const CpuBackend& backend, const Command& command)
        : backend_(backend), input_(*command.inputs[0]), output_(*command.outputs[0]) {}

    void onExecute() override {
        const bool packs = input_.channelBlock == 1;
        const Tensor& packed = packs ? output_ : input_;
        (packs ? nchwToPacked : packedToNchw)(
            backend_.kernels(), input_.as<float>(), output_.as<float>(), static_cast<int>(packed.batch()),
            static_cast<int>(packed.shape.at(1)), static_cast<size_t>(packed.plane()), backend_.pool());
    }

  private:
    const CpuBackend& backend_;
    const Tensor& input_;
    const Tensor& output_;
};

// The same for bytes.
class ByteStorageChange final : public Execution {
  public:
    ByteStorageChange(const CpuBackend& backend, const Command& command)
        : backend_(backend), input_(*command.inputs[0]), output_(*command.outputs[0]) {}

    void onExecute() override {
        const bool toPacked = input_.channelBlock == 1;
        const Tensor& packed = toPacked ? output_ : input_;
        const int64_t channels = packed.shape.at(1), plane = packed.plane(),
                      channelBlock = packed.channelBlock;
        const int64_t blocks = ceilDiv(channels, channelBlock);
        parallelFor(backend_.pool(), static_cast<int>(packed.batch() * blocks), [&](int i) {
            const int64_t n = i / blocks, first = i % blocks * channelBlock,
                          lanes = std::min(channelBlock, channels - first);
            const int64_t rows = (n * channels + first) * plane, block = i * plane * channelBlock;
            const auto* from = input_.as<const uint8_t>();
            auto* to = output_.as<uint8_t>();
            for (int64_t begin = 0; begin < plane; begin += kRun)  // so that lines stay in the cache
                for (int64_t lane = 0; lane < lanes; ++lane)
                    for (int64_t p = begin; p < std::min(plane, begin + kRun); ++p) {
                        const int64_t row = rows + lane * plane + p, at = block + p * channelBlock + lane;
                        if (toPacked)
                            to[at] = from[row];
                        else
                            to[row] = from[at];
                    }
        });
    }

  private:
    static constexpr int64_t kRun = 256;
    const CpuBackend& backend_;
    const Tensor& input_;
    const Tensor& output_;
};

// What stands where no region writes.
uint8_t fillByte(const Tensor& tensor) {
    return tensor.type == DataType::Int8 && tensor.quant.known()
               ? static_cast<uint8_t>(static_cast<int8_t>(tensor.quant.zero))
               : uint8_t{0};
}

// A region in units of planes: every offset and stride but the one inside the plane is a multiple of it.
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

// Whether all tensors agree on the plane and every region moves whole planes.
bool movesPlanes(const Command& command) {
    const Tensor& output = *command.outputs[0];
    const bool moves = output.type == DataType::Float32 || output.type == DataType::Int8;
    if (output.shape.rank() < 2 || output.format == Format::NHWC || !moves) return false;
    const int64_t plane = output.plane();
    if (plane == 0 || output.elements() / plane > kMaxPlanes) return false;
    for (const Tensor* input : command.inputs)
        if (input->shape.rank() < 2 || input->format == Format::NHWC || input->type != output.type ||
            input->plane() != plane)
            return false;
    PlaneRegion unused;
    return std::all_of(command.regions.begin(), command.regions.end(),
                       [&](const Region& region) { return inPlanes(region, plane, unused); });
}

// Every output plane is a copy of one input plane, or zero. T: an element.
template <typename T>
class PlaneRaster final : public Execution {
  public:
    PlaneRaster(const CpuBackend& backend, const Command& command)
        : backend_(backend), inputs_(command.inputs), output_(*command.outputs[0]) {
        const int64_t channels = output_.shape.at(1), blocks = ceilDiv(channels, output_.channelBlock);
        const std::vector<Source> planes = planesOf(command);
        for (int64_t n = 0; n < output_.batch(); ++n)
            for (int64_t b = 0; b < blocks; ++b) {
                const int64_t first = b * output_.channelBlock;
                addBlock({&planes[static_cast<size_t>(n * channels + first)],
                          static_cast<size_t>(std::min<int64_t>(output_.channelBlock, channels - first))});
            }
    }

    void onExecute() override {
        const int total = static_cast<int>(blocks_.size());
        auto body = [&](int block) { makeBlock(block); };
        if (output_.storageBytes() < kThreadedBytes)
            for (int i = 0; i < total; ++i) body(i);
        else
            parallelFor(backend_.pool(), total, body);
    }

  private:
    static constexpr int kMaxChannelBlock = LaneSource::kMaxLanes;

    struct Source {
        int input = -1;  // none: zero
        int lane = 0;
        int64_t offset = 0;  // of the block, in elements
    };
    // What an output block takes from one input block.
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
                        const int64_t src =
                            r.src + i * r.srcStride[0] + j * r.srcStride[1] + k * r.srcStride[2];
                        const int64_t dst =
                            r.dst + i * r.dstStride[0] + j * r.dstStride[1] + k * r.dstStride[2];
                        planes[static_cast<size_t>(dst)] = locate(region.input, src, plane);
                    }
        }
        return planes;
    }

    Source locate(int input, int64_t planeIndex, int64_t plane) const {
        const Tensor& tensor = *inputs_[static_cast<size_t>(input)];
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

    const T* dataOf(const Part& part) const {
        return inputs_[static_cast<size_t>(part.input)]->as<T>() + part.offset;
    }

    void makeBlock(int index) const {
        const Block& block = blocks_[static_cast<size_t>(index)];
        const Part* parts = parts_.data() + block.firstPart;
        const int64_t plane = output_.plane(), channelBlock = output_.channelBlock;
        T* dst = output_.as<T>() + index * plane * channelBlock;
        if (block.whole) {
            std::memcpy(dst, dataOf(*parts), static_cast<size_t>(plane * channelBlock) * sizeof(T));
            return;
        }
        if constexpr (std::is_same_v<T, float>) {
            if (block.parts > 0 && block.parts <= PackKernels::kMaxSources) {
                LaneSource sources[PackKernels::kMaxSources];
                for (int i = 0; i < block.parts; ++i) sources[i] = {dataOf(parts[i]), parts[i].lane};
                backend_.kernels().pack->mixLanes(sources, block.parts, static_cast<size_t>(plane), dst);
                return;
            }
        }
        const T* base[kMaxChannelBlock];
        int64_t step[kMaxChannelBlock];
        for (int lane = 0; lane < block.lanes; ++lane) {
            const Part* part = std::find_if(parts, parts + block.parts,
                                            [&](const Part& one) { return one.lane[lane] >= 0; });
            const bool real = part != parts + block.parts;
            base[lane] = real ? dataOf(*part) + part->lane[lane] : &zero_;
            step[lane] = real ? channelBlock : 0;
        }
        for (int64_t i = 0; i < plane; ++i)
            for (int lane = 0; lane < block.lanes; ++lane)
                dst[i * channelBlock + lane] = base[lane][i * step[lane]];
    }

    const CpuBackend& backend_;
    std::vector<Tensor*> inputs_;
    const Tensor& output_;
    const T zero_ = static_cast<T>(sizeof(T) == 1 ? fillByte(output_) : 0);
    std::vector<Part> parts_;
    std::vector<Block> blocks_;
};

// Regions between row-major tensors, any element width.
class PlainRaster final : public Execution {
    static constexpr int64_t kTile = 32, kRun = 256;  // columns and rows of the squares of a transposition

  public:
    PlainRaster(const CpuBackend& backend, const Command& command)
        : backend_(backend),
          inputs_(command.inputs),
          output_(*command.outputs[0]),
          regions_(command.regions) {
        int64_t covered = 0;
        fill_ = regionsOverlap(regions_, output_.elements());
        for (Region& region : regions_) {
            covered += region.count();
            fill_ |= !writesOnce(region);
            sortAxes(region);
            mergeAxes(region);
        }
        fill_ |= covered != output_.elements();
    }

    void onExecute() override {
        if (fill_ && !output_.empty())
            std::memset(output_.data, fillByte(output_), static_cast<size_t>(output_.storageBytes()));
        for (const Region& region : regions_) {
            const Tensor& input = *inputs_[static_cast<size_t>(region.input)];
            if (region.count() == 0) continue;  // perhaps of an empty source
            switch (elementBytes(output_.type)) {
                case 4:
                    copy<uint32_t>(region, input);
                    break;
                case 2:
                    copy<uint16_t>(region, input);
                    break;
                default:
                    copy<uint8_t>(region, input);
            }
        }
    }

  private:
    // The axis with the smallest destination stride goes innermost: writes stay contiguous. Regions whose
    // destination overlaps itself keep their order.
    static void sortAxes(Region& region) {
        for (const int64_t stride : region.dst.stride)
            if (stride <= 0) return;
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 2 - i; ++j) {
                const bool unit = region.size[j] > 1 && region.size[j + 1] > 1;
                if (unit ? region.dst.stride[j] < region.dst.stride[j + 1] : region.size[j + 1] == 1) {
                    std::swap(region.size[j], region.size[j + 1]);
                    std::swap(region.src.stride[j], region.src.stride[j + 1]);
                    std::swap(region.dst.stride[j], region.dst.stride[j + 1]);
                }
            }
    }

    static void mergeAxes(Region& region) {
        for (int axis = 1; axis >= 0; --axis) {
            const int64_t inner = region.size[axis + 1];
            if (region.src.stride[axis] != region.src.stride[axis + 1] * inner ||
                region.dst.stride[axis] != region.dst.stride[axis + 1] * inner)
                continue;
            region.size[axis + 1] *= region.size[axis];
            for (int outer = axis; outer > 0; --outer) {
                region.size[outer] = region.size[outer - 1];
                region.src.stride[outer] = region.src.stride[outer - 1];
                region.dst.stride[outer] = region.dst.stride[outer - 1];
            }
            region.size[0] = 1;
        }
    }

    // Whether the rows of a region are columns of its source.
    static bool transposes(const Region& region) {
        return region.dst.stride[2] == 1 && region.src.stride[1] == 1 && region.src.stride[2] > 1 &&
               region.dst.stride[1] >= region.size[2] && region.size[1] >= kTile && region.size[2] >= kTile;
    }

    // Part `run` of the rows of such a region, in squares: each line of memory is read and written once.
    void transpose(const Region& region, const uint32_t* from, uint32_t* to, int64_t run) const {
        const Kernels& k = backend_.kernels();
        const int64_t runs = runsOf(region), outer = run / runs, lanes = k.lanes;
        const int64_t first = region.size[2] * (run % runs) / runs,
                      end = region.size[2] * (run % runs + 1) / runs;
        const auto* src = reinterpret_cast<const float*>(from + outer * region.src.stride[0]);
        auto* dst = reinterpret_cast<float*>(to + outer * region.dst.stride[0]);
        for (int64_t column = 0; column < region.size[1]; column += kTile)
            for (int64_t at = first; at < end; at += lanes) {
                const int64_t place = std::min(at, end - lanes);  // the last may overlap the one before
                k.pack->rowsToPanel(
                    src + place * region.src.stride[2] + column, static_cast<size_t>(region.src.stride[2]),
                    k.lanes, static_cast<size_t>(std::min(kTile, region.size[1] - column)),
                    dst + column * region.dst.stride[1] + place, static_cast<size_t>(region.dst.stride[1]));
            }
    }
    static int64_t runsOf(const Region& region) { return std::max<int64_t>(1, region.size[2] / kRun); }

    template <typename T>
    void copy(const Region& region, const Tensor& input) const {
        const T* src = input.as<T>() + region.src.offset;
        T* dst = output_.as<T>() + region.dst.offset;
        const bool ordered =
            region.dst.stride[0] <= 0 || region.dst.stride[1] <= 0;  // may overlap: keep the order
        const bool small = region.count() * static_cast<int64_t>(sizeof(T)) < kThreadedBytes;
        const auto share = [&](int64_t count, const auto& body) {
            if (ordered || small)
                body(0, count);
            else
                parallelRanges(backend_.pool(), static_cast<long>(count), 4 * backend_.pool().threads(),
                               body);
        };
        if constexpr (sizeof(T) == 4)
            if (!ordered && transposes(region)) {
                share(region.size[0] * runsOf(region), [&](int64_t begin, int64_t end) {
                    for (int64_t run = begin; run < end; ++run) transpose(region, src, dst, run);
                });
                return;
            }
        share(region.size[0] * region.size[1], [&](int64_t begin, int64_t end) {
            for (int64_t row = begin; row < end; ++row) {
                const int64_t i = row / region.size[1], j = row % region.size[1];
                copyRow(src + i * region.src.stride[0] + j * region.src.stride[1], region.src.stride[2],
                        dst + i * region.dst.stride[0] + j * region.dst.stride[1], region.dst.stride[2],
                        region.size[2]);
            }
        });
    }

    const CpuBackend& backend_;
    std::vector<Tensor*> inputs_;
    const Tensor& output_;
    std::vector<Region> regions_;
    bool fill_ = false;
};

// Bytes move like floats do.
bool quantizesRaster(const Command& command) {
    return command.outputs[0]->type == DataType::Float32;
}

StorageChoice rasterStorage(const CpuBackend& backend, const Command& command) {
    StorageChoice choice;
    const bool packed =
        !command.inputs.empty() && std::all_of(command.inputs.begin(), command.inputs.end(),
                                               [](const Tensor* input) { return input->channelBlock > 1; });
    if (!packed || !movesPlanes(command)) return channelsLastStorage(backend, command);
    choice.inputBlock = choice.outputBlock = backend.channelBlock();
    return choice;
}

std::unique_ptr<Execution> createRaster(CpuBackend& backend, const Command& command, std::string&) {
    const Tensor& output = *command.outputs[0];
    for (const Region& region : command.regions) {
        if (region.input < 0 || region.input >= static_cast<int>(command.inputs.size()))
            fail(Status::BadIndex, "op '%s': a region reads input %d of %zu", command.name.c_str(),
                 region.input, command.inputs.size());
        const Tensor& input = *command.inputs[static_cast<size_t>(region.input)];
        checkRegion(region, input.elements(), output.elements(), command.name.c_str());
        if (region.count() == 0) continue;
        if (elementBytes(input.type) != elementBytes(output.type))
            fail(Status::BadType, "op '%s': a %s tensor cannot be copied into a %s one", command.name.c_str(),
                 dataTypeName(input.type), dataTypeName(output.type));
    }
    if (auto made = createChannelsLastRaster(backend, command)) return made;
    if (command.inputs.size() == 1 && command.inputs[0]->channelBlock != output.channelBlock)
        return elementBytes(output.type) == 1
                   ? std::unique_ptr<Execution>(std::make_unique<ByteStorageChange>(backend, command))
                   : std::make_unique<StorageChange>(backend, command);
    if (output.channelBlock > 1)
        return elementBytes(output.type) == 1
                   ? std::unique_ptr<Execution>(std::make_unique<PlaneRaster<int8_t>>(backend, command))
                   : std::make_unique<PlaneRaster<float>>(backend, command);
    return std::make_unique<PlainRaster>(backend, command);
}

constexpr CpuOp kRaster[] = {{OpType::Raster, rasterStorage, createRaster, nullptr, quantizesRaster}};

}  // namespace

CpuFamily rasterCpu() {
    return kRaster;
}

}  // namespace mnnc::cpu
