// Ensembles of trees. The nodes of all trees lie in one table, and all rows descend all trees at once: each round
// compares a feature with a threshold and looks up the next node. A leaf is its own successor, so that every path takes
// as many rounds as the longest one.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/checked.h"
#include "base/error.h"
#include "learned.h"

namespace mnnc::onnx {
namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();
constexpr int kMaxTreeRounds = 1000;  // each of them adds six operators

// A comparison, feature <= threshold, and its two successors, which are the step itself for a leaf.
struct TreeStep {
    int64_t feature = 0;
    float threshold = 0;
    bool below = false;       // feature < threshold, in place of <=
    bool missingYes = false;  // whether the comparison holds for a missing value
    size_t yes = 0, no = 0;
    int64_t leaf = -1;  // the number of a leaf
    int64_t tree = 0;
};

struct Forest {
    std::vector<TreeStep> steps;
    std::vector<size_t> roots;
    std::map<std::pair<int64_t, int64_t>, size_t> places;  // of nodes, by tree and node
    std::map<int64_t, int64_t> trees;                      // the number of a tree, by its name
    int64_t leaves = 0;

    size_t at(int64_t tree, int64_t node) const {
        if (const auto place = places.find({tree, node}); place != places.end()) return place->second;
        fail(Status::BadFormat, "tree %lld has no node %lld", asLong(tree), asLong(node));
    }
};

// A list of floats, which may be a tensor from opset 3 on.
std::vector<float> floatsOf(Call& c, const std::string& name) {
    const ArrayPtr tensor = c.tensor(name + "_as_tensor");
    if (!tensor) return c.reals(name);
    if (tensor->type != DataType::DT_FLOAT) fail(Status::BadFormat, "%s has no floats", name.c_str());
    return tensor->allFloats();
}

std::vector<int64_t> integersOf(Call& c, const std::string& name, size_t count) {
    std::vector<int64_t> list = c.integers(name).value_or(std::vector<int64_t>());
    requireCount(name.c_str(), list.size(), static_cast<int64_t>(count));
    return list;
}

void readPlaces(Call& c, Forest& forest, const std::vector<int64_t>& trees) {
    const std::vector<int64_t> nodes = integersOf(c, "nodes_nodeids", trees.size());
    for (size_t i = 0; i < trees.size(); ++i) {
        if (i == 0 || trees[i] != trees[i - 1]) {
            if (!forest.trees.emplace(trees[i], static_cast<int64_t>(forest.roots.size())).second)
                refuse("the nodes of tree %lld do not follow one another", asLong(trees[i]));
            forest.roots.push_back(i);
        }
        if (!forest.places.emplace(std::pair(trees[i], nodes[i]), i).second)
            fail(Status::BadFormat, "tree %lld has two nodes %lld", asLong(trees[i]), asLong(nodes[i]));
    }
}

// The largest number below x. Numbers that a processor may take for 0 are left out.
float nextBelow(float x) {
    const float smallest = std::numeric_limits<float>::min();
    if (x > 0 && x <= smallest) return 0;
    if (x <= 0 && x > -smallest) return -smallest;
    return std::nextafter(x, -kInfinite);
}

// Rewrites a node's comparison as one or two by <= or <. missingHolds: whether the node's comparison holds for a
// missing value.
void setComparison(Forest& forest, size_t at, const std::string& mode, bool missingHolds) {
    TreeStep& step = forest.steps[at];
    const bool swaps = mode == "BRANCH_GT" || mode == "BRANCH_GTE" || mode == "BRANCH_NEQ";
    if (mode == "BRANCH_NEQ") missingHolds = true;
    if (swaps) std::swap(step.yes, step.no);
    step.missingYes = missingHolds != swaps;
    step.below = mode == "BRANCH_LT" || mode == "BRANCH_GTE";
    if (mode == "BRANCH_LEQ" || mode == "BRANCH_GT" || step.below) return;
    if (mode != "BRANCH_EQ" && mode != "BRANCH_NEQ")
        refuse("the mode '%s' is not implemented", mode.substr(0, 40).c_str());
    // x == t: x <= t, and then not x < t.
    TreeStep second = step;
    std::swap(second.yes, second.no);
    second.below = true;
    second.missingYes = false;
    step.yes = forest.steps.size();
    forest.steps.push_back(second);
}

// Leaves one kind of comparison: x < t is x <= the number below t.
void unifyComparisons(Forest& forest) {
    bool anyBelow = false, allBelow = true;
    for (const TreeStep& step : forest.steps) {
        if (step.leaf >= 0) continue;
        anyBelow = anyBelow || step.below;
        allBelow = allBelow && step.below;
        if (step.below && step.threshold == -kInfinite) refuse("a feature must be below minus infinity");
    }
    for (TreeStep& step : forest.steps) {
        if (step.below && !allBelow) step.threshold = nextBelow(step.threshold);
        step.below = anyBelow && allBelow;
    }
}

Forest readForest(Call& c) {
    Forest forest;
    const std::vector<int64_t> trees = c.integers("nodes_treeids").value_or(std::vector<int64_t>());
    const size_t count = trees.size();
    if (count == 0) fail(Status::BadFormat, "it has no nodes");
    const auto modes = c.texts("nodes_modes");
    const std::vector<float> values = floatsOf(c, "nodes_values");
    const std::vector<int64_t> features = integersOf(c, "nodes_featureids", count),
                               yes = integersOf(c, "nodes_truenodeids", count),
                               no = integersOf(c, "nodes_falsenodeids", count);
    auto missing = c.integers("nodes_missing_value_tracks_true").value_or(std::vector<int64_t>());
    if (missing.empty()) missing.assign(count, 0);
    requireCount("nodes_missing_value_tracks_true", missing.size(), static_cast<int64_t>(count));
    requireCount("nodes_modes", modes.size(), static_cast<int64_t>(count));
    requireCount("nodes_values", values.size(), static_cast<int64_t>(count));
    readPlaces(c, forest, trees);
    forest.steps.resize(count);
    for (size_t i = 0; i < count; ++i) {
        TreeStep& step = forest.steps[i];
        step.tree = forest.trees[trees[i]];
        step.yes = step.no = i;
        if (modes[i] == "LEAF") {
            step.leaf = forest.leaves++;
            continue;
        }
        step.feature = features[i];
        step.threshold = values[i];
        if (std::isnan(step.threshold)) refuse("a threshold is NaN");
        step.yes = forest.at(trees[i], yes[i]);
        step.no = forest.at(trees[i], no[i]);
        setComparison(forest, i, modes[i], missing[i] != 0);
    }
    if (forest.leaves == 0) fail(Status::BadFormat, "its trees have no leaves");
    unifyComparisons(forest);
    return forest;
}

// Returns the number of comparisons on the longest path from a root to a leaf.
int32_t longestPath(const Forest& forest) {
    constexpr int32_t kUnseen = -1, kOpen = -2;
    std::vector<int32_t> heights(forest.steps.size(), kUnseen);
    std::vector<size_t> open = forest.roots;
    while (!open.empty()) {
        const size_t at = open.back();
        const TreeStep& step = forest.steps[at];
        int32_t& height = heights[at];
        if (step.leaf >= 0) height = 0;
        if (height == kUnseen) {
            height = kOpen;
            for (const size_t next : {step.yes, step.no}) {
                if (heights[next] == kOpen) fail(Status::BadFormat, "the nodes of a tree lead back to one another");
                if (heights[next] == kUnseen) open.push_back(next);
            }
            continue;
        }
        if (height == kOpen) height = 1 + std::max(heights[step.yes], heights[step.no]);
        open.pop_back();
    }
    int32_t longest = 0;
    for (const size_t root : forest.roots) longest = std::max(longest, heights[root]);
    return longest;
}

// Returns the columns of features: those of x, and after them a copy with minus infinity in place of missing values.
// The steps whose comparison holds for a missing value read the copy.
V columnsOf(Call& c, V x, Forest& forest) {
    const int64_t count = x->extent(1);
    bool any = false, all = true;
    for (const TreeStep& step : forest.steps) {
        if (step.leaf >= 0) continue;
        if (step.feature < 0 || step.feature >= count)
            fail(Status::BadRange, "a node reads feature %lld of %lld", asLong(step.feature), asLong(count));
        any = any || step.missingYes;
        all = all && step.missingYes;
    }
    if (count < 1) fail(Status::BadRange, "its rows have no features");
    if (!any) return x;
    V replaced = select(c, isNumber(c, x), x, c.b.real(-kInfinite));
    if (all) return replaced;
    for (TreeStep& step : forest.steps)
        if (step.missingYes) step.feature += count;
    return concat(c, {x, replaced}, 1);
}

// The tables have two rows for each step, for a comparison that fails and for one that holds. Both have its feature,
// its threshold and the successor: twice the number of a step, or in the last round the number of a leaf.
struct Tables {
    std::vector<int32_t> features, next, leaves;
    std::vector<float> thresholds;
    explicit Tables(const Forest& forest) {
        const auto twice = [](size_t step) { return static_cast<int32_t>(2 * step); };
        for (const TreeStep& step : forest.steps) {
            features.insert(features.end(), 2, static_cast<int32_t>(step.feature));
            thresholds.insert(thresholds.end(), 2, step.threshold);
            next.insert(next.end(), {twice(step.no), twice(step.yes)});
            for (const size_t end : {step.no, step.yes})
                leaves.push_back(static_cast<int32_t>(std::max<int64_t>(forest.steps[end].leaf, 0)));
        }
    }
};

V tableOf(Call& c, const std::vector<int32_t>& numbers) {
    return c.b.constant(intArray({static_cast<int64_t>(numbers.size())}, numbers), Elem::Int64);
}

// The number of the leaf that each row reaches in each tree.
V leavesOf(Call& c, Forest& forest) {
    V x = columnsOf(c, rowsOf(c), forest);
    const int32_t rounds = std::max(longestPath(forest), 1);
    if (rounds > kMaxTreeRounds) refuse("its trees have %d levels; %d is the maximum", rounds, kMaxTreeRounds);
    c.b.requireRoom({8, static_cast<int64_t>(forest.steps.size())});
    const Tables tables(forest);
    V features = tableOf(c, tables.features), next = tableOf(c, tables.next), leaves = tableOf(c, tables.leaves);
    V thresholds =
        c.b.constant(floatArray({static_cast<int64_t>(tables.thresholds.size())}, tables.thresholds), Elem::Float);
    const Binary code = forest.steps[0].below ? Binary::LESS : Binary::LESS_EQUAL;
    std::vector<int32_t> first;
    for (const size_t root : forest.roots) first.push_back(static_cast<int32_t>(2 * root));
    V places = tableOf(c, first);
    for (int32_t i = 0; i < rounds; ++i) {
        V feature = gatherAxis(c, features, places, 0), threshold = gatherAxis(c, thresholds, places, 0);
        V value =
            i == 0 ? gatherAxis(c, x, feature, 1) : c.b.op(OpType::GatherElements, {}, {x, feature, c.b.scalar(1)});
        V holds = c.b.alias(compare(c, code, value, threshold), Elem::Int64);
        places = gatherAxis(c, i + 1 < rounds ? next : leaves, add(c, places, holds), 0);
    }
    return places;
}

enum class Aggregate { sum, average, min, max };

// The numbers that leaves add to the columns of the result.
struct LeafWeights {
    int64_t columns = 0;
    std::vector<float> values;
    std::vector<float> present;  // whether a leaf has a number for a column
    std::vector<int64_t> ids;    // of all weights
    bool anyNegative = false;
    // For each column, whether every row gets a number for it: a tree has one in all of its leaves.
    std::vector<bool> always;

    bool allAlways() const { return std::find(always.begin(), always.end(), false) == always.end(); }
};

void noteAlways(const Forest& forest, LeafWeights& weights) {
    const auto columns = static_cast<size_t>(weights.columns);
    std::vector<char> holes(forest.roots.size() * columns, 0);
    for (const TreeStep& step : forest.steps)
        for (size_t k = 0; step.leaf >= 0 && k < columns; ++k)
            if (weights.present[static_cast<size_t>(step.leaf) * columns + k] == 0)
                holes[static_cast<size_t>(step.tree) * columns + k] = 1;
    weights.always.assign(columns, false);
    for (size_t i = 0; i < holes.size(); ++i)
        if (!holes[i]) weights.always[i % columns] = true;
}

// If `one` is true, all weights belong to one column, and their ids do not matter.
LeafWeights readWeights(Call& c, const Forest& forest, const std::string& prefix, int64_t columns, Aggregate aggregate,
                        bool one = false) {
    LeafWeights weights;
    const std::vector<float> values = floatsOf(c, prefix + "_weights");
    const std::vector<int64_t> trees = integersOf(c, prefix + "_treeids", values.size()),
                               nodes = integersOf(c, prefix + "_nodeids", values.size());
    weights.ids = integersOf(c, prefix + "_ids", values.size());
    if (columns < 1) fail(Status::BadRange, "its results have %lld columns; 1 or more are needed", asLong(columns));
    weights.columns = columns;
    c.b.requireRoom({3, forest.leaves, columns});
    c.b.requireRoom({static_cast<int64_t>(forest.roots.size()), columns});
    const auto count = static_cast<size_t>(checkedMul(forest.leaves, columns, "weights"));
    // A leaf without a number counts as 0 for one column, and not at all for several.
    const float none = columns == 1                  ? 0.0f
                       : aggregate == Aggregate::min ? kInfinite
                       : aggregate == Aggregate::max ? -kInfinite
                                                     : 0.0f;
    weights.values.assign(count, none);
    weights.present.assign(count, 0);
    for (size_t i = 0; i < values.size(); ++i) {
        const int64_t id = one ? 0 : weights.ids[i], leaf = forest.steps[forest.at(trees[i], nodes[i])].leaf;
        if (id < 0 || id >= columns)
            fail(Status::BadRange, "a weight is for column %lld of %lld", asLong(id), asLong(columns));
        if (leaf < 0) continue;  // a node inside of a tree adds nothing
        weights.anyNegative = weights.anyNegative || values[i] < 0;
        const auto at = static_cast<size_t>(leaf * columns + id);
        if (weights.present[at] != 0) refuse("a leaf has two weights for column %lld", asLong(id));
        weights.values[at] = values[i];
        weights.present[at] = 1;
    }
    noteAlways(forest, weights);
    return weights;
}

// Looks up the numbers of the leaves of each row in a table, and reduces them over the trees: [rows, columns].
V overTrees(Call& c, V leaves, const std::vector<float>& table, int64_t columns, Reduction code) {
    const auto count = static_cast<int64_t>(table.size());
    if (columns == 1)
        return reduce(c, code, gatherAxis(c, c.b.constant(floatArray({count}, table), Elem::Float), leaves, 0), {1},
                      true);
    V rows = c.b.constant(floatArray({count / columns, columns}, table), Elem::Float);
    return reduce(c, code, gatherAxis(c, rows, leaves, 0), {1}, false);
}

V scored(Call& c, V leaves, const LeafWeights& weights) {
    return compare(c, Binary::GREATER, overTrees(c, leaves, weights.present, weights.columns, Reduction::MAXIMUM),
                   c.b.real(0));
}

std::vector<float> baseValues(Call& c, int64_t columns) {
    std::vector<float> base = floatsOf(c, "base_values");
    if (!base.empty()) requireCount("base_values", base.size(), columns);
    return base;
}

Aggregate aggregateOf(Call& c) {
    const std::string name = c.text("aggregate_function", "SUM");
    if (name == "SUM") return Aggregate::sum;
    if (name == "AVERAGE") return Aggregate::average;
    if (name == "MIN") return Aggregate::min;
    if (name == "MAX") return Aggregate::max;
    refuse("the aggregate_function '%s' is not implemented", name.substr(0, 40).c_str());
}

void emitTreeRegressor(Call& c) {
    Forest forest = readForest(c);
    const Aggregate aggregate = aggregateOf(c);
    const Transform transform = transformOf(c);
    const int64_t targets = c.integer("n_targets", 1);
    const LeafWeights weights = readWeights(c, forest, "target", targets, aggregate);
    const std::vector<float> base = baseValues(c, targets);
    V leaves = leavesOf(c, forest);
    const Reduction code = aggregate == Aggregate::min   ? Reduction::MINIMUM
                           : aggregate == Aggregate::max ? Reduction::MAXIMUM
                                                         : Reduction::SUM;
    V y = overTrees(c, leaves, weights.values, targets, code);
    if (aggregate == Aggregate::average) y = div(c, y, c.b.real(static_cast<float>(forest.roots.size())));
    V has = targets == 1 || weights.allAlways() ? nullptr : scored(c, leaves, weights);
    if (has && code != Reduction::SUM) y = select(c, has, y, c.b.real(0));
    if (!base.empty()) {
        V more = c.b.constant(floatArray({targets}, base), Elem::Float);
        // A target of several to which no leaf adds anything stays 0, as in onnxruntime.
        y = add(c, y, has ? select(c, has, more, c.b.real(0)) : more);
    }
    c.out(targets == 1 ? y : transformed(c, y, transform));
}

// A classifier of two classes whose weights all belong to one of them.
void emitTwoClasses(Call& c, Forest& forest, const std::vector<int64_t>& labels, int64_t id) {
    const Transform transform = transformOf(c);
    const LeafWeights weights = readWeights(c, forest, "class", 1, Aggregate::sum, true);
    const std::vector<float> base = baseValues(c, 1);
    if (id == 1 && !base.empty())
        refuse("base_values are not implemented where all weights belong to the second class");
    V score = overTrees(c, leavesOf(c, forest), weights.values, 1, Reduction::SUM);
    if (!base.empty()) score = add(c, score, c.b.real(base[0]));
    // Weights without a negative one sum to a probability.
    c.out(0, labelOfTwo(c, labels, compare(c, Binary::GREATER, score, c.b.real(weights.anyNegative ? 0.0f : 0.5f))));
    if (id == 1)
        c.out(1, transformed(c, padWith(c, score, {0, 1}, {0, 0}, 0), transform));
    else
        c.out(1, scoresOfBoth(c, score, transform, weights.anyNegative ? Other::negative : Other::rest));
}

void emitTreeClassifier(Call& c) {
    const std::vector<int64_t> labels = labelsOf(c, "classlabels_int64s", "classlabels_strings");
    const auto count = static_cast<int64_t>(labels.size());
    Forest forest = readForest(c);
    const std::vector<int64_t> ids = c.integers("class_ids").value_or(std::vector<int64_t>());
    const bool one = !ids.empty() && std::all_of(ids.begin(), ids.end(), [&](int64_t id) { return id == ids[0]; });
    if (count == 2 && one && (ids[0] == 0 || ids[0] == 1)) return emitTwoClasses(c, forest, labels, ids[0]);
    const Transform transform = transformOf(c);
    const LeafWeights weights = readWeights(c, forest, "class", count, Aggregate::sum);
    const std::vector<float> base = baseValues(c, count);
    V leaves = leavesOf(c, forest);
    V scores = overTrees(c, leaves, weights.values, count, Reduction::SUM), ranked = scores;
    if (!base.empty())
        scores = ranked = add(c, scores, c.b.constant(floatArray({count}, base), Elem::Float));
    else if (!weights.allAlways() && count > 2)  // as in onnxruntime, a class that no leaf scores is never the best
        ranked = select(c, scored(c, leaves, weights), scores, c.b.real(-kInfinite));
    c.out(0, labelOfBest(c, labels, ranked));
    c.out(1, transformed(c, scores, transform));
}

}  // namespace

constexpr Entry kLearnedTreesEntries[] = {
    {"TreeEnsembleClassifier", 1, kNewest, emitTreeClassifier, "GatherV2, GatherElements, BinaryOp, Reduction, ArgMax",
     "Labels that are text; rows whose width is free; trees of more than 1,000 levels; PROBIT.", kLearned},
    {"TreeEnsembleRegressor", 1, kNewest, emitTreeRegressor, "GatherV2, GatherElements, BinaryOp, Reduction",
     "Rows whose width is free; trees of more than 1,000 levels; PROBIT.", kLearned},
};
extern constinit const Family learnedTreesFamily = kLearnedTreesEntries;

}  // namespace mnnc::onnx
