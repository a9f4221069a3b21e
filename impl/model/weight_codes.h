// Reads weights of convolutions as int8 codes with their scales (IDSTQuan and QuantizedFloatParam of schema/mnn.fbs).
// Errors are BadWeights, Truncated, Overflow, and what reading a file throws.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/external_file.h"
#include "model/idst_stream.h"
#include "model/stored_bytes.h"

namespace mnnc {

namespace wire {
struct Convolution2D;
}

// Codes with their dequantisation: weight = q * scale[p] + min[p], where piece p covers q.size()/scale.size()
// consecutive weights and there are blocksPerOutput pieces per output channel. min is empty when symmetric.
struct QuantizedWeights {
    std::vector<int8_t> q;
    std::vector<float> scale;
    std::vector<float> min;
    int64_t blocksPerOutput = 1;
};

// The properties of QuantizedWeights without its codes.
struct QuantizedForm {
    int bits = 8;  // 4: all codes are -8 to 7
    int64_t blocksPerOutput = 1;
    bool minima = false;
};

// Returns the number of scales per output channel of int8 codes; 0 where the table has fewer scales than channels.
int64_t convScalesPerOutput(const wire::Convolution2D& conv);
// Returns whether int8 codes have minima besides their scales.
bool convHasMinima(const wire::Convolution2D& conv);

// The rule by which scales and minima follow from the alpha of a table.
struct ScaleRule {
    bool ones = false;   // no alpha: the scales are 1
    bool pairs = false;  // alpha has a minimum before each scale
    float applied = 1;   // factor of every scale and minimum
    // The smallest code, where the file has the values of that code as minima: scale * correction is subtracted from
    // them. 0: the minima are those of code 0.
    float correction = 0;
    int64_t blocksPerOutput = 1;
};

// The same weights in parts, so that large ones are never in memory all at once. Move-only. The table and its files
// must outlive it.
class QuantizedSource {
  public:
    // The codes and scales of some outputs. Codes are signed numbers, or they are as most models store them: distances
    // from the minimum number of that many bits; with 4 bits two codes share a byte, the first one in the upper half.
    struct Part {
        std::span<const int8_t> codes;
        const uint8_t* stored = nullptr;
        std::span<const float> scales, minima;  // minima: empty when symmetric
    };

    // Only for Codes and RawInt8.
    QuantizedSource(const wire::Convolution2D& conv, int64_t expectedCount, int64_t outputCount,
                    const WeightFiles& files, const char* opName);

    int64_t outputs() const noexcept { return outputs_; }
    int64_t perOutput() const noexcept { return perOutput_; }
    // Return outputs first .. first + count, valid until the next call. Throw BadWeights, and what reading a file
    // throws. Outputs without a whole number of bytes are not stored alone.
    Part part(int64_t first, int64_t count);
    Part storedPart(int64_t first, int64_t count, int bits);
    // Returns all of them; the source is empty afterwards.
    QuantizedWeights takeAll();

  private:
    void readScales(int64_t first, int64_t count, Part& part);
    std::span<const int8_t> codesOf(int64_t first, int64_t count);

    std::string opName_;
    StoredBytes stream_, alpha_;
    std::optional<Codebook> codebook_;  // when the stream is decoded in parts
    ScaleRule rule_;
    bool halfAlpha_ = false;
    int64_t outputs_ = 0, perOutput_ = 0;
    std::vector<int8_t> codes_;  // of the last part, or all codes of a stream that is not decoded in parts
    std::vector<uint8_t> stored_;
    std::vector<float> scale_, min_;
    HeldBytes held_;
};

// The weights of QuantizedSource. The old int8 form (its alpha is a dummy) has scales of 1.
QuantizedWeights decodeQuantizedWeights(const wire::Convolution2D& conv, int64_t expectedCount, int64_t outputCount,
                                        const WeightFiles& files, const char* opName);

// The form of those weights, without decoding the codes. Empty when the weights are not quantised.
std::optional<QuantizedForm> quantizedForm(const wire::Convolution2D& conv, int64_t expectedCount, int64_t outputCount,
                                           const WeightFiles& files, const char* opName);

}  // namespace mnnc
