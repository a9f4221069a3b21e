// mnn_tensor_info(), mnn_tensor_nchw(): the location of a tensor and the meaning of its extents.
#include "c_api/guard.h"

using namespace mnnc;

namespace {

// The size of the struct's first version; it stays when the struct grows.
constexpr size_t kTensorPropertiesSize = sizeof(mnn_tensor_properties_t);
constexpr size_t kRank = 4;

// Batch, channel, height and width by position in the shape.
const size_t* positions(Format format) {
    static constexpr size_t kFirst[] = {0, 1, 2, 3}, kLast[] = {0, 3, 1, 2};
    return format == Format::NHWC ? kLast : kFirst;
}

}  // namespace

mnn_status mnn_tensor_info(const mnn_tensor_t* tensor, mnn_tensor_properties_t* info) {
    return guard([&] {
        checkStructSize(required(info, "info").struct_size, kTensorPropertiesSize, "info");
        const TensorUse handle(tensor, Access::Read, "mnn_tensor_info");
        size_t rank = 0;
        requireSuccess(mnn_tensor_shape(tensor, nullptr, 0, &rank));  // throws unless it has a shape
        const Session& session = *handle.session().impl;
        const Operand& storage = handle.storage();
        mnn_tensor_properties_t result{};
        result.kind = handle.observed()     ? MNN_TENSOR_SHOWN
                      : handle.isConstant() ? MNN_TENSOR_CONSTANT
                      : handle.isInput()    ? MNN_TENSOR_INPUT
                                            : MNN_TENSOR_OUTPUT;
        const Bindings* bindings = session.bindings();
        const bool direct =
            bindings && !handle.observed() && !handle.isConstant() &&
            (handle.isInput() ? bindings->input(handle.index()) : bindings->output(handle.index())).direct;
        result.forward_type = MNN_FORWARD_CPU;
        for (const Path& path : session.paths())
            if ((storage.onDevice || direct) && path.context().device)
                result.forward_type = static_cast<int32_t>(path.forwardType());
        result.type = handle.type();
        result.format = static_cast<int32_t>(storage.format);
        result.channel_block = storage.channelBlock;
        result.used = handle.isInput() ? (session.usesInput(handle.index()) ? 1 : 0) : 1;
        writeStruct(info, result);
    });
}

mnn_status mnn_tensor_nchw(const mnn_tensor_t* tensor, int32_t* nchw) {
    return guard([&] {
        required(nchw, "nchw");
        const TensorUse handle(tensor, Access::Read, "mnn_tensor_nchw");
        int32_t dims[MNN_MAX_RANK];
        size_t rank = 0;
        requireSuccess(mnn_tensor_shape(tensor, dims, MNN_MAX_RANK, &rank));
        if (rank != kRank)
            fail(Status::BadState,
                 "tensor '%s' has %zu dimensions: only with 4 is there a batch, a channel, a height "
                 "and a width",
                 handle.storage().name.c_str(), rank);
        for (size_t i = 0; i < kRank; ++i) nchw[i] = dims[positions(handle.storage().format)[i]];
    });
}
