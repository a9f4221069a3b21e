#include "random_operators/net.h"

#include <algorithm>
#include <limits>
#include <string>

#include "random_operators/draft.h"
#include "table_edits.h"

namespace fuzz {

namespace {

class NetMaker {
  public:
    explicit NetMaker(Random& random) : random_(random) {}

    // `first`: the tensor that replaces the first input; negative for a separate input. Returns the outputs.
    std::vector<int> add(Draft& draft, int first) {
        std::vector<int> inputs, outputs;
        for (size_t i = 0; i < draft.inputs.size(); ++i)
            inputs.push_back(i == 0 && first >= 0 ? first : operand(draft.inputs[i], draft.format));
        if (inputs.size() > 1 && random_.oneIn(64)) inputs.back() = inputs.front();
        for (size_t i = 0; i < draft.outputs; ++i) outputs.push_back(tensor());
        auto op = std::make_unique<wire::OpT>();
        std::swap(op->main.type, draft.op.main.type);
        std::swap(op->main.value, draft.op.main.value);
        op->type = draft.op.type;
        put(std::move(op), std::move(inputs), outputs);
        net_.oplists.back()->defaultDimentionFormat = random_.oneIn(6) ? wire::MNN_DATA_FORMAT::NHWC : draft.format;
        for (auto& body : draft.bodies) net_.subgraphs.push_back(std::move(body));
        net_.sourceType = draft.source;
        return outputs;
    }

    std::vector<uint8_t> pack(const std::vector<int>& outputs) {
        for (const int id : outputs) net_.outputName.push_back(net_.tensorName[static_cast<size_t>(id)]);
        net_.tensorNumber = static_cast<int32_t>(net_.tensorName.size());
        flatbuffers::FlatBufferBuilder builder;
        builder.ForceDefaults(true);
        builder.Finish(wire::Net::Pack(builder, &net_));
        return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
    }

  private:
    int tensor() {
        net_.tensorName.push_back("t" + std::to_string(net_.tensorName.size()));
        return static_cast<int>(net_.tensorName.size()) - 1;
    }

    void put(std::unique_ptr<wire::OpT> op, std::vector<int> inputs, std::vector<int> outputs) {
        op->name = "op" + std::to_string(net_.oplists.size());
        op->inputIndexes = std::move(inputs);
        op->outputIndexes = std::move(outputs);
        net_.oplists.push_back(std::move(op));
    }

    template <typename Table>
    void put(wire::OpType type, std::vector<int> inputs, std::vector<int> outputs, Table table) {
        auto op = std::make_unique<wire::OpT>();
        op->type = type;
        op->main.Set(std::move(table));
        put(std::move(op), std::move(inputs), std::move(outputs));
    }

    // Three rows of 1, 2 and 3 values of two.
    int sequence() {
        if (sequence_ >= 0) return sequence_;
        wire::TensorArrayT table;
        table.dynamic_size = random_.oneIn(2);
        const int size = operand({{}, DT_INT32, true, {3}}, wire::MNN_DATA_FORMAT::NCHW);
        const int handle = tensor();
        sequence_ = tensor();
        put(wire::OpType::TensorArray, {size}, {handle, sequence_}, table);
        if (!random_.oneIn(5)) {
            const bool equal = random_.oneIn(2);
            const std::vector<double> lengths = equal ? std::vector<double>{2, 2, 2} : std::vector<double>{1, 2, 3};
            const int values = operand({{6, 2}}, wire::MNN_DATA_FORMAT::NCHW);
            const int parts = operand({{3}, DT_INT32, true, lengths}, wire::MNN_DATA_FORMAT::NCHW);
            const int split = tensor();
            put(wire::OpType::TensorArraySplit, {sequence_, values, parts, sequence_}, {split}, table);
            sequence_ = split;
        }
        return sequence_;
    }

    double value(bool real) {
        static constexpr double kReals[] = {std::numeric_limits<double>::infinity(),
                                            -std::numeric_limits<double>::infinity(),
                                            std::numeric_limits<double>::quiet_NaN(),
                                            1e30,
                                            -3e38,
                                            1e-40};
        if (!random_.oneIn(40))
            return real ? static_cast<double>(random_.number() % 16) / 4 : static_cast<double>(random_.below(4));
        return real ? random_.pick(kReals) : static_cast<double>(static_cast<int32_t>(random_.number()));
    }

    int operand(const Operand& given, wire::MNN_DATA_FORMAT format) {
        if (given.sequence) return sequence();
        const int id = tensor();
        if (!given.constant) {
            wire::InputT input;
            input.dims = given.dims;
            if (random_.oneIn(40) && !input.dims.empty()) random_.pick(input.dims) = -1;
            input.dtype = given.type;
            input.dformat = format;
            put(wire::OpType::Input, {}, {id}, std::move(input));
            return id;
        }
        wire::BlobT blob;
        blob.dims = given.dims;
        blob.dataType = given.type;
        blob.dataFormat = format;
        int64_t count = 1;
        for (const int32_t extent : given.dims) count *= std::max(extent, 0);
        count = std::min<int64_t>(count, 1 << 18);
        for (int64_t i = 0; i < count; ++i) {
            const bool has = static_cast<size_t>(i) < given.values.size() && !random_.oneIn(200);
            put(blob, has ? given.values[static_cast<size_t>(i)] : value(given.type == DT_FLOAT));
        }
        put(wire::OpType::Const, {}, {id}, std::move(blob));
        return id;
    }

    static void put(wire::BlobT& blob, double value) {
        if (blob.dataType == DT_FLOAT)
            blob.float32s.push_back(static_cast<float>(value));
        else if (blob.dataType == DT_INT32)
            blob.int32s.push_back(static_cast<int32_t>(value));
        else if (blob.dataType == DT_UINT8)
            blob.uint8s.push_back(static_cast<uint8_t>(static_cast<int64_t>(value)));
        else
            blob.int8s.push_back(static_cast<int8_t>(static_cast<int64_t>(value)));
    }

    Random& random_;
    wire::NetT net_;
    int sequence_ = -1;
};

}  // namespace

RandomNet randomNet(uint64_t seed, const wire::OpType* wanted) {
    Random random(seed);
    RandomNet made;
    made.type = random.pick(wire::EnumValuesOpType());
    if (wanted) made.type = *wanted;
    NetMaker maker(random);
    Draft first = draftOf(made.type, !random.oneIn(10), random);
    std::vector<int> outputs = maker.add(first, -1);
    if (!outputs.empty() && random.oneIn(3)) {
        static constexpr wire::OpType kFrequent[] = {
            wire::OpType::UnaryOp, wire::OpType::BinaryOp, wire::OpType::ReLU,     wire::OpType::Reshape,
            wire::OpType::Concat,  wire::OpType::Permute,  wire::OpType::Reduction};
        const wire::OpType type = random.oneIn(2) ? random.pick(kFrequent) : random.pick(wire::EnumValuesOpType());
        // Subgraphs of both operators would have the same names.
        const bool calls = type == wire::OpType::If || type == wire::OpType::While;
        if (!calls) {
            Draft second = draftOf(type, !random.oneIn(10), random);
            const auto more = maker.add(second, outputs.front());
            if (random.oneIn(2)) outputs.erase(outputs.begin());
            outputs.insert(outputs.end(), more.begin(), more.end());
        }
    }
    if (random.oneIn(32)) std::reverse(outputs.begin(), outputs.end());
    made.model = maker.pack(outputs);
    if (random.oneIn(3)) editTables(made.model, 1 + random.below(3), random);
    return made;
}

}  // namespace fuzz
