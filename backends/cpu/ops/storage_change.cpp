// Changes between row-major and packed storage. The kernels move elements of four bytes, the code here moves bytes.
#include "backends/cpu/ops/storage_change.h"

#include <algorithm>
#include <cstring>

#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/pack.h"

namespace mnnc::cpu {

namespace {

// Changes the storage of tensors of any four-byte type, because the kernels only move bits.
class StorageChange final : public Execution {
  public:
    StorageChange(const CpuBackend& backend, const Command& command)
        : backend_(backend), input_(*command.inputs[0]), output_(*command.outputs[0]) {}

    void run(const Frame& frame) const override {
        const bool packs = input_.channelBlock == 1;
        const Operand& packed = packs ? output_ : input_;
        (packs ? nchwToPacked : packedToNchw)(backend_.kernels(), frame.data<float>(input_), frame.data<float>(output_),
                                              static_cast<int>(packed.batch()), static_cast<int>(packed.shape.at(1)),
                                              static_cast<size_t>(packed.plane()), frame.pool());
    }

  private:
    const CpuBackend& backend_;
    const Operand& input_;
    const Operand& output_;
};

constexpr int64_t kSquare = 8;

// Transposes eight rows of eight bytes: halves, quarters and bytes of the rows are exchanged in turn, as in Warren,
// Hacker's Delight, "Transposing a Bit Matrix", with bytes in place of bits.
void transposeSquare(const uint8_t* from, int64_t fromStep, uint8_t* to, int64_t toStep) {
    uint64_t rows[kSquare];
    for (int i = 0; i < kSquare; ++i) std::memcpy(rows + i, from + i * fromStep, kSquare);
    const auto exchange = [&](int a, int b, int shift, uint64_t mask) {
        const uint64_t other = (rows[a] >> shift ^ rows[b]) & mask;
        rows[b] ^= other;
        rows[a] ^= other << shift;
    };
    for (const int i : {0, 1, 2, 3}) exchange(i, i + 4, 32, 0x00000000FFFFFFFF);
    for (const int i : {0, 1, 4, 5}) exchange(i, i + 2, 16, 0x0000FFFF0000FFFF);
    for (const int i : {0, 2, 4, 6}) exchange(i, i + 1, 8, 0x00FF00FF00FF00FF);
    for (int i = 0; i < kSquare; ++i) std::memcpy(to + i * toStep, rows + i, kSquare);
}

// Changes the storage of tensors of bytes, in squares of eight channels and eight pixels.
class ByteStorageChange final : public Execution {
  public:
    explicit ByteStorageChange(const Command& command) : input_(*command.inputs[0]), output_(*command.outputs[0]) {}

    void run(const Frame& frame) const override {
        const bool toPacked = input_.channelBlock == 1;
        const Operand& packed = toPacked ? output_ : input_;
        const int64_t channels = packed.shape.at(1), plane = packed.plane(), channelBlock = packed.channelBlock;
        const int64_t blocks = ceilDiv(channels, channelBlock);
        parallelFor(frame.pool(), static_cast<int>(packed.batch() * blocks), [&](int i) {
            const int64_t n = i / blocks, first = i % blocks * channelBlock,
                          lanes = std::min(channelBlock, channels - first);
            const int64_t rows = (n * channels + first) * plane, block = i * plane * channelBlock;
            const auto* from = frame.data<const uint8_t>(input_);
            auto* to = frame.data<uint8_t>(output_);
            if (plane == 1) {
                std::copy_n(from + (toPacked ? rows : block), lanes, to + (toPacked ? block : rows));
                return;
            }
            const auto move = [&](int64_t lane, int64_t p, bool square) {
                const int64_t row = rows + lane * plane + p, at = block + p * channelBlock + lane;
                if (square)
                    toPacked ? transposeSquare(from + row, plane, to + at, channelBlock)
                             : transposeSquare(from + at, channelBlock, to + row, plane);
                else
                    to[toPacked ? at : row] = from[toPacked ? row : at];
            };
            for (int64_t begin = 0; begin < plane; begin += kRun) {  // so that lines stay in the cache
                const int64_t end = std::min(plane, begin + kRun), squares = end - (end - begin) % kSquare;
                for (int64_t lane = 0; lane < lanes;) {
                    const bool whole = lane + kSquare <= lanes;
                    int64_t p = begin;
                    for (; whole && p < squares; p += kSquare) move(lane, p, true);
                    for (int64_t l = lane; l < (whole ? lane + kSquare : lane + 1); ++l)
                        for (int64_t rest = p; rest < end; ++rest) move(l, rest, false);
                    lane += whole ? kSquare : 1;
                }
            }
        });
    }

  private:
    static constexpr int64_t kRun = 256;
    const Operand& input_;
    const Operand& output_;
};

}  // namespace

std::unique_ptr<Execution> createStorageChange(const CpuBackend& backend, const Command& command) {
    if (elementBytes(command.outputs[0]->type) == 1) return std::make_unique<ByteStorageChange>(command);
    return std::make_unique<StorageChange>(backend, command);
}

}  // namespace mnnc::cpu
