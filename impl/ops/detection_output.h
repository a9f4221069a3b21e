// The boxes that DetectionOutput finds: its shape rule counts them, its execution writes them.
#pragma once
#include <cstdint>

#include "ir/params.h"

namespace mnnc {

enum class BoxCode : uint8_t { Corner = 1, CentreSize = 2, CornerSize = 3 };

struct DetectionOutputParams : ParamsOf<DetectionOutputParams> {
    int64_t classes = 0, background = 0;  // a background outside of the classes means that there is none
    int64_t topK = 0;                     // limit on candidates of each class before the suppression; 0: none
    int64_t keepTopK = -1;                // limit on results; -1: none
    float overlap = 0, confidence = 0, objectness = 0;
    BoxCode code = BoxCode::CentreSize;
    bool shareLocation = true, varianceEncoded = false;
    int64_t priors = 0;  // from the inputs

    int64_t locationClasses() const { return shareLocation ? 1 : classes; }
    int64_t workBytes() const;
};

struct DetectionInputs {
    const float *location, *confidence, *priors;
    const float *armConfidence = nullptr, *armLocation = nullptr;
};

// Writes at most `maxRows` rows of label, score, xmin, ymin, xmax, ymax, with ascending labels and descending scores
// for each label. `rows` null: writes nothing. `work`: workBytes() bytes. Returns the number of detections. Allocates
// nothing.
int64_t detectBoxes(const DetectionOutputParams& p, const DetectionInputs& in, void* work, float* rows,
                    int64_t maxRows) noexcept;

}  // namespace mnnc
