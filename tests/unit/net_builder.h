// Builds nets of several operators for tests, and runs them.
#pragma once
#include <string>
#include <vector>

#include "model_builder.h"
#include "session/session.h"

namespace mnnc::test {

using BinaryCode = wire::BinaryOpOperation;
using UnaryCode = wire::UnaryOpOperation;

// A net under construction: each function appends an operator and returns the number of its output tensor.
class NetBuilder {
  public:
    int input(std::vector<int32_t> dims);
    int ints(std::vector<int32_t> dims);  // an input of int32
    int scalar(float value);
    int constant(std::vector<int32_t> dims);
    // Its weights are a tensor.
    int convBy(int x, int weights, int outputs, int kernel);
    int conv(int x, int inputs, int outputs, int kernel, bool relu = false);
    int depthwise(int x, int channels);
    int grouped(int x, int channels, int groups);
    int scale(int x, int channels);
    int binary(BinaryCode code, int a, int b, bool relu = false);
    int unary(UnaryCode code, int x);
    int relu(int x, float slope = 0);
    int clip(int x, float lo, float hi);
    int softmax(int x, int axis = 1);
    // Returns a where the condition is not 0.
    int select(int condition, int a, int b);
    int concat(std::vector<int32_t> inputs, int axis = 1);
    // resizeType: the numbers of the schema, 1 nearest, 2 linear, 3 cubic; with half pixels.
    int resize(int x, int resizeType, int height, int width);
    // Returns the parts between these places of an axis.
    std::vector<int> split(int x, int axis, std::vector<int32_t> points);
    int permute(int x, std::vector<int32_t> dims);
    int reshape(int x, std::vector<int32_t> dims);
    int matmul(int a, int b, bool transposeA = false, bool transposeB = false);
    int sample(int map, int grid);
    wire::NetT finish(const std::vector<int>& outputs);

  protected:
    int tensor();
    template <typename Table>
    int add(wire::OpType type, std::vector<int32_t> inputs, Table table) {
        const int id = tensor();
        net_.oplists.push_back(makeOp(type, "op" + std::to_string(id), std::move(inputs), {id}, std::move(table)));
        return id;
    }
    wire::NetT net_;
};

// Returns names for the tables of If and While, and for their graphs.
std::unique_ptr<wire::StringVecT> names(std::vector<std::string> list);
std::unique_ptr<wire::SubGraphProtoT> asGraph(const std::string& name, wire::NetT net, std::vector<int32_t> inputs,
                                              std::vector<int32_t> outputs);

struct NetResult {
    std::vector<std::vector<float>> outputs;
    std::vector<OpRecord> ops;
    int64_t weightBytes = 0;
    std::vector<std::string> types() const;
    size_t count(const std::string& type) const;
};

// Returns an interpreter of the net, over a copy of its bytes.
std::shared_ptr<const Interpreter> open(const wire::NetT& net);

// Runs once, with inputs between -3 and 3.
NetResult runNet(const wire::NetT& net, const SessionConfig& config = {});

// Runs once with every tensor as an output: nothing is fused, and no tensors share memory.
NetResult runUnfused(const wire::NetT& net, SessionConfig config = {});

}  // namespace mnnc::test
