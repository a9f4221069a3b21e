// Group convolutions as a dense convolution for each group, with whichever implementation is the fastest for its shape,
// for example Winograd's algorithm for 3x3. One group at a time reads less memory than all of them together.
#include <algorithm>
#include <limits>
#include <memory>

#include "backends/cpu/kernels/chunks.h"
#include "backends/cpu/kernels/conv/conv_cost.h"
#include "backends/cpu/kernels/conv/conv_implementations.h"
#include "backends/cpu/kernels/conv_packing.h"
#include "base/checked.h"
#include "base/error.h"

namespace mnnc {
namespace {

// The weights that a model may have in a group convolution. Winograd's algorithm stores them four to seven times as
// large.
constexpr int64_t kMaxWeightBytes = 8 << 20;
constexpr int64_t kLine = 64;  // bytes

// Returns the shape of a group of one image.
ConvShape groupOf(const ConvShape& s, int groups) {
    ConvShape group = s;
    group.batch = 1;
    group.ic /= groups;
    group.oc /= groups;
    return group;
}

// Returns whether each thread takes groups of its own. Otherwise threads divide the work of one group after the other.
bool threadsTakeGroups(int tasks, int threads) {
    return tasks >= 4 * threads || tasks % threads == 0;
}

ConvOptions groupOptions(const ConvShape& s, const ConvOptions& options) {
    ConvOptions own;
    own.threads = threadsTakeGroups(s.batch * options.groups, options.threads) ? 1 : options.threads;
    own.transposed = options.transposed;
    own.packedInRuns = options.packedInRuns;
    return own;
}

class SeparateGroupsPlan final : public ConvPlan, FloatWeightPacker {
  public:
    SeparateGroupsPlan(const Kernels& k, const ConvShape& s, const ConvOptions& options)
        : k_(k),
          group_(groupOf(s, options.groups)),
          groups_(options.groups),
          tasks_(s.batch * groups_),
          threadsTakeGroups_(threadsTakeGroups(tasks_, options.threads)),
          plan_(makePlan(k, group_, groupOptions(s, options))),
          packedBytes_(roundUp(plan_->packedWeightBytes(), kLine)),
          scratchBytes_(roundUp(plan_->scratchBytes(1), kLine)) {}

    std::string algorithm() const override { return "separate " + plan_->algorithm(); }
    int64_t packedWeightBytes() const override { return checkedMul(packedBytes_, groups_, "packed weights"); }
    std::string weightVariant() const override { return format("separate%d.", groups_) + plan_->weightVariant(); }
    const FloatWeightPacker* floatPacker() const override { return this; }
    bool addsInPlace() const override { return plan_->addsInPlace(); }

    int64_t scratchBytes(int threads) const override {
        if (!threadsTakeGroups_) return plan_->scratchBytes(threads);
        return checkedMul(scratchBytes_, std::clamp(threads, 1, tasks_), "scratch");
    }

    void run(const float* src, const void* packed, float* dst, const PostOps& post, void* scratch,
             ThreadPool& pool) const override {
        const ConvShape& s = group_;
        const size_t in = size_t(s.ic) * s.ih * s.iw, out = size_t(s.oc) * s.oh * s.ow;
        const auto runGroup = [&](int i, void* memory, ThreadPool& own) {
            const int group = i % groups_;
            PostOps ops = post;
            ops.bias += ptrdiff_t(group) * s.oc;
            if (ops.residual) ops.residual += i * out;
            plan_->run(src + i * in, static_cast<const char*>(packed) + group * packedBytes_, dst + i * out, ops,
                       memory, own);
        };
        if (!threadsTakeGroups_) {
            for (int i = 0; i < tasks_; ++i) runGroup(i, scratch, pool);
            return;
        }
        parallelSlots(pool, tasks_, [&](int slot, int i) {
            InlinePool alone;
            runGroup(i, static_cast<char*>(scratch) + slot * scratchBytes_, alone);
        });
    }

  private:
    static std::unique_ptr<ConvPlan> makePlan(const Kernels& k, const ConvShape& group, const ConvOptions& options) {
        return chooseConv(k, group, options).make(k, group, options);
    }

    void packFloats(const WeightReader& weights, void* packed, ThreadPool& pool) const override {
        const size_t each = size_t(group_.oc) * group_.ic * group_.kh * group_.kw;
        packInChunks(
            k_, pool, groups_, weights, [&](int i) { return (i + 1) * each; },
            [&](int i, const float* own) {
                InlinePool alone;
                plan_->packWeights(own, static_cast<char*>(packed) + i * packedBytes_, alone);
            });
    }

    const Kernels& k_;
    const ConvShape group_;
    const int groups_, tasks_;
    const bool threadsTakeGroups_;
    const std::unique_ptr<ConvPlan> plan_;
    const int64_t packedBytes_, scratchBytes_;  // of a group
};

// With memory Low, weights must not grow. One packing may not depend on the map, but a group's implementation does.
bool acceptsSeparateGroups(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    if (options.groups < 2 || options.srcNchw || options.lowMemory || options.onePacking ||
        options.algorithm != ConvAlgorithm::Auto || !fillsVectors(k, s, options.groups))
        return false;
    const double weights = double(s.ic) / options.groups * s.oc * s.kh * s.kw;
    return weights * sizeof(float) <= kMaxWeightBytes &&
           int64_t{s.batch} * options.groups <= std::numeric_limits<int>::max();
}

double separateGroupsCycles(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    const ConvShape group = groupOf(s, options.groups);
    const ConvOptions own = groupOptions(s, options);
    return double(s.batch) * options.groups * chooseConv(k, group, own).cycles(k, group, own);
}

std::unique_ptr<ConvPlan> makeSeparateGroups(const Kernels& k, const ConvShape& s, const ConvOptions& options) {
    return std::make_unique<SeparateGroupsPlan>(k, s, options);
}

}  // namespace

const ConvImplementation kSeparateGroupsConv{"separate_groups", acceptsSeparateGroups, separateGroupsCycles,
                                             makeSeparateGroups, true};

}  // namespace mnnc
