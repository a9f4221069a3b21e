// See loops.h.
#include "loops.h"

#include <algorithm>

#include "base/error.h"
#include "helpers.h"

namespace mnnc::onnx {

int outputOf(Call& c, V value) {
    if (value->isSequence) refuse("its body gives a sequence");
    return c.b.copy(value)->tensor;
}

namespace {

// Writes the rounds of a loop one after the other. A sequence is a list of values that the importer knows, so that a
// loop that carries one needs a known number of rounds.
LoopResult unrolled(Call& c, V limit, V condition, std::vector<V> carried, const MakeRound& round) {
    constexpr int64_t kMaxRounds = 256;
    const int64_t rounds = limit->constant ? limit->array().intAt(0) : kMaxRounds + 1;
    if (rounds > kMaxRounds) refuse("it carries a sequence through rounds whose number is not known or large");
    std::vector<std::vector<V>> scanned;  // of each scan output
    for (int64_t i = 0; i < rounds; ++i) {
        if (!condition->constant) refuse("it carries a sequence, and a run decides when it ends");
        if (condition->array().intAt(0) == 0) break;
        const Round made = round(c.b.scalar(i), condition, carried);
        if (made.condition) condition = made.condition;
        carried = made.carried;
        scanned.resize(made.scanned.size());
        for (size_t at = 0; at < scanned.size(); ++at) scanned[at].push_back(unsqueeze(c, made.scanned[at], {0}));
    }
    LoopResult loop{std::move(carried), {}};
    for (const std::vector<V>& values : scanned) loop.stacks.push_back(concat(c, values, 0));
    return loop;
}

}  // namespace

LoopResult writeLoop(Call& c, V limit, V condition, std::vector<V> initial, const MakeRound& round) {
    const std::string name = c.b.name();
    const size_t count = initial.size();
    if (std::any_of(initial.begin(), initial.end(), [](const V value) { return value->isSequence; }))
        return unrolled(c, limit, condition, std::move(initial), round);
    std::vector<std::array<Dims, kProbes>> dims;
    for (const V value : initial) dims.push_back(value->dims);
    // Extents that change from round to round are free in the body; each attempt may find more of them.
    for (int attempt = 0; attempt < 4; ++attempt) {
        Inside inside(c.b, c.b.scopeName("body"));
        V iteration = c.b.input("iteration", Elem::Int64, {});
        V goesOn = c.b.input("condition", Elem::Bool, {});
        std::vector<V> formal;
        for (size_t i = 0; i < count; ++i)
            formal.push_back(c.b.input("carried_" + std::to_string(i), initial[i]->elem, dims[i]));
        Round made = round(iteration, goesOn, formal);
        bool changed = false;
        for (size_t i = 0; i < count; ++i) {
            V value = made.carried.at(i);
            if (value->isSequence) refuse("it carries a sequence");
            if (value->rank() != dims[i][0].size())
                refuse("a value that it carries has rank %zu before a round and rank %zu behind it", dims[i][0].size(),
                       value->rank());
            if (value->type != initial[i]->type) refuse("a value that it carries changes its type");
            for (size_t axis = 0; axis < value->rank(); ++axis) {
                if (value->dims[0][axis] == dims[i][0][axis] && value->dims[1][axis] == dims[i][1][axis]) continue;
                if (dims[i][0][axis] != dims[i][1][axis]) continue;  // already free
                const auto open = c.b.openDims({-1});
                dims[i][0][axis] = open[0][0];
                dims[i][1][axis] = open[1][0];
                changed = true;
            }
        }
        if (changed) continue;
        c.b.setName(inside.scope().name);
        Scope& scope = inside.scope();
        scope.inputs = {iteration->tensor, goesOn->tensor};
        for (const V value : formal) scope.inputs.push_back(value->tensor);
        scope.outputs = {outputOf(c, made.condition ? made.condition : goesOn)};
        for (const V value : made.carried) scope.outputs.push_back(outputOf(c, value));
        std::vector<int> scanned;
        for (const V value : made.scanned) scanned.push_back(outputOf(c, value));
        // Captured values are carried unchanged.
        std::vector<V> outer;
        for (size_t i = 0; i < scope.captured.size(); ++i) {
            outer.push_back(scope.captured[i].first);
            scope.inputs.push_back(scope.captured[i].second->tensor);
            scope.outputs.push_back(outputOf(c, scope.captured[i].second));
        }
        scope.outputs.insert(scope.outputs.end(), scanned.begin(), scanned.end());
        inside.keep();
        c.b.enter(*scope.outer);
        c.b.setName(name);
        wire::WhileParamT table;
        table.body_graph = scope.name;
        std::vector<V> inputs{limit, condition};
        inputs.insert(inputs.end(), initial.begin(), initial.end());
        inputs.insert(inputs.end(), outer.begin(), outer.end());
        std::vector<Output> results;
        for (size_t i = 0; i < count; ++i) results.push_back({dims[i], initial[i]->type});
        for (const V value : outer) results.push_back({value->dims, value->type});
        const std::array<Dims, kProbes> rounds =
            limit->constant && !made.condition
                ? std::array<Dims, kProbes>{Dims{limit->array().intAt(0)}, Dims{limit->array().intAt(0)}}
                : c.b.openDims({-1});
        for (const V value : made.scanned) {
            std::array<Dims, kProbes> stacked = value->dims;
            for (size_t p = 0; p < kProbes; ++p) stacked[p].insert(stacked[p].begin(), rounds[p][0]);
            results.push_back({stacked, value->type});
        }
        const std::vector<V> outputs = c.b.given(OpType::While, table, inputs, results);
        LoopResult loop;
        for (size_t i = 0; i < count; ++i) loop.finals.push_back(c.b.alias(outputs[i], initial[i]->elem));
        for (size_t i = 0; i < made.scanned.size(); ++i)
            loop.stacks.push_back(c.b.alias(outputs[count + outer.size() + i], made.scanned[i]->elem));
        return loop;
    }
    refuse("the extents of what it carries do not settle");
}

}  // namespace mnnc::onnx
