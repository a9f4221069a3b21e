// Parameters of ResizedConvolution: a convolution that reads its channels from several tensors, one after the other,
// and resizes some of them on the way.
#pragma once
#include <optional>
#include <vector>

#include "ops/command.h"

namespace mnnc {

struct ResizedConvolutionParams : ParamsOf<ResizedConvolutionParams> {
    struct Part {
        int64_t channels = 0;
        std::optional<Command> resize;  // an Interp as it was
    };
    std::vector<Part> parts;  // one for each input
    Command convolution;      // as it was; its input has a shape and no memory
};

}  // namespace mnnc
