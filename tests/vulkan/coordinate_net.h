// Nets that compute coordinates under Precision Low. The maps change from pixel to pixel, so that half a pixel is
// visible.
#pragma once
#include "device_nets.h"

namespace mnnc::vulkan::test {

using wire::BinaryOpOperation;
inline constexpr int kWidth = 1024, kPlaces = 60;

class CoordinateNet : public NetBuilder {
  public:
    int constant(std::vector<int32_t> dims, std::vector<float> values) {
        const int id = tensor();
        net_.oplists.push_back(mnnc::test::makeConst(id, std::move(dims), std::move(values)));
        return id;
    }
    int ints(std::vector<int32_t> dims, std::vector<int32_t> values) {
        const int id = tensor();
        net_.oplists.push_back(mnnc::test::makeIntConst(id, std::move(dims), std::move(values)));
        return id;
    }
    // x * factor + offset
    int affine(int x, float factor, float offset) {
        return binary(BinaryOpOperation::ADD, binary(BinaryOpOperation::MUL, x, scalar(factor)), scalar(offset));
    }
    int cast(int x, wire::DataType from, wire::DataType to) {
        wire::CastParamT op;
        op.srcT = from;
        op.dstT = to;
        return add(wire::OpType::Cast, {x}, std::move(op));
    }
    int align(int map, std::vector<int32_t> boxes) {
        wire::RoiParametersT op;
        op.pooledWidth = 5;
        op.pooledHeight = 1;
        op.spatialScale = 1;
        op.samplingRatio = 1;
        boxes.insert(boxes.begin(), map);
        return add(wire::OpType::ROIAlign, boxes, std::move(op));
    }
    int crop(int map, int boxes, int pictures) {
        wire::CropAndResizeT op;
        op.method = wire::CropAndResizeMethod::BILINEAR;
        return add(wire::OpType::CropAndResize, {map, boxes, pictures, ints({2}, {1, 6})}, std::move(op));
    }
    int suppress(int boxes, int scores) {
        wire::NonMaxSuppressionV2T op;
        return add(wire::OpType::NonMaxSuppressionV2, {boxes, scores, ints({1}, {kPlaces}), constant({1}, {0.3f})},
                   std::move(op));
    }
    int rows(int x, int numbers) {
        wire::AxisT op;
        op.axis = 0;
        return add(wire::OpType::Gather, {x, numbers}, std::move(op));
    }
    // Returns the largest values of the last axis, and their places.
    std::vector<int> top(int x, int count) {
        const int values = tensor(), places = tensor();
        net_.oplists.push_back(
            mnnc::test::makeOp(wire::OpType::TopKV2, "top", {x, ints({}, {count})}, {values, places}, wire::TopKV2T()));
        return {values, places};
    }
    wire::NetT done(int output) { return finish({output}); }
};

// Compares with the CPU under Precision Low; returns where the operators ran.
inline std::string expectExactPlaces(const wire::NetT& net, double tolerance = 2e-3) {
    return placesOf(
        expectNetSameAsCpu(net, tolerance, [](BackendConfig& backend) { backend.precision = Precision::Low; }));
}

}  // namespace mnnc::vulkan::test
