// Max and average pooling of int8 tensors, channel-packed. An average is the reference's: rounded down by a
// truncated reciprocal, over the taps inside of the map; or, where the plan says so, rounded to the nearest code.
#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/int8_kernels.h"
#include "backends/cpu/ops/int8.h"
#include "backends/cpu/ops/pool_axis.h"

namespace mnnc::cpu {

namespace {

class Int8Pooling final : public Execution {
  public:
    Int8Pooling(CpuBackend& backend, const Command& command) : backend_(backend), command_(command) {}

    void onResize() override {
        const auto& params = command_.paramsAs<PoolParams>();
        const Tensor& x = *command_.inputs[0];
        average_ = params.average;
        nearest_ = params.nearestCodes;
        const PoolWindow window = poolWindow(params, x.shape, command_.name.c_str());
        for (int i = 0; i < 3; ++i) axes_[i] = AxisTable(window.axis[i], average_);
        height_ = window.axis[1].in;
        width_ = window.axis[2].in;
        outPlane_ = int64_t{window.axis[0].out} * window.axis[1].out * window.axis[2].out;
        inPlane_ = int64_t{window.axis[0].in} * height_ * width_;
        rows_ = int64_t{window.axis[0].out} * window.axis[1].out;
        outHeight_ = window.axis[1].out;
        outWidth_ = window.axis[2].out;
        blocks_ =
            checkedMul(x.batch(), ceilDiv(x.shape.at(1), int64_t{backend_.channelBlock()}), "channel blocks");
    }

    void onExecute() override {
        ThreadPool& pool = backend_.pool();
        parallelRanges(pool, static_cast<long>(blocks_ * rows_), 4 * pool.threads(),
                       [&](long begin, long end) {
                           for (long i = begin; i < end; ++i) {
                               switch (backend_.channelBlock()) {
                                   case 16:
                                       row<16>(i / rows_, i % rows_);
                                       break;
                                   case 8:
                                       row<8>(i / rows_, i % rows_);
                                       break;
                                   default:
                                       row<4>(i / rows_, i % rows_);
                               }
                           }
                       });
    }

    std::string algorithm() const override { return "int8"; }

  private:
    template <int P>
    void row(int64_t block, int64_t index) const {
        const int8_t* src = command_.inputs[0]->as<const int8_t>() + block * inPlane_ * P;
        int8_t* dst = command_.outputs[0]->as<int8_t>() + (block * outPlane_ + index * outWidth_) * P;
        const PoolSpan depth = axes_[0].taps[static_cast<size_t>(index / outHeight_)];
        const PoolSpan rows = axes_[1].taps[static_cast<size_t>(index % outHeight_)];
        if (!average_) return maximumRow<P>(src, dst, depth, rows);
        for (int64_t x = 0; x < outWidth_; ++x, dst += P)
            averageOf<P>(src, dst, depth, rows, axes_[2].taps[static_cast<size_t>(x)]);
    }

    // Rows by the dozen; later dozens are joined with what is there.
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
                    list[i] = src + ((depth.first + (done + i) / height) * height_ + rows.first +
                                     (done + i) % height) *
                                        width_ * P;
                int8_t part[kOutputs * P];
                kernels.maximum(list, n, spans + x, count, done == 0 ? dst + x * P : part);
                for (int i = 0; done > 0 && i < count * P; ++i)
                    dst[x * P + i] = std::max(dst[x * P + i], part[i]);
            }
        }
    }

    template <int P, typename Take>
    void overTaps(const int8_t* src, PoolSpan depth, PoolSpan rows, PoolSpan columns,
                  const Take& take) const {
        for (int64_t z = depth.first; z < depth.last; ++z)
            for (int64_t y = rows.first; y < rows.last; ++y) {
                const int8_t* at = src + ((z * height_ + y) * width_ + columns.first) * P;
                for (int x = columns.first; x < columns.last; ++x, at += P) take(at);
            }
    }

    template <int P>
    void averageOf(const int8_t* src, int8_t* dst, PoolSpan depth, PoolSpan rows, PoolSpan columns) const {
        uint32_t sum[P] = {};
        overTaps<P>(src, depth, rows, columns, [&](const int8_t* at) {
            for (int l = 0; l < P; ++l) sum[l] += static_cast<uint32_t>(at[l] + 128);
        });
        const auto length = [](PoolSpan span) {
            return static_cast<uint64_t>(std::max(0, span.last - span.first));
        };
        const uint64_t count = length(depth) * length(rows) * length(columns);
        const uint64_t reciprocal = (uint64_t{1} << 24) / std::max<uint64_t>(count, 1);
        const float zero = command_.inputs[0]->quant.zero;
        for (int l = 0; l < P; ++l)
            dst[l] = static_cast<int8_t>(count == 0 ? static_cast<int>(zero)
                                         : nearest_ ? static_cast<int>((sum[l] + count / 2) / count) - 128
                                                    : static_cast<int>(sum[l] * reciprocal >> 24) - 128);
    }

    CpuBackend& backend_;
    Command command_;
    bool average_ = false, nearest_ = false;
    AxisTable axes_[3];
    int64_t height_ = 1, width_ = 1, inPlane_ = 1, outPlane_ = 1, rows_ = 1, outHeight_ = 1, outWidth_ = 1,
            blocks_ = 0;
};

}  // namespace

bool quantizesPooling(const Command& command) {
    return command.params && command.outputs.size() == 1 && command.outputs[0]->format != Format::NHWC &&
           command.outputs[0]->shape.rank() >= 2;
}

std::unique_ptr<Execution> createInt8Pooling(CpuBackend& backend, const Command& command,
                                             std::string& reason) {
    if (!quantizesPooling(command)) {
        reason = format("op '%s': such a pooling of int8 is not implemented", command.name.c_str());
        return nullptr;
    }
    return std::make_unique<Int8Pooling>(backend, command);
}

}  // namespace mnnc::cpu
