// Every operator that needs a table of parameters refuses an operator without one, with a sentence that names it: in
// the loader and, as the second line of defence, in the operator's own reader.
#include <gtest/gtest.h>

#include <set>

#include "model_builder.h"  // first: it includes the generated header with the object API

#include "model/table_rules.h"
#include "ops/op_def.h"

namespace mnnc::test {
namespace {

// The readers of these operators use the default for every value of an absent table.
bool hasDefaults(wire::OpType type) {
    using T = wire::OpType;
    static const std::set<T> kTypes = {T::BatchMatMul,     T::CumProd, T::CumSum,  T::MatMul,
                                       T::OneHot,          T::Pack,    T::Permute, T::QuantizedConcat,
                                       T::ScatterElements, T::Squeeze, T::Unpack,  T::Unsqueeze};
    return kTypes.count(type) > 0;
}

TEST(TableRules, MissingTablesAreRefusedByEveryOperator) {
    const auto model = loadNet(makeReluNet());
    int readers = 0;
    for (const wire::OpType type : wire::EnumValuesOpType()) {
        const OpDef* def = findOpDef(static_cast<OpType>(type));
        const TableRule* rule = findTableRule(static_cast<OpType>(type));
        if (!def || !def->parse || !rule || rule->use != TableUse::Required) continue;
        SCOPED_TRACE(wire::EnumNameOpType(type));
        ++readers;
        flatbuffers::FlatBufferBuilder builder;
        wire::OpBuilder table(builder);
        table.add_type(type);
        builder.Finish(table.Finish());
        Node node;
        node.type = static_cast<OpType>(type);
        node.def = def;
        node.name = "the bare op";
        const OpArity& arity = *opArity(node.type);
        node.inputs.assign(arity.minInputs, 0);
        node.outputs.assign(arity.minOutputs, 1);
        const auto* bare = flatbuffers::GetRoot<wire::Op>(builder.GetBufferPointer());
        const auto read = [&] { def->parse(*bare, {*model, node}); };
        if (hasDefaults(type))
            EXPECT_NO_THROW(read());
        else
            expectFailure(Status::BadParameter, "the bare op", read);

        wire::NetT net;
        net.tensorName = {"x", "y"};
        net.oplists.push_back(makeInput(0));
        net.oplists.push_back(makeOp(type, "the bare op", std::vector<int32_t>(node.inputs.size(), 0), {1}));
        expectFailure(Status::BadParameter, "the bare op", [&] { loadNet(net); });
    }
    EXPECT_GT(readers, 30);
}

}  // namespace
}  // namespace mnnc::test
