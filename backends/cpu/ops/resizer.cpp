// Plans the taps of a resize along each axis, and computes one output row at a time.
#include "backends/cpu/ops/resizer.h"

#include "base/error.h"

namespace mnnc::cpu {

void Resizer::plan(const Kernels& kernels, const Command& interp) {
    const InterpCommand& params = interp.paramsAs<InterpCommand>();
    const Shape &x = interp.inputs[0]->shape, &y = interp.outputs[0]->shape;
    const int rank = x.rank();
    if (rank < 2 || rank > 5 || y.rank() != rank)
        fail(Status::ComputeSizeError, "%s: a tensor of shape %s cannot be resized to %s", interp.name.c_str(),
             x.text().c_str(), y.text().c_str());
    for (int i = 0; i < 3; ++i) {
        const int axis = rank == 5 ? 2 + i : 1 + i;
        const bool used = axis >= 2 && axis < rank;
        in_[i] = used ? x[axis] : 1;
        out_[i] = used ? y[axis] : 1;
        taps_[i] = makeAxisTaps(params.type, params.axis[i], in_[i], out_[i]);
        // An axis that only copies needs one tap; because of this, depth costs nothing for pictures.
        if (i < 2 && in_[i] == out_[i] && params.axis[i].a == 1.0 && params.axis[i].b == 0.0)
            taps_[i] = makeAxisTaps(ResizeType::NearestFloor, params.axis[i], in_[i], out_[i]);
    }
    lanes_ = kernels.lanes;
    const ResizeKernels& table = resizeKernels(kernels.id);
    kernel_ = table.nearest;
    if (params.type == ResizeType::Linear) kernel_ = table.linear;
    if (params.type == ResizeType::Cubic) kernel_ = table.cubic;
}

int Resizer::rowsOf(int64_t row, int64_t* offsets, float* weights) const noexcept {
    const int64_t sourceRow = in_[2] * lanes_;
    const AxisTaps &depth = taps_[0], &height = taps_[1];
    const auto z = static_cast<size_t>(row / out_[1] * depth.taps),
               y = static_cast<size_t>(row % out_[1] * height.taps);
    int count = 0;
    for (size_t dz = 0; dz < static_cast<size_t>(depth.taps); ++dz) {
        for (size_t dy = 0; dy < static_cast<size_t>(height.taps); ++dy, ++count) {
            offsets[count] = (depth.index[z + dz] * in_[1] + height.index[y + dy]) * sourceRow;
            weights[count] = depth.weight[z + dz] * height.weight[y + dy];
        }
    }
    return count;
}

void Resizer::makeRow(const float* src, int64_t row, float* dst) const noexcept {
    int64_t offsets[kMaxRows];
    const float* rows[kMaxRows];
    float weights[kMaxRows];
    const int count = rowsOf(row, offsets, weights);
    for (int i = 0; i < count; ++i) rows[i] = src + offsets[i];
    ResizeRow r;
    r.rows = rows;
    r.rowWeights = weights;
    r.rowCount = count;
    r.index = taps_[2].index.data();
    r.weight = taps_[2].weight.data();
    r.outputs = static_cast<int>(out_[2]);
    r.dst = dst;
    kernel_(r);
}

}  // namespace mnnc::cpu
