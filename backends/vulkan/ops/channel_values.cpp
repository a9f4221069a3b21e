// Chooses the way in which the kernel finds the channel of an element, and dispatches it.
#include "backends/vulkan/ops/channel_values.h"

namespace mnnc::vulkan {

namespace {

// The ways to find the channels of a quad, see scale_prelu.comp.
enum class Lanes : uint32_t { Packed = 0, Same = 1, Adjacent = 2, Each = 3 };

}  // namespace

void ChannelValues::prepare() {
    const Operand& output = *command_.outputs[0];
    const int axis = channelAxis(output);
    channels_ = output.shape[axis];
    inner_ = output.shape.elements(axis + 1, output.shape.rank());
    const Lanes lanes = output.channelBlock > 1             ? Lanes::Packed
                        : inner_ % 4 == 0                   ? Lanes::Same
                        : inner_ == 1 && channels_ % 4 == 0 ? Lanes::Adjacent
                                                            : Lanes::Each;
    pipeline_ = &backend().pipeline("scale_prelu", output.type, 3, 64,
                                    {static_cast<uint32_t>(map_), static_cast<uint32_t>(lanes), postOps_.code});
    const int64_t padded = roundUp(channels_, 4);
    values_ = backend().weights(
        command_.params, "channel values", 2 * padded,
        [&](std::vector<float>& values) {
            std::copy(first_.begin(), first_.end(), values.begin());
            std::copy(second_.begin(), second_.end(), values.begin() + padded);
        },
        true);
}

void ChannelValues::encode(FrameRecorder& recorder) const {
    const Operand& output = *command_.outputs[0];
    const int64_t quads = ceilDiv(output.storageElements(), 4);
    recorder.dispatch(
        *pipeline_, {{recorder.reads(*command_.inputs[0]), recorder.reads(*values_), recorder.writes(output)}},
        Push().u(quads, channels_, inner_).f(postOps_.lo, postOps_.hi), ceilDiv(quads, pipeline_->localSize));
}

}  // namespace mnnc::vulkan
