// Max and average pooling of int8 tensors, channel-packed. An average follows the reference: rounded down by a
// truncated reciprocal, over the taps inside of the map. Where the plan requires it, it is rounded to the nearest code,
// or taken over the padding, too.
#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/int8/int8_kernels.h"
#include "backends/cpu/kernels/plane_cut.h"
#include "backends/cpu/ops/int8.h"
#include "backends/cpu/ops/pool_axis.h"

namespace mnnc::cpu {

namespace {

class Int8Pooling final : public Execution {
  public:
    Int8Pooling(CpuBackend& backend, const Command& command) : backend_(backend), command_(command) {}

    void prepare() override {
        const auto& params = command_.paramsAs<PoolParams>();
        const Operand& x = *command_.inputs[0];
        average_ = params.average;
        nearest_ = params.nearestCodes;
        countsPadding_ = params.countsCodes;
        const PoolWindow window = poolWindow(params, x.shape, command_.name.c_str());
        for (int i = 0; i < 3; ++i) axes_[i] = AxisTable(window.axis[i], average_);
        height_ = window.axis[1].in;
        width_ = window.axis[2].in;
        outPlane_ = int64_t{window.axis[0].out} * window.axis[1].out * window.axis[2].out;
        inPlane_ = int64_t{window.axis[0].in} * height_ * width_;
        rows_ = int64_t{window.axis[0].out} * window.axis[1].out;
        outHeight_ = window.axis[1].out;
        outWidth_ = window.axis[2].out;
        blocks_ = checkedMul(x.batch(), ceilDiv(x.shape.at(1), int64_t{backend_.channelBlock()}), "channel blocks");
    }

    void run(const Frame& frame) const override {
        const bool byPixels = sharedByPixels(outPlane_, command_.inputs[0]->shape.at(1));
        forPlaneRows(frame.pool(), blocks_, rows_, byPixels, [&](int64_t block, int64_t begin, int64_t end) {
            for (int64_t y = begin; y < end; ++y) {
                switch (backend_.channelBlock()) {
                    case 16:
                        row<16>(frame, block, y);
                        break;
                    case 8:
                        row<8>(frame, block, y);
                        break;
                    default:
                        row<4>(frame, block, y);
                }
            }
        });
    }

    std::string algorithm() const override { return "int8"; }

  private:
    template <int P>
    void row(const Frame& frame, int64_t block, int64_t index) const {
        const int8_t* src = frame.data<const int8_t>(*command_.inputs[0]) + block * inPlane_ * P;
        int8_t* dst = frame.data<int8_t>(*command_.outputs[0]) + (block * outPlane_ + index * outWidth_) * P;
        const PoolSpan depth = axes_[0].taps[static_cast<size_t>(index / outHeight_)];
        const PoolSpan rows = axes_[1].taps[static_cast<size_t>(index % outHeight_)];
        if (!average_) return maximumRow<P>(src, dst, depth, rows);
        averageRow(src, dst, depth, rows,
                   axes_[0].counts[static_cast<size_t>(index / outHeight_)] *
                       axes_[1].counts[static_cast<size_t>(index % outHeight_)]);
    }

    // Takes a dozen rows at a time; later dozens are combined with the result so far.
    template <int P>
    void maximumRow(const int8_t* src, int8_t* dst, PoolSpan depth, PoolSpan rows) const {
        constexpr int kRows = 12, kOutputs = 64;
        const Int8Kernels& kernels = *backend_.kernels().int8;
        const PoolSpan* spans = axes_[2].taps.data();
        const int64_t height = rows.last - rows.first, total = (depth.last - depth.first) * height;
        for (int64_t x = 0; x < outWidth_; x += kOutputs) {
            const int count = static_cast<int>(std::min<int64_t>(kOutputs, outWidth_ - x));
            for (int64_t done = 0; done < total; done += kRows) {
                const int8_t* list[kRows];
                const int n = static_cast<int>(std::min<int64_t>(kRows, total - done));
                for (int i = 0; i < n; ++i)
                    list[i] = src + ((depth.first + (done + i) / height) * height_ + rows.first + (done + i) % height) *
                                        width_ * P;
                int8_t part[kOutputs * P];
                kernels.maximum(list, n, spans + x, count, done == 0 ? dst + x * P : part);
                for (int i = 0; done > 0 && i < count * P; ++i) dst[x * P + i] = std::max(dst[x * P + i], part[i]);
            }
        }
    }

    void averageRow(const int8_t* src, int8_t* dst, PoolSpan depth, PoolSpan rows, int64_t rowCount) const {
        const int zero = static_cast<int>(command_.inputs[0]->quant.zero);
        const int64_t line = width_ * backend_.channelBlock();
        Int8AverageArgs args;
        args.depth = std::max(0, depth.last - depth.first);
        args.height = std::max(0, rows.last - rows.first);
        args.depthStride = height_ * line;
        args.rowStride = line;
        args.src = src + depth.first * args.depthStride + rows.first * line;
        args.dst = dst;
        args.spans = axes_[2].taps.data();
        args.outputs = static_cast<int>(outWidth_);
        args.countsPadding = countsPadding_;
        args.nearest = nearest_;
        args.rowCount = rowCount;
        args.widthCounts = axes_[2].counts.data();
        args.outside = zero + 128;
        args.empty = static_cast<int8_t>(zero);
        backend_.kernels().int8->average(args);
    }

    CpuBackend& backend_;
    Command command_;
    bool average_ = false, nearest_ = false, countsPadding_ = false;
    AxisTable axes_[3];
    int64_t height_ = 1, width_ = 1, inPlane_ = 1, outPlane_ = 1, rows_ = 1, outHeight_ = 1, outWidth_ = 1, blocks_ = 0;
};

}  // namespace

namespace {

// The kernels add the codes of an average in 32 bits.
bool fitsSums(const Command& pooling) {
    const auto& params = pooling.paramsAs<PoolParams>();
    if (!params.average) return true;
    double taps = 1;
    for (const PoolAxis& axis : poolWindow(params, pooling.inputs[0]->shape, pooling.name.c_str()).axis)
        taps *= axis.kernel;
    return taps < 1 << 24;
}

}  // namespace

bool quantizesPooling(const Command& command) {
    return command.params && command.outputs.size() == 1 && command.outputs[0]->format != Format::NHWC &&
           command.outputs[0]->shape.rank() >= 2 && fitsSums(command);
}

std::unique_ptr<Execution> createInt8Pooling(CpuBackend& backend, const Command& command, std::string& reason) {
    if (!quantizesPooling(command))
        return refuse(reason, format("op '%s': such a pooling of int8 is not implemented", command.name.c_str()));
    return std::make_unique<Int8Pooling>(backend, command);
}

}  // namespace mnnc::cpu
