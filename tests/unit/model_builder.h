// Builds small nets through the generated object API, and checks how loading them fails.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "mnn_objects_generated.h"
#include "model/bytes.h"
#include "model/model.h"

namespace mnnc::test {

std::unique_ptr<wire::OpT> makeOp(wire::OpType type, std::string name, std::vector<int32_t> inputs,
                                  std::vector<int32_t> outputs);

template <typename Param>
std::unique_ptr<wire::OpT> makeOp(wire::OpType type, std::string name, std::vector<int32_t> inputs,
                                  std::vector<int32_t> outputs, Param param) {
    auto op = makeOp(type, std::move(name), std::move(inputs), std::move(outputs));
    op->main.Set(std::move(param));
    return op;
}

std::unique_ptr<wire::OpT> makeInput(int32_t id, std::vector<int32_t> dims = {1, 4});
std::unique_ptr<wire::OpT> makeConst(int32_t id, std::vector<int32_t> dims, std::vector<float> values);
std::unique_ptr<wire::OpT> makeIntConst(int32_t id, std::vector<int32_t> dims, std::vector<int32_t> values);

// A 1 x 1 convolution of `inputs` to `outputs` channels with that many weights.
wire::Convolution2DT makeConv(int32_t inputs, int32_t outputs, size_t weightCount);

// input(0) -> ReLU -> 1, named t0, t1, ...
wire::NetT makeReluNet();

std::vector<uint8_t> pack(const wire::NetT& net);

template <typename Table>
flatbuffers::DetachedBuffer packTable(const typename Table::NativeTableType& table) {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(Table::Pack(builder, &table));
    return builder.Release();
}

std::shared_ptr<const Model> loadBytes(const std::vector<uint8_t>& bytes, const ModelOptions& options = {});
std::shared_ptr<const Model> loadNet(const wire::NetT& net, const ModelOptions& options = {});

// Expects the action to throw an error of this status whose message has this part.
void expectFailure(Status status, const std::string& part, const std::function<void()>& action);
// Expects that loading the net fails with this status and part of the message.
void expectRefused(const wire::NetT& net, Status status, const std::string& part);

}  // namespace mnnc::test
