#include "rewrite/fusion.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <unordered_map>

#include "ops/activation.h"
#include "ops/binary.h"
#include "ops/unary.h"
#include "rewrite/elementwise_chain.h"
#include "rewrite/pointwise_depthwise.h"
#include "rewrite/raster_through.h"
#include "rewrite/resized_convolution.h"
#include "tensor/region_check.h"

namespace mnnc {

namespace {

constexpr size_t kNone = SIZE_MAX;
// Numbers of the wire format.
enum BinaryCode : int { kAdd = 0, kSub = 1, kMul = 2, kRealDiv = 7 };
enum UnaryCode : int {
    kSigmoid = 29,
    kTanh = 30,
    kHardSwish = 31,
    kGelu = 32,
    kGeluStandard = 33,
    kSilu = 34
};

bool isNear(float a, float b) {
    return std::fabs(a - b) <= 1e-6f;
}

class Fusion {
  public:
    Fusion(const std::vector<Command*>& commands, const Backend& backend,
           const std::function<bool(const Tensor*)>& kept, std::vector<size_t> owners)
        : commands_(commands), backend_(backend), kept_(kept), owner_(std::move(owners)) {
        for (size_t i = 0; i < commands.size(); ++i) {
            if (!alive(i)) continue;
            for (const Tensor* output : commands[i]->outputs) {
                Use& use = uses_[output];
                use.maker = use.makers++ == 0 ? i : kNone;
            }
            for (const Tensor* input : commands[i]->inputs) addReader(input, i);
        }
    }

    std::vector<size_t> run() {
        for (size_t i = 0; i < commands_.size(); ++i) recogniseHardSwish(i);
        for (size_t i = 0; i < commands_.size(); ++i) recogniseSilu(i);
        for (size_t i = 0; i < commands_.size(); ++i)
            if (alive(i)) extend(i);
        return owner_;
    }

  private:
    struct Use {
        size_t maker = kNone;  // kNone: none, or several
        int makers = 0, readers = 0;
        size_t readerSum = 0;  // of the readers' indices: of one reader its index
    };

    void addReader(const Tensor* tensor, size_t i) {
        Use& use = uses_[tensor];
        ++use.readers;
        use.readerSum += i;
    }
    void dropReader(const Tensor* tensor, size_t i) {
        Use& use = uses_[tensor];
        --use.readers;
        use.readerSum -= i;
    }
    void absorb(size_t i, size_t by) {
        owner_[i] = by;
        for (const Tensor* input : commands_[i]->inputs) dropReader(input, i);
    }

    bool alive(size_t i) const { return owner_[i] == i; }
    Tensor* out(size_t i) const { return commands_[i]->outputs[0]; }

    // The command that alone reads what command i makes, when nobody else needs it.
    size_t next(size_t i) const {
        if (commands_[i]->outputs.size() != 1) return kNone;
        const Use& use = uses_.at(out(i));
        if (use.makers != 1 || use.readers != 1 || use.readerSum <= i || kept_(out(i))) return kNone;
        return use.readerSum;
    }

    const BinaryParams* binary(size_t i) const {
        const Command& command = *commands_[i];
        if (command.type != OpType::BinaryOp || command.inputs.size() != 2 ||
            out(i)->type != DataType::Float32 || command.inputs[0]->type != DataType::Float32)
            return nullptr;
        return command.paramsAs<BinaryParams>();
    }
    bool multiplies(size_t i, const Tensor* a, const Tensor* b) const {
        const BinaryParams* params = binary(i);
        if (!params || params->code != kMul || params->relu) return false;
        const auto& inputs = commands_[i]->inputs;
        return (inputs[0] == a && inputs[1] == b) || (inputs[0] == b && inputs[1] == a);
    }

    // y = factor x + term
    struct Linear {
        Tensor* x = nullptr;
        float factor = 1, term = 0;
    };
    // A sum or product with one known number.
    std::optional<Linear> linear(size_t i) const {
        const BinaryParams* params = binary(i);
        if (!params || params->relu) return {};
        const auto& inputs = commands_[i]->inputs;
        for (const size_t at : {size_t{1}, size_t{0}}) {
            const Tensor& number = *inputs[at];
            Tensor* x = inputs[1 - at];
            if (!number.contentKnown || number.pack != 1 || number.elements() != 1 ||
                !(x->shape == out(i)->shape))
                continue;
            const float value = *number.as<const float>();
            switch (params->code) {
                case kAdd:
                    return Linear{x, 1, value};
                case kMul:
                    return Linear{x, value, 0};
                case kSub:
                    if (at == 1) return Linear{x, 1, -value};
                    break;
                case kRealDiv:
                    if (at == 1) return Linear{x, 1 / value, 0};
                    break;
                default:
                    break;
            }
        }
        return {};
    }

    // clip(x / 6 + 1 / 2, 0, 1), perhaps times x, however the factors are spread.
    struct HardAct {
        Tensor* x = nullptr;
        bool timesX = false;
        std::vector<size_t> steps;  // the commands, the last one makes the result
    };
    // The longest such chain that begins with command i; no steps: none.
    HardAct hardAct(size_t i) const {
        HardAct chain, found;
        float factor = 1, term = 0, lo = 0, hi = 0;
        bool clipped = false;
        for (size_t at = i; at != kNone && chain.steps.size() < 8; at = next(at)) {
            const Tensor* before = chain.steps.empty() ? nullptr : out(chain.steps.back());
            const std::optional<Linear> step = linear(at);
            if (step && (!before || step->x == before)) {
                if (!before) chain.x = step->x;
                if (clipped && step->term != 0) break;
                factor *= step->factor;
                term = term * step->factor + step->term;
                lo *= step->factor;
                hi *= step->factor;
            } else if (before && !clipped && commands_[at]->type == OpType::ReLU6) {
                const auto* clip = commands_[at]->paramsAs<ClipParams>();
                lo = clip->lo;
                hi = clip->hi;
                clipped = true;
            } else if (clipped && !chain.timesX && multiplies(at, chain.x, before)) {
                chain.timesX = true;
            } else {
                break;
            }
            chain.steps.push_back(at);
            if (clipped && isNear(factor, 1.0f / 6.0f) && isNear(term, 0.5f) && isNear(lo, 0) &&
                isNear(hi, 1))
                found = chain;
        }
        return found;
    }

    // x -> f(x) as one command at the place of the last of `steps`.
    void becomeUnary(const std::vector<size_t>& steps, Tensor* x, int code) {
        auto params = std::make_shared<UnaryParams>();
        params->code = code;
        const size_t last = steps.back();
        for (const size_t i : steps)
            if (i != last) absorb(i, last);
        Command& command = *commands_[last];
        for (const Tensor* input : command.inputs) dropReader(input, last);
        command.type = OpType::UnaryOp;
        command.params = std::move(params);
        command.inputs = {x};
        addReader(x, last);
    }

    void recogniseHardSwish(size_t i) {
        if (!alive(i)) return;
        const HardAct chain = hardAct(i);
        if (chain.timesX) becomeUnary(chain.steps, chain.x, kHardSwish);
    }

    void recogniseSilu(size_t i) {
        if (!alive(i) || commands_[i]->type != OpType::UnaryOp ||
            commands_[i]->paramsAs<UnaryParams>()->code != kSigmoid)
            return;
        const size_t multiply = next(i);
        Tensor* x = commands_[i]->inputs[0];
        if (multiply != kNone && multiplies(multiply, x, out(i))) becomeUnary({i, multiply}, x, kSilu);
    }

    static std::optional<Act> actOf(const Command& command) {
        if (command.type != OpType::UnaryOp) return {};
        switch (command.paramsAs<UnaryParams>()->code) {
            case kSigmoid:
                return Act::Sigmoid;
            case kTanh:
                return Act::Tanh;
            case kHardSwish:
                return Act::HardSwish;
            case kGelu:
            case kGeluStandard:
                return Act::Gelu;
            case kSilu:
                return Act::Silu;
            default:
                return {};
        }
    }

    // Takes what follows into the epilogue of command i, as long as the backend does.
    void extend(size_t i) {
        Command& command = *commands_[i];
        if (command.outputs.size() != 1 || out(i)->type != DataType::Float32) return;
        if (!backend_.canFuse(command)) return;
        if (command.type == OpType::MatMul || command.type == OpType::BatchMatMul)
            for (size_t k = 0; k < 2 && k < command.inputs.size(); ++k) readThroughRasters(i, k);
        while (takeHardSigmoid(i) || takeRenamedSum(i) || takeNext(i)) {
        }
    }

    // Lets operand k of command i be read where the Rasters before it would have copied it from.
    void readThroughRasters(size_t i, size_t k) {
        Command wanted = *commands_[i];
        if (wanted.views.empty())
            for (const Tensor* input : wanted.inputs) wanted.views.push_back(OperandView::of(input->shape));
        std::vector<size_t> passed;
        for (;;) {
            Tensor* made = wanted.inputs[k];
            const size_t maker = uses_.at(made).maker;
            if (maker == kNone || maker >= i || !alive(maker)) return;
            const Command& raster = *commands_[maker];
            if (raster.type != OpType::Raster || raster.inputs.size() != 1 || raster.regions.size() != 1 ||
                raster.inputs[0]->type != DataType::Float32 || made->type != DataType::Float32)
                return;
            // Read by command i alone, or by the Raster that was just passed.
            if (next(maker) != (passed.empty() ? i : passed.back())) return;
            const std::optional<OperandView> view =
                wanted.views[k].through(raster.regions[0], made->elements());
            if (!view) return;
            wanted.views[k] = *view;
            wanted.inputs[k] = raster.inputs[0];
            passed.push_back(maker);
            if (!backend_.canFuse(wanted)) continue;
            dropReader(commands_[i]->inputs[k], i);
            addReader(wanted.inputs[k], i);
            *commands_[i] = wanted;
            for (const size_t one : passed) absorb(one, i);
            passed.clear();
        }
    }

    bool takeHardSigmoid(size_t i) {
        const size_t after = next(i);
        const HardAct chain = after == kNone ? HardAct() : hardAct(after);
        Command wanted = *commands_[i];
        if (chain.steps.empty() || chain.x != out(i) || chain.timesX || wanted.epilogue.act != Act::None ||
            wanted.epilogue.clips())
            return false;
        wanted.epilogue.act = Act::HardSigmoid;
        wanted.outputs = commands_[chain.steps.back()]->outputs;
        return accept(i, std::move(wanted), chain.steps);
    }

    // Whether command i is a copy of everything in order, of floats: another shape for the same elements.
    bool renames(size_t i) const {
        const Command& command = *commands_[i];
        return command.type == OpType::Raster && command.inputs.size() == 1 &&
               command.inputs[0]->type == DataType::Float32 && out(i)->type == DataType::Float32 &&
               command.inputs[0]->elements() == out(i)->elements() &&
               isIdentity(command.regions, out(i)->elements());
    }

    // A sum behind a change of shape is taken before it: the residual is read in its own shape. Only where both
    // shapes are the same bytes however they are stored, else the residual would have to be copied.
    bool takeRenamedSum(size_t i) {
        constexpr int kMostLanes = 16;
        const Tensor& made = *out(i);
        size_t copy = next(i);
        if (copy == kNone || commands_[i]->epilogue.any() || made.format == Format::NHWC ||
            made.shape.rank() < 2 || made.plane() != 1 || made.shape[1] % kMostLanes != 0)
            return false;
        size_t after = copy;
        for (; after != kNone && renames(after); after = next(after)) copy = after;
        const BinaryParams* sum = after == kNone || after == copy ? nullptr : binary(after);
        if (!sum || sum->code != kAdd) return false;
        const Command& follower = *commands_[after];
        Tensor* other = follower.inputs[follower.inputs[0] == out(copy) ? 1 : 0];
        if (other == out(copy) || !(other->shape == out(copy)->shape) || other->format != out(copy)->format ||
            !(out(after)->shape == other->shape) || other->type != DataType::Float32 || !madeBefore(other, i))
            return false;
        Command wanted = *commands_[i];
        wanted.epilogue.residual = true;
        if (sum->relu) wanted.epilogue.lo = 0;
        wanted.inputs.push_back(other);
        if (!backend_.canFuse(wanted)) return false;
        *commands_[i] = std::move(wanted);
        absorb(after, i);
        addReader(other, i);
        commands_[copy]->outputs = follower.outputs;
        uses_[out(copy)].maker = copy;
        return true;
    }

    bool takeNext(size_t i) {
        const size_t after = next(i);
        if (after == kNone || !(out(after)->shape == out(i)->shape) ||
            commands_[after]->outputs.size() != 1 || commands_[after]->epilogue.any())
            return false;
        const Command& follower = *commands_[after];
        Command wanted = *commands_[i];
        Epilogue& epilogue = wanted.epilogue;
        wanted.outputs = follower.outputs;
        if (follower.type == OpType::ReLU && follower.paramsAs<ReluParams>()->slope == 0) {
            epilogue.lo = std::max(epilogue.lo, 0.0f);
            epilogue.hi = std::max(epilogue.hi, 0.0f);
        } else if (follower.type == OpType::ReLU6) {
            const auto* clip = follower.paramsAs<ClipParams>();
            if (!(clip->lo <= clip->hi)) return false;
            epilogue.lo = std::clamp(epilogue.lo, clip->lo, clip->hi);
            epilogue.hi = std::clamp(epilogue.hi, clip->lo, clip->hi);
        } else if (const std::optional<Act> act = actOf(follower)) {
            if (epilogue.act != Act::None || epilogue.clips()) return false;
            epilogue.act = *act;
        } else if (const BinaryParams* sum = binary(after); sum && sum->code == kAdd) {
            if (epilogue.any()) return false;
            Tensor* other = follower.inputs[follower.inputs[0] == out(i) ? 1 : 0];
            if (other == out(i) || !(other->shape == out(i)->shape) || other->format != out(i)->format ||
                other->type != DataType::Float32 || !madeBefore(other, i))
                return false;
            epilogue.residual = true;
            if (sum->relu) epilogue.lo = 0;
            wanted.inputs.push_back(other);
            if (!accept(i, std::move(wanted), {after})) return false;
            addReader(other, i);
            return true;
        } else {
            return false;
        }
        return accept(i, std::move(wanted), {after});
    }

    // Not by a command of the list that comes later.
    bool madeBefore(const Tensor* tensor, size_t i) const {
        const Use& use = uses_.at(tensor);
        return use.makers == 0 || (use.makers == 1 && use.maker < i);
    }

    bool accept(size_t i, Command wanted, const std::vector<size_t>& absorbed) {
        if (!backend_.canFuse(wanted)) return false;
        *commands_[i] = std::move(wanted);
        for (const size_t one : absorbed) absorb(one, i);
        uses_[out(i)].maker = i;
        return true;
    }

    const std::vector<Command*>& commands_;
    const Backend& backend_;
    const std::function<bool(const Tensor*)>& kept_;
    std::vector<size_t> owner_;
    std::unordered_map<const Tensor*, Use> uses_;
};

}  // namespace

std::vector<size_t> fuseCommands(const std::vector<Command*>& commands, const Backend& backend,
                                 const std::function<bool(const Tensor*)>& kept) {
    std::vector<size_t> owners(commands.size());
    std::iota(owners.begin(), owners.end(), size_t{0});
    readThroughRasters(commands, kept, owners);
    owners = Fusion(commands, backend, kept, std::move(owners)).run();
    joinPointwiseDepthwise(commands, backend, kept, owners);
    joinResizedConvolution(commands, backend, kept, owners);
    chainElementwise(commands, backend, kept, owners);
    return owners;
}

}  // namespace mnnc
