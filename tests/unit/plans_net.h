// Nets whose plans depend on shapes, on values of a run and on loops.
#pragma once
#include "index_cases.h"

namespace mnnc::test {

class PlansNet : public IndexNet {
  public:
    // Two branches whose results have the same size for every size of the inputs: the other operators depend on no
    // shape.
    wire::NetT branches() {
        const int a = input({1, 4, 9, 11}), b = input({1, 4, 7, 5});
        const int left = resize(conv(a, 4, 8, 3, true), 2, 6, 6);
        const int right = resize(depthwise(conv(b, 4, 8, 1), 8), 2, 6, 6);
        return finish({softmax(conv(concat({left, right}), 16, 8, 3)), left});
    }
    // An output whose shape the contents of the first input decide, and one that depends only on the second.
    wire::NetT stages() {
        const int x = input({6}), y = input({2, 3});
        const int found = indexed(wire::OpType::Where, {x}, wire::ExtraT());
        wire::CastParamT floats;
        floats.dstT = wire::DataType::DT_FLOAT;
        const int places = indexed(wire::OpType::Cast, {found}, std::move(floats));
        return finish({unary(wire::UnaryOpOperation::NEG, relu(places)), softmax(y)});
    }
    // Boxes(n x 4), whose second column is their score -> the numbers of those that are kept, and an output that
    // depends only on the second input.
    wire::NetT suppression() {
        const int boxes = input({6, 4}), y = input({2, 3});
        const int scores = reshape(split(boxes, 1, {1, 2})[1], {-1});
        const int kept =
            indexed(wire::OpType::NonMaxSuppressionV2,
                    {boxes, scores, constant({1}, Ints{4}), constant({1}, Floats{0.5f})}, wire::NonMaxSuppressionV2T());
        wire::CastParamT floats;
        floats.dstT = wire::DataType::DT_FLOAT;
        return finish({relu(indexed(wire::OpType::Cast, {kept}, std::move(floats))), kept, softmax(y)});
    }
    // Scores(2 classes x 3 boxes) above 0.5 -> rows of boxes that are apart.
    wire::NetT classes() {
        const int boxes = constant({1, 3, 4}, Floats{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}), scores = input({1, 2, 3});
        return finish(
            {indexed(wire::OpType::NonMaxSuppressionV2,
                     {boxes, scores, constant({1}, Ints{9}), constant({1}, Floats{0.5f}), constant({1}, Floats{0.5f})},
                     wire::NonMaxSuppressionV2T())});
    }
    // x(n x 2), trips -> x multiplied by a matrix that many times.
    wire::NetT loop() {
        const int x = input({2, 2});
        const int limit = ints({});
        wire::WhileParamT params;
        params.body_graph = "body";
        const int result = indexed(wire::OpType::While, {limit, constant({}, Ints{1}), x}, std::move(params));
        wire::NetT whole = finish({relu(result)});
        PlansNet body;
        body.ints({});
        const int next = body.ints({});
        const int carried = body.input({2, 2});
        const int product = body.matmul(carried, body.constant({2, 2}, Floats{1, 1, 0, 1}));
        whole.subgraphs.push_back(asGraph("body", body.finish({}), {0, 1, carried}, {next, product}));
        return whole;
    }
};

}  // namespace mnnc::test
