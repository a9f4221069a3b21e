// Raster on the CPU: the choice of its form, and regions between row-major tensors.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/pack.h"
#include "backends/cpu/ops/channels_last_raster.h"
#include "backends/cpu/ops/families.h"
#include "backends/cpu/ops/plane_raster.h"
#include "backends/cpu/ops/raster_fill.h"
#include "backends/cpu/ops/storage_change.h"
#include "backends/cpu/ops/strided_copy.h"
#include "base/error.h"
#include "tensor/element_types.h"
#include "tensor/region_check.h"
#include "tensor/region_overlap.h"

namespace mnnc::cpu {

namespace {

// Copies regions between row-major tensors, of any element width.
class PlainRaster final : public Execution {
    // A transposition is cut into parts of kRun or more rows and kRun or more columns, or kNear where the region is
    // turned, and each part into squares of kTile columns.
    static constexpr int64_t kTile = 32, kRun = 256, kNear = 8;

  public:
    PlainRaster(const CpuBackend& backend, const Command& command)
        : backend_(backend), inputs_(command.inputs), output_(*command.outputs[0]) {
        int64_t covered = 0;
        fill_ = regionsOverlap(command.regions, output_.elements());
        for (Region region : command.regions) {
            covered += region.count();
            const bool ordered = !writesOnce(region);
            fill_ |= ordered;
            if (!ordered) sortAxes(region);
            mergeAxes(region);
            if (!ordered) turnToTransposition(region);
            copies_.push_back({region, ordered});
        }
        fill_ |= covered != output_.elements();
    }

    void run(const Frame& frame) const override {
        if (fill_ && !output_.empty())
            std::memset(frame.data<void>(output_), fillByte(output_), static_cast<size_t>(output_.storageBytes()));
        for (const Copy& one : copies_) {
            const Operand& input = *inputs_[static_cast<size_t>(one.region.input)];
            if (one.region.count() == 0) continue;  // its source may be empty
            withBits(output_.type, [&]<typename T>(T) { copy<T>(frame, one, input); });
        }
    }

  private:
    struct Copy {
        Region region;
        bool ordered;  // it writes elements several times: the last write counts, so one thread copies in order
    };

    // Makes the axis with the smallest destination stride the innermost, so that writes are contiguous.
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

    // Makes the axis that is contiguous in the source the second one where that gives a transposition.
    static void turnToTransposition(Region& region) {
        Region turned = region;
        std::swap(turned.size[0], turned.size[1]);
        std::swap(turned.src.stride[0], turned.src.stride[1]);
        std::swap(turned.dst.stride[0], turned.dst.stride[1]);
        if (!transposes(region) && turned.dst.stride[0] > 0 && transposes(turned)) region = turned;
    }

    // Returns whether the rows of a region are columns of its source. Rows of one to three elements must be contiguous.
    static bool transposes(const Region& region) {
        const int64_t columns = region.size[1], rows = region.size[2];
        return region.dst.stride[2] == 1 && region.src.stride[1] == 1 && region.src.stride[2] >= columns &&
               region.dst.stride[1] >= rows && rows > 1 && columns > 1 && rows * columns >= 16 &&
               (rows > 3 || region.dst.stride[1] == rows) && (columns > 3 || region.src.stride[2] == columns);
    }

    // Returns whether the first axis has the smaller destination stride: turnToTransposition() has swapped them.
    static bool turned(const Region& region) { return region.dst.stride[0] < region.dst.stride[1]; }

    // A transposition in parts: `outers` along the first axis, `stretches` along the second one, `runs` along the rows.
    struct Parts {
        int64_t outers, stretches, runs;
        explicit Parts(const Region& region)
            : outers(turned(region) ? 1 : region.size[0]),
              stretches(std::max<int64_t>(1, region.size[1] / (turned(region) ? kNear : kRun))),
              runs(std::max<int64_t>(1, region.size[2] / kRun)) {}
        int64_t count() const { return outers * stretches * runs; }
    };

    // Works on squares, so that each line of memory is read and written once.
    void transpose(const Region& region, const uint32_t* from, uint32_t* to, int64_t part) const {
        const Parts parts(region);
        const int64_t stretch = part % parts.stretches, run = part / parts.stretches % parts.runs,
                      outer = part / (parts.stretches * parts.runs);
        const int64_t row = region.size[2] * run / parts.runs, rows = region.size[2] * (run + 1) / parts.runs - row;
        const int64_t column = region.size[1] * stretch / parts.stretches,
                      columns = region.size[1] * (stretch + 1) / parts.stretches - column;
        const auto srcStride = static_cast<size_t>(region.src.stride[2]),
                   dstStride = static_cast<size_t>(region.dst.stride[1]);
        const int64_t tile = rows < kTile ? columns : kTile;
        for (int64_t i = outer; i < (turned(region) ? region.size[0] : outer + 1); ++i) {
            const auto* src =
                reinterpret_cast<const float*>(from + i * region.src.stride[0]) + row * region.src.stride[2];
            auto* dst = reinterpret_cast<float*>(to + i * region.dst.stride[0]) + row;
            for (int64_t at = column, some = 0; at < column + columns; at += some) {
                const int64_t left = column + columns - at;
                some = left < tile + 4 ? left : tile;  // no remainder of fewer than four columns
                backend_.kernels().pack->transpose(src + at, srcStride, static_cast<size_t>(rows),
                                                   static_cast<size_t>(some), dst + at * region.dst.stride[1],
                                                   dstStride);
            }
        }
    }

    template <typename T>
    void copy(const Frame& frame, const Copy& one, const Operand& input) const {
        const Region& region = one.region;
        const T* src = frame.data<T>(input) + region.src.offset;
        T* dst = frame.data<T>(output_) + region.dst.offset;
        const bool small = region.count() * static_cast<int64_t>(sizeof(T)) < kThreadedBytes;
        const auto share = [&](int64_t count, const auto& body) {
            if (one.ordered || small)
                body(0, count);
            else
                parallelRanges(frame.pool(), static_cast<int64_t>(count), 4 * frame.pool().threads(), body);
        };
        if constexpr (sizeof(T) == 4)
            if (!one.ordered && transposes(region)) {
                share(Parts(region).count(), [&](int64_t begin, int64_t end) {
                    for (int64_t part = begin; part < end; ++part) transpose(region, src, dst, part);
                });
                return;
            }
        const int64_t count = region.size[0] * region.size[1];
        constexpr int64_t kFewRows = 4;
        const bool longRow = region.size[2] * static_cast<int64_t>(sizeof(T)) >= kThreadedBytes;
        if (count < kFewRows && longRow) {
            for (int64_t row = 0; row < count; ++row) {
                const int64_t i = row / region.size[1], j = row % region.size[1];
                const T* from = src + i * region.src.stride[0] + j * region.src.stride[1];
                T* to = dst + i * region.dst.stride[0] + j * region.dst.stride[1];
                share(region.size[2], [&](int64_t begin, int64_t end) {
                    copyRow(from + begin * region.src.stride[2], region.src.stride[2],
                            to + begin * region.dst.stride[2], region.dst.stride[2], end - begin);
                });
            }
            return;
        }
        share(count, [&](int64_t begin, int64_t end) {
            const auto rows = [&](auto length) {
                int64_t i = begin / region.size[1], j = begin % region.size[1];
                for (int64_t row = begin; row < end; ++row) {
                    copyRow(src + i * region.src.stride[0] + j * region.src.stride[1], region.src.stride[2],
                            dst + i * region.dst.stride[0] + j * region.dst.stride[1], region.dst.stride[2], length);
                    if (++j < region.size[1]) continue;
                    j = 0;
                    ++i;
                }
            };
            // Known lengths need no call for each row.
            switch (region.size[2]) {
                case 1:
                    return rows(std::integral_constant<int64_t, 1>());
                case 2:
                    return rows(std::integral_constant<int64_t, 2>());
                case 3:
                    return rows(std::integral_constant<int64_t, 3>());
                case 4:
                    return rows(std::integral_constant<int64_t, 4>());
                default:
                    return rows(region.size[2]);
            }
        });
    }

    const CpuBackend& backend_;
    std::vector<Operand*> inputs_;
    const Operand& output_;
    std::vector<Copy> copies_;
    bool fill_ = false;
};

// Bytes can be moved like floats.
bool quantizesRaster(const Command& command) {
    return command.outputs[0]->type == DataType::Float32;
}

StorageChoice rasterStorage(const CpuBackend& backend, const Command& command) {
    StorageChoice choice;
    const bool packed =
        !command.inputs.empty() && std::all_of(command.inputs.begin(), command.inputs.end(),
                                               [](const Operand* input) { return input->channelBlock > 1; });
    if (!packed || !movesPlanes(command)) return channelsLastStorage(backend, command);
    choice.inputBlock = choice.outputBlock = backend.channelBlock();
    return choice;
}

std::unique_ptr<Execution> createRaster(CpuBackend& backend, const Command& command, std::string&) {
    const Operand& output = *command.outputs[0];
    for (const Region& region : command.regions) {
        if (region.input < 0 || region.input >= static_cast<int>(command.inputs.size()))
            fail(Status::BadIndex, "op '%s': a region reads input %d of %zu", command.name.c_str(), region.input,
                 command.inputs.size());
        const Operand& input = *command.inputs[static_cast<size_t>(region.input)];
        checkRegion(region, input.elements(), output.elements(), command.name.c_str());
        if (region.count() == 0) continue;
        if (elementBytes(input.type) != elementBytes(output.type))
            fail(Status::BadType, "op '%s': a %s tensor cannot be copied into a %s one", command.name.c_str(),
                 dataTypeName(input.type), dataTypeName(output.type));
    }
    if (auto made = createChannelsLastRaster(backend, command)) return made;
    if (command.inputs.size() == 1 && command.inputs[0]->channelBlock != output.channelBlock)
        return createStorageChange(backend, command);
    if (output.channelBlock > 1) return createPlaneRaster(backend, command);
    return std::make_unique<PlainRaster>(backend, command);
}

}  // namespace

constexpr CpuOp kRaster[] = {{OpType::Raster, rasterStorage, createRaster, nullptr, quantizesRaster}};
extern constinit const CpuFamily rasterCpu = kRaster;

}  // namespace mnnc::cpu
