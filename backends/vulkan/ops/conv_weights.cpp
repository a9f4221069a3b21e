// Packs the weights of convolutions that are matrix products, in slices of the size of one binding.
#include <algorithm>
#include <numeric>

#include "backends/vulkan/ops/convolution.h"

namespace mnnc::vulkan {

std::optional<ConvCodes> convCodes(const VulkanBackend& backend, const ConvGeometry& c, const Command& command) {
    if (backend.config().memory != MemoryMode::Low || c.tensorWeights || c.transposed) return std::nullopt;
    const auto form = command.paramsAs<ConvParams>().quantizedForm(c.w.weightCount, c.w.oc, command.name.c_str());
    if (!form) return std::nullopt;
    ConvCodes codes{form->blocksPerOutput, c.inBlocks, form->minima, form->bits == 4};
    if (codes.pieces > 1) {
        const int64_t channels = c.groupIn / codes.pieces;
        if (codes.pieces * channels != c.groupIn || channels % kChannelBlock != 0) return std::nullopt;
        codes.pieceBlocks = channels / kChannelBlock;
    }
    return codes;
}

ConvGemmWeights::ConvGemmWeights(const VulkanBackend& backend, const ConvGeometry& c,
                                 const std::optional<ConvCodes>& codes)
    : c_(c), codes_(codes) {
    const int64_t rows =
        checkedMul(checkedMul(c.w.groups, c.taps, "weights"), depthBlocks() * kChannelBlock, "weights");
    const int64_t bits = !codes_ ? (backend.half() ? 16 : 32) : codes_->halfBytes ? 4 : 8;
    const int64_t quadBytes = checkedMul(rows, kChannelBlock * bits, "weights") / 8;
    perSlice_ = std::min(quads(), backend.limits().storageRange / quadBytes);
    // Kernels index the quads of a slice with 32 bits.
    if (rows * perSlice_ > INT32_MAX) perSlice_ = INT32_MAX / rows;
    // Groups lie one after another in a slice, which must hold all quads of each. 0: it cannot, and supports() refuses.
    if (c.w.groups > 1 && perSlice_ < quads()) perSlice_ = 0;
}

// A pixel that a transposed convolution makes reads the taps of one phase: these follow each other.
std::vector<int64_t> ConvGemmWeights::tapOrder() const {
    const ConvWindow& w = c_.w;
    std::vector<int64_t> order(static_cast<size_t>(c_.taps));
    std::iota(order.begin(), order.end(), 0);
    if (!c_.transposed) return order;
    const auto phase = [](int64_t k, int64_t dilate, int64_t pad, int64_t stride) {
        return ((k * dilate - pad) % stride + stride) % stride;
    };
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        const auto phases = [&](int64_t tap) {
            return std::pair(phase(tap / w.kw, c_.dilateY, w.padTop, c_.strideY),
                             phase(tap % w.kw, c_.dilateX, w.padLeft, c_.strideX));
        };
        return phases(a) < phases(b);
    });
    return order;
}

// Takes four output channels at a time, so that their weights are read in order.
template <typename T, typename Put>
void ConvGemmWeights::pack(const T* weights, const std::vector<int64_t>& order, const Slice& slice,
                           const Put& put) const {
    const int64_t rowFloats = slice.quads * kChannelBlock;
    const int64_t rowsPerTap = depthBlocks() * kChannelBlock;
    for (int64_t group = 0; group < c_.w.groups; ++group) {
        const T* from = weights + group * c_.groupIn * c_.groupOut * c_.taps;
        for (int64_t o = 0; o < rowFloats; ++o) {
            const int64_t oc = slice.first * kChannelBlock + o;
            if (oc >= c_.groupOut) break;
            for (int64_t ic = 0; ic < c_.groupIn; ++ic) {
                const int64_t at = (c_.transposed ? ic * c_.groupOut + oc : oc * c_.groupIn + ic) * c_.taps;
                for (int64_t t = 0; t < c_.taps; ++t)
                    put((group * c_.taps + t) * rowsPerTap + ic, o, from[at + order[static_cast<size_t>(t)]]);
            }
        }
    }
}

// Packs half bytes: [row / 2][quad][row % 2][4], the first of two in the lower bits.
void ConvGemmWeights::packCodes(const std::vector<int8_t>& codes, const std::vector<int64_t>& order, const Slice& slice,
                                int8_t* out) const {
    const int64_t channels = slice.quads * kChannelBlock;
    if (!codes_->halfBytes)
        return pack(codes.data(), order, slice,
                    [&](int64_t row, int64_t o, int8_t code) { out[row * channels + o] = code; });
    pack(codes.data(), order, slice, [&](int64_t row, int64_t o, int8_t code) {
        int8_t& pair = out[row / 2 * channels + o / kChannelBlock * kChannelBlock + row % 2 * 2 + o % 4 / 2];
        pair = static_cast<int8_t>(pair | (code & 15) << (o % 2 * 4));
    });
}

std::vector<ConvGemmWeights::Slice> ConvGemmWeights::prepare(VulkanBackend& backend, const ParamsPtr& params,
                                                             const char* name) const {
    if (perSlice_ == 0) fail(Status::Internal, "op '%s': its weights cannot be bound", name);
    const auto& conv = paramsAs<ConvParams>(params.get(), name);
    const std::vector<int64_t> order = tapOrder();
    // Packed weights are found again by this text. It has the phases, because the order of the taps depends on them.
    const std::string phases =
        c_.transposed ? format(" phases %lld %lld", asLong((c_.w.padTop % c_.strideY + c_.strideY) % c_.strideY),
                               asLong((c_.w.padLeft % c_.strideX + c_.strideX) % c_.strideX))
                      : std::string();
    std::vector<Slice> slices;
    for (int64_t first = 0; first < quads(); first += perSlice_) {
        Slice slice{first, std::min(perSlice_, quads() - first), nullptr};
        const int64_t channels = slice.quads * kChannelBlock;
        const int64_t count = c_.w.groups * c_.taps * depthBlocks() * kChannelBlock * channels;
        const std::string variant = format("conv product %lld groups, quads %lld to %lld", asLong(c_.w.groups),
                                           asLong(first), asLong(first + slice.quads)) +
                                    phases;
        if (codes_)
            slice.block = backend.codes(params, variant + (codes_->halfBytes ? " of 4 bits" : ""),
                                        codes_->halfBytes ? count / 2 : count, [&](int8_t* values) {
                                            packCodes(conv.quantizedWeights(c_.w.weightCount, c_.w.oc, name).q, order,
                                                      slice, values);
                                        });
        else
            slice.block = backend.weights(params, variant, count, [&](std::vector<float>& values) {
                const FloatView weights = conv.weights(c_.w.weightCount, c_.w.oc, name);
                pack(weights.data(), order, slice, [&](int64_t row, int64_t o, float weight) {
                    values[static_cast<size_t>(row * channels + o)] = weight;
                });
            });
        slices.push_back(std::move(slice));
    }
    return slices;
}

VulkanBackend::WeightsPtr ConvGemmWeights::bias(VulkanBackend& backend, const ParamsPtr& params,
                                                const char* name) const {
    const auto& conv = paramsAs<ConvParams>(params.get(), name);
    const int64_t lanes = c_.outBlocks * kChannelBlock;
    const int64_t parts = 1 + (codes_ ? codes_->pieces * (codes_->minima ? 2 : 1) : 0);
    return backend.weights(
        params, codes_ ? "conv bias, scales" : "conv bias", checkedMul(lanes, parts, "scales"),
        [&](std::vector<float>& values) {
            const FloatView bias = conv.bias(c_.w.oc, name);
            std::copy(bias.span().begin(), bias.span().end(), values.begin());
            if (!codes_) return;
            const QuantizedWeights stored = conv.quantizedWeights(c_.w.weightCount, c_.w.oc, name);
            const auto spread = [&](const std::vector<float>& from, int64_t part) {
                for (int64_t oc = 0; oc < c_.w.oc; ++oc)
                    for (int64_t piece = 0; piece < codes_->pieces; ++piece)
                        values[static_cast<size_t>((part + piece) * lanes + oc)] =
                            from[static_cast<size_t>(oc * codes_->pieces + piece)];
            };
            spread(stored.scale, 1);
            if (codes_->minima) spread(stored.min, 1 + codes_->pieces);
        },
        true);
}

}  // namespace mnnc::vulkan
