// Row-major <-> packed: elements of four bytes by the kernels, bytes here.
#include "backends/cpu/ops/storage_change.h"

#include <algorithm>

#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/pack.h"

namespace mnnc::cpu {

namespace {

// Any four-byte type: the kernels only move bits.
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

}  // namespace

std::unique_ptr<Execution> createStorageChange(const CpuBackend& backend, const Command& command) {
    if (elementBytes(command.outputs[0]->type) == 1)
        return std::make_unique<ByteStorageChange>(backend, command);
    return std::make_unique<StorageChange>(backend, command);
}

}  // namespace mnnc::cpu
