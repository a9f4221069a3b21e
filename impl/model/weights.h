// Weights of convolution-like operators as floats or as int8 codes with scales, wherever the file keeps them:
// inline f32 (borrowed from the model bytes where they are in memory), compressed, sparse, raw int8, or in the external
// file. All checks that need the decoded data happen here: what is read may differ from what was verified. Errors are
// BadWeights, Truncated, Overflow, and what reading a file throws.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/external_file.h"

namespace mnnc {

namespace wire {
struct Convolution2D;
struct Convolution3D;
struct Scale;
struct LayerNorm;
}  // namespace wire

// Floats that lie in the model's bytes (and live as long as the Model), or were read, or are owned. Move-only.
class FloatView {
  public:
    FloatView() = default;
    static FloatView borrow(std::span<const float> values) {
        FloatView view;
        view.values_ = values;
        return view;
    }
    static FloatView own(std::vector<float> values) {
        FloatView view;
        view.owned_ = std::move(values);
        view.values_ = view.owned_;
        return view;
    }
    // Whole floats, aligned.
    static FloatView hold(HeldBytes held) {
        FloatView view;
        view.values_ = {reinterpret_cast<const float*>(held.bytes.data()), held.bytes.size() / sizeof(float)};
        view.read_ = std::move(held.owner);
        return view;
    }
    FloatView(FloatView&& other) noexcept { *this = std::move(other); }
    FloatView& operator=(FloatView&& other) noexcept {
        owned_ = std::move(other.owned_);  // a moved vector keeps its address, so the span stays right
        read_ = std::move(other.read_);
        values_ = other.values_;
        other.values_ = {};
        return *this;
    }
    FloatView(const FloatView&) = delete;
    FloatView& operator=(const FloatView&) = delete;

    std::span<const float> span() const noexcept { return values_; }
    const float* data() const noexcept { return values_.data(); }
    size_t size() const noexcept { return values_.size(); }
    bool empty() const noexcept { return values_.empty(); }
    bool isBorrowed() const noexcept { return owned_.empty() && !read_ && !values_.empty(); }
    float operator[](size_t i) const { return values_[i]; }

  private:
    std::span<const float> values_;
    std::vector<float> owned_;
    std::shared_ptr<const void> read_;
};

// Floats that are handed out in pieces: those that stay in a file are read piece by piece.
class FloatSource {
  public:
    explicit FloatSource(FloatView whole) : whole_(std::move(whole)), size_(whole_.size()) {}
    explicit FloatSource(const StoredBytes& stored) : stored_(stored), size_(stored.size() / sizeof(float)) {}

    size_t size() const noexcept { return size_; }
    // Values first to first + count, until the next call. Throws FileChanged, FileReadFailed.
    const float* at(size_t first, size_t count);

  private:
    FloatView whole_;
    StoredBytes stored_;  // used when there is no whole
    FloatView piece_;
    size_t size_ = 0;
};

// Codes with their dequantisation: weight = q * scale[p] + min[p], where piece p covers q.size()/scale.size()
// consecutive weights and there are blocksPerOutput pieces per output channel. min is empty when symmetric.
struct QuantizedWeights {
    std::vector<int8_t> q;
    std::vector<float> scale;
    std::vector<float> min;
    int64_t blocksPerOutput = 1;
};

// What QuantizedWeights would be like.
struct QuantizedForm {
    int bits = 8;  // 4: all codes are -8 to 7
    int64_t blocksPerOutput = 1;
    bool minima = false;
};

enum class WeightForm {
    None,         // no weights at all: tensor weights or a weightless model
    Plain,        // f32
    Half,         // f16, compressed type 3
    SparseFloat,  // positions and f32 values
    Codes,        // compressed types 1, 2, 4: int8 codes with scales
    RawInt8,      // symmetricQuan.weight
};

// Which form the table holds. Throws BadWeights when the compressed type is unknown.
WeightForm convWeightForm(const wire::Convolution2D& conv, const char* opName);

// The number of weights the table stores. -1 when there are none, or when only the external file, which is
// not given, can tell. Throws BadWeights, Truncated, Overflow.
int64_t convWeightCount(const wire::Convolution2D& conv, const WeightFiles& files, const char* opName);

// How many scales an output channel of int8 codes has; 0 where only decoding the stream shows it.
int64_t convScalesPerOutput(const wire::Convolution2D& conv);
// Whether int8 codes have minima beside their scales.
bool convHasMinima(const wire::Convolution2D& conv);

// All forms as f32. expectedCount -1 accepts any count. Throws BadWeights "has no weights" for a weightless
// model.
FloatView decodeConvWeights(const wire::Convolution2D& conv, int64_t expectedCount, int64_t outputCount,
                            const WeightFiles& files, const char* opName);

// The same in pieces, where the form allows; else decoded as a whole.
FloatSource convWeightSource(const wire::Convolution2D& conv, int64_t expectedCount, int64_t outputCount,
                             const WeightFiles& files, const char* opName);

// Only for Codes and RawInt8. The old int8 form (its alpha is a dummy) gives scales of 1.
QuantizedWeights decodeQuantizedWeights(const wire::Convolution2D& conv, int64_t expectedCount,
                                        int64_t outputCount, const WeightFiles& files, const char* opName);

// The form of those, without decoding the codes. Nothing when the weights are not quantised.
std::optional<QuantizedForm> quantizedForm(const wire::Convolution2D& conv, int64_t expectedCount,
                                           int64_t outputCount, const WeightFiles& files, const char* opName);

// One value per output channel; zeros when the file has none.
FloatView convBias(const wire::Convolution2D& conv, int64_t outputCount, const WeightFiles& files,
                   const char* opName);

// Arrays of other tables that may be external. Empty when absent; both have equal sizes or the second is
// empty.
struct FloatPair {
    FloatView first;   // scale, gamma
    FloatView second;  // bias, beta
};
FloatPair scaleArrays(const wire::Scale& scale, const WeightFiles& files, const char* opName);
// Weights and bias of a 3-D convolution, of any sizes.
FloatPair convolution3dArrays(const wire::Convolution3D& conv, const WeightFiles& files, const char* opName);
FloatPair layerNormArrays(const wire::LayerNorm& norm, const WeightFiles& files, const char* opName);

}  // namespace mnnc
