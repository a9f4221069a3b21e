// Converts a convolution command to the shape that its kernels take.
#pragma once
#include "backends/cpu/kernels/conv/conv.h"
#include "ir/command.h"
#include "ops/convolution.h"

namespace mnnc::cpu {

inline ConvWindow windowOf(const Command& command) {
    const ConvParams& params = command.paramsAs<ConvParams>();
    const Shape& out = command.outputs[0]->shape;
    const int64_t size[2] = {out.at(2), out.at(3)};
    return convWindow(command.type, params, command.inputs[0]->shape,
                      command.operands() > 1 ? command.inputs[1] : nullptr, size, command.name.c_str());
}

// convWindow has checked the ranges that are converted here.
inline int toInt(int64_t value) {
    return static_cast<int>(value);
}

inline ConvShape planShape(const ConvWindow& w, const ConvParams& params) {
    ConvShape s;
    s.batch = toInt(w.batch);
    s.ic = toInt(w.ic), s.ih = toInt(w.ih), s.iw = toInt(w.iw);
    s.oc = toInt(w.oc), s.oh = toInt(w.oh), s.ow = toInt(w.ow);
    s.kh = toInt(w.kh), s.kw = toInt(w.kw);
    s.strideH = params.strideY, s.strideW = params.strideX;
    s.dilateH = params.dilateY, s.dilateW = params.dilateX;
    s.padTop = toInt(w.padTop), s.padLeft = toInt(w.padLeft);
    return s;
}

}  // namespace mnnc::cpu
