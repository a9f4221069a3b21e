// Writes loops as While operators, and unrolls those that carry sequences.
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
    if (rounds > kMaxRounds)
        refuse("it carries a sequence, and its number of rounds is unknown or above %d", static_cast<int>(kMaxRounds));
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

// The carried values before each round: the extents that a round changes are open, and those that it gives by chance
// are in doubt.
using Carried = std::vector<Output>;

enum class Change { None, Doubt, Extent };

// Opens the extents that a round changes, for the next attempt, and notes those that come into doubt. Extents that were
// free before the loop get other numbers once: behind it they differ from the extents in front of it.
Change noteChanges(Call& c, const Round& made, bool firstAttempt, Carried& carried) {
    Change found = Change::None;
    for (size_t i = 0; i < carried.size(); ++i) {
        V value = made.carried.at(i);
        auto& [dims, type, chance] = carried[i];
        if (value->isSequence) refuse("it carries a sequence");
        if (value->rank() != dims[0].size())
            refuse("a value that it carries has rank %zu before a round and rank %zu behind it", dims[0].size(),
                   value->rank());
        if (value->type != type) refuse("a value that it carries changes its type");
        chance.resize(value->rank());
        for (size_t axis = 0; axis < value->rank(); ++axis) {
            const bool wasFree = dims[0][axis] != dims[1][axis];
            if (value->dims[0][axis] == dims[0][axis] && value->dims[1][axis] == dims[1][axis]) {
                if (wasFree || chance[axis] || value->fixed(axis)) continue;
                chance[axis] = true;
                found = std::max(found, Change::Doubt);
            } else {
                if (wasFree && !firstAttempt) continue;
                const auto open = c.b.openDims({-1});
                for (size_t p = 0; p < kProbes; ++p) dims[p][axis] = open[p][0];
                found = Change::Extent;
            }
        }
        if (std::find(chance.begin(), chance.end(), true) == chance.end()) chance.clear();
    }
    return found;
}

// The extents of a list with an element for each round: at most `limit` of them.
std::array<Dims, kProbes> roundsOf(Call& c, const Value& limit, bool ends) {
    const auto& [first, second] = limit.content;
    // Numbers of a run that are equal in both probes may be so by chance.
    if (ends || !first || !second || (!limit.constant && first->intAt(0) == second->intAt(0)))
        return c.b.openDims({-1});
    return {Dims{std::max<int64_t>(first->intAt(0), 0)}, Dims{std::max<int64_t>(second->intAt(0), 0)}};
}

// The formal inputs of a body.
struct LoopInputs {
    V iteration = nullptr, goesOn = nullptr;
    std::vector<V> carried;
};

// Sets the inputs and outputs of a body. Returns the outer values that it captures, which are carried unchanged.
std::vector<V> closeBody(Call& c, Scope& scope, const LoopInputs& formal, const Round& made) {
    scope.inputs = {formal.iteration->tensor, formal.goesOn->tensor};
    for (const V value : formal.carried) scope.inputs.push_back(value->tensor);
    scope.outputs = {outputOf(c, made.condition ? made.condition : formal.goesOn)};
    for (const V value : made.carried) scope.outputs.push_back(outputOf(c, value));
    std::vector<int> scanned;
    for (const V value : made.scanned) scanned.push_back(outputOf(c, value));
    std::vector<V> outer;
    for (size_t i = 0; i < scope.captured.size(); ++i) {
        outer.push_back(scope.captured[i].first);
        scope.inputs.push_back(scope.captured[i].second->tensor);
        scope.outputs.push_back(outputOf(c, scope.captured[i].second));
    }
    scope.outputs.insert(scope.outputs.end(), scanned.begin(), scanned.end());
    return outer;
}

// Adds the While of a finished body. outer: the values that the body captures.
LoopResult addWhile(Call& c, const Scope& body, V limit, V condition, const std::vector<V>& initial,
                    const std::vector<V>& outer, const Carried& carried, const Round& made) {
    wire::WhileParamT table;
    table.body_graph = body.name;
    std::vector<V> inputs{limit, condition};
    inputs.insert(inputs.end(), initial.begin(), initial.end());
    inputs.insert(inputs.end(), outer.begin(), outer.end());
    std::vector<Output> results = carried;
    for (const V value : outer) results.push_back({value->dims, value->type});
    const std::array<Dims, kProbes> rounds = roundsOf(c, *limit, made.condition != nullptr);
    for (const V value : made.scanned) {
        Output stack{value->dims, value->type, value->chance};
        for (size_t p = 0; p < kProbes; ++p) stack.dims[p].insert(stack.dims[p].begin(), rounds[p][0]);
        if (!stack.chance.empty()) stack.chance.insert(stack.chance.begin(), false);
        results.push_back(stack);
    }
    const std::vector<V> outputs = c.b.given(OpType::While, table, inputs, results);
    LoopResult loop;
    for (size_t i = 0; i < initial.size(); ++i) loop.finals.push_back(c.b.alias(outputs[i], initial[i]->elem));
    for (size_t i = 0; i < made.scanned.size(); ++i)
        loop.stacks.push_back(c.b.alias(outputs[initial.size() + outer.size() + i], made.scanned[i]->elem));
    return loop;
}

}  // namespace

LoopResult writeLoop(Call& c, V limit, V condition, std::vector<V> initial, const MakeRound& round) {
    constexpr int kMaxChanges = 4;
    const std::string name = c.b.name();
    if (std::any_of(initial.begin(), initial.end(), [](const V value) { return value->isSequence; }))
        return unrolled(c, limit, condition, std::move(initial), round);
    Carried carried;
    for (const V value : initial) carried.push_back({value->dims, value->type, value->chance});
    // Extents that change from round to round are free in the body; each attempt may find more of them, or pass a doubt
    // on from one carried value to the next. Doubts never go, so that they end with the last axis.
    int changes = 0, doubts = 0;
    while (changes < kMaxChanges) {
        Inside inside(c.b, c.b.scopeName("body"));
        LoopInputs formal;
        formal.iteration = c.b.input("iteration", Elem::Int64, {});
        formal.goesOn = c.b.input("condition", Elem::Bool, {});
        for (size_t i = 0; i < initial.size(); ++i)
            formal.carried.push_back(
                c.b.input("carried_" + std::to_string(i), initial[i]->elem, carried[i].dims, carried[i].chance));
        const Round made = round(formal.iteration, formal.goesOn, formal.carried);
        const Change change = noteChanges(c, made, changes + doubts == 0, carried);
        changes += change == Change::Extent;
        doubts += change == Change::Doubt;
        if (change != Change::None) continue;
        Scope& body = inside.scope();
        c.b.setName(body.name);
        const std::vector<V> outer = closeBody(c, body, formal, made);
        inside.keep();
        c.b.enter(*body.outer);
        c.b.setName(name);
        return addWhile(c, body, limit, condition, initial, outer, carried, made);
    }
    refuse("the shapes of its carried values still change after %d attempts", changes + doubts);
}

}  // namespace mnnc::onnx
