// Checks one list of operators: tensor ids are in range, every consumed tensor has a producer, descriptions are valid.
#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/op_type.h"
#include "model/lost_operators.h"
#include "model/operator_order.h"
#include "model/verify.h"
#include "model/wire_access.h"

namespace mnnc {

namespace {

void verifyIds(const OpPlace& place, const WireInts* ids, const char* what, uint32_t tensorCount) {
    for (uint32_t i = 0; ids && i < ids->size(); ++i)
        if (ids->Get(i) < 0 || static_cast<uint32_t>(ids->Get(i)) >= tensorCount)
            place.fail(Status::BadIndex, "%s %u is tensor %d, the graph has %u tensors", what, i, ids->Get(i),
                       tensorCount);
}

// Marks the operators that the outputs depend on; all operators where the file has no list of outputs.
std::vector<char> neededOperators(const WireGraph& graph) {
    if (graph.isStatic || vectorSize(graph.outputs) == 0) return std::vector<char>(graph.ops->size(), 1);
    std::unordered_map<std::string_view, int32_t> ids;
    for (uint32_t i = 0; i < graph.tensors->size(); ++i)
        ids[graph.tensors->Get(i)->string_view()] = static_cast<int32_t>(i);
    std::vector<int32_t> outputs;
    for (const auto* name : *graph.outputs)
        if (const auto found = ids.find(name->string_view()); found != ids.end()) outputs.push_back(found->second);
    return operatorsFor({graph.ops->begin(), graph.ops->end()}, graph.tensors->size(), outputs);
}

// Checks that each tensor that a needed operator reads has a producer; operator_order.h checks their order.
void verifySources(const WireGraph& graph) {
    std::vector<char> defined(graph.tensors->size(), 0);
    for (uint32_t i = 0; graph.inputs && i < graph.inputs->size(); ++i)
        defined[static_cast<size_t>(graph.inputs->Get(i))] = 1;
    for (const auto* op : *graph.ops)
        for (const int32_t id : *op->outputIndexes()) defined[static_cast<size_t>(id)] = 1;
    if (graph.isStatic && graph.describes)
        // Very old static files have regions on a tensor that no operator produces.
        for (const auto* describe : *graph.describes)
            if (vectorSize(describe->regions()) > 0) defined[static_cast<size_t>(describe->index())] = 1;

    const auto isAbsent = [&](int32_t id) { return !defined[static_cast<size_t>(id)]; };
    std::vector<char> needed;
    for (uint32_t i = 0; i < graph.ops->size(); ++i) {
        const auto* op = graph.ops->Get(i);
        if (!op->inputIndexes() || std::none_of(op->inputIndexes()->begin(), op->inputIndexes()->end(), isAbsent))
            continue;
        if (needed.empty()) needed = neededOperators(graph);
        if (!needed[i]) continue;
        for (const int32_t id : *op->inputIndexes())
            if (!defined[static_cast<size_t>(id)])
                OpPlace(graph, i, *op)
                    .fail(Status::BadFormat, "it reads tensor %d ('%s'), which no operator makes", id,
                          graph.tensors->Get(static_cast<uint32_t>(id))->c_str());
    }
}

void verifyRegions(const WireGraph& graph, uint32_t entry, const wire::TensorDescribe& describe) {
    for (uint32_t r = 0; describe.regions() && r < describe.regions()->size(); ++r) {
        const auto* region = describe.regions()->Get(r);
        const bool whole = region && vectorSize(region->size()) >= 3 && region->src() && region->dst() &&
                           vectorSize(region->src()->stride()) >= 3 && vectorSize(region->dst()->stride()) >= 3;
        if (!whole)
            fail(Status::BadFormat, "%sregion %u of extraTensorDescribe %u needs 3 sizes and 2 x 3 strides",
                 graph.title.c_str(), r, entry);
        for (uint32_t k = 0; k < 3; ++k)
            if (region->size()->Get(k) < 0)
                fail(Status::BadFormat, "%sregion %u of extraTensorDescribe %u has size %d", graph.title.c_str(), r,
                     entry, region->size()->Get(k));
    }
}

void verifyDescribes(const WireGraph& graph) {
    for (uint32_t i = 0; graph.describes && i < graph.describes->size(); ++i) {
        const auto* describe = graph.describes->Get(i);
        if (!describe) fail(Status::BadFormat, "%sextraTensorDescribe %u is null", graph.title.c_str(), i);
        if (describe->index() < 0 || static_cast<uint32_t>(describe->index()) >= graph.tensors->size())
            fail(Status::BadIndex, "%sextraTensorDescribe %u is for tensor %d, the graph has %u tensors",
                 graph.title.c_str(), i, describe->index(), graph.tensors->size());
        // Only the scales of int8 codes are used, so those of other types, such as 16 bits, need no check.
        const auto* quant = describe->quantInfo();
        if (quant && (quant->type() == wire::DataType::DT_INT8 || quant->type() == wire::DataType::DT_INVALID)) {
            const auto fits = [](float value) { return value >= -128.0f && value <= 127.0f; };
            if (!std::isfinite(quant->scale()) || quant->scale() < 0.0f || !fits(quant->zero()) ||
                !fits(quant->min()) || !fits(quant->max()) || quant->min() > quant->max())
                fail(Status::BadParameter,
                     "%squantisation of tensor %d is impossible (scale %g, zero %g, range %g to %g)",
                     graph.title.c_str(), describe->index(), static_cast<double>(quant->scale()),
                     static_cast<double>(quant->zero()), static_cast<double>(quant->min()),
                     static_cast<double>(quant->max()));
        }
        if (graph.isStatic) verifyRegions(graph, i, *describe);
    }
}

}  // namespace

void verifyGraph(const WireGraph& graph) {
    const uint32_t tensorCount = graph.tensors->size();
    for (uint32_t i = 0; i < graph.ops->size(); ++i) {
        const auto* op = graph.ops->Get(i);
        if (!op) fail(Status::BadFormat, "%soperator %u is null", graph.title.c_str(), i);
        const OpPlace place(graph, i, *op);
        if (opTypeOf(*op) == OpType::Fused)
            place.fail(Status::BadParameter, "operator number %d is the library's own",
                       static_cast<int>(OpType::Fused));
        if (vectorSize(op->outputIndexes()) == 0) place.fail(Status::BadParameter, "it has no outputs");
        verifyIds(place, op->inputIndexes(), "input", tensorCount);
        verifyIds(place, op->outputIndexes(), "output", tensorCount);
        verifyOpTable(place, *op);
        if (!graph.isStatic) verifyOpCounts(place, *op);
        verifyOpParameters(place, *op);
        const OpType type = opTypeOf(*op);
        if (isLeaf(type) && (vectorSize(op->inputIndexes()) != 0 || vectorSize(op->outputIndexes()) != 1))
            place.fail(Status::BadParameter, "it must have no inputs and one output, it has %lld and %lld",
                       asLong(vectorSize(op->inputIndexes())), asLong(vectorSize(op->outputIndexes())));
    }
    verifyDescribes(graph);
    verifySources(graph);
}

}  // namespace mnnc
