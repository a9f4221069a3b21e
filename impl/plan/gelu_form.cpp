// Recognises GELU by tanh (Hendrycks and Gimpel, "Gaussian Error Linear Units", arXiv 1606.08415, section 2), which
// exporters write with five to nine operators in many orders: the operand of tanh is read as a polynomial of x, and the
// commands after it as (a + b tanh) x^k.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "plan/activation_forms.h"

namespace mnnc {

namespace {

using Id = CommandGraph::Id;
using Polynomial = std::array<double, 4>;  // coefficients by power

constexpr int kMaxDepth = 8;
constexpr double kSlope = 0.7978845608028654;  // sqrt(2 / pi)
constexpr double kCubic = kSlope * 0.044715;

bool isRelativelyNear(double a, double b) {
    return std::fabs(a - b) <= 1e-5 * std::max(1e-2, std::fabs(b));
}

std::optional<Polynomial> product(const Polynomial& a, const Polynomial& b) {
    Polynomial out{};
    for (size_t i = 0; i < a.size(); ++i)
        for (size_t j = 0; j < b.size(); ++j) {
            if (a[i] == 0 || b[j] == 0) continue;
            if (i + j >= out.size()) return {};
            out[i + j] += a[i] * b[j];
        }
    return out;
}

class GeluFinder {
  public:
    explicit GeluFinder(const CommandGraph& graph) : graph_(graph) {}

    UnaryForm find(Id tanh) {
        const std::optional<Polynomial> inner = polynomialOf(graph_.command(tanh).inputs[0], kMaxDepth);
        if (!inner || !x_ || (*inner)[0] != 0 || (*inner)[2] != 0 || !isRelativelyNear((*inner)[1], kSlope) ||
            !isRelativelyNear((*inner)[3], kCubic) || !(x_->shape == graph_.command(tanh).outputs[0]->shape))
            return {};
        steps_.push_back(tanh);
        return follow(tanh) ? UnaryForm{x_, std::move(steps_)} : UnaryForm{};
    }

  private:
    // x is the one tensor that several commands read.
    bool isLeaf(const Operand* tensor) const { return graph_.consumers(tensor).size() > 1 || graph_.isLiveOut(tensor); }
    static std::optional<Polynomial> number(const Operand& tensor) {
        if (!tensor.hasConstantValue || !tensor.values || tensor.channelBlock != 1 || tensor.elements() != 1 ||
            tensor.type != DataType::Float32)
            return {};
        return Polynomial{*tensor.known<float>()};
    }

    std::optional<Polynomial> polynomialOf(Operand* tensor, int depth) {
        if (const auto known = number(*tensor)) return known;
        const Id id = graph_.producer(tensor);
        if (isLeaf(tensor)) {
            if (x_ && x_ != tensor) return {};
            x_ = tensor;
            return Polynomial{0, 1};
        }
        const BinaryParams* params =
            id == CommandGraph::kNone || depth == 0 || graph_.isControl(id) ? nullptr : floatBinary(graph_.command(id));
        if (!params || params->relu || !graph_.command(id).views.empty()) return {};
        const auto& inputs = graph_.command(id).inputs;
        if (std::find(steps_.begin(), steps_.end(), id) != steps_.end()) return {};
        auto left = polynomialOf(inputs[0], depth - 1), right = polynomialOf(inputs[1], depth - 1);
        if (!left || !right) return {};
        steps_.push_back(id);
        switch (params->code) {
            case kBinaryMul:
                return product(*left, *right);
            case kBinaryAdd:
                for (size_t i = 0; i < left->size(); ++i) (*left)[i] += (*right)[i];
                return left;
            case kBinaryPow: {
                if (*right != Polynomial{2} && *right != Polynomial{3}) return {};
                auto power = product(*left, *left);
                return (*right)[0] == 2 || !power ? power : product(*power, *left);
            }
            default:
                return {};
        }
    }

    bool follow(Id tanh) {
        double a = 0, b = 1;
        bool timesX = false;
        Operand* value = graph_.command(tanh).outputs[0];
        for (int i = 0; i < kMaxDepth; ++i) {
            const Id next = graph_.onlyConsumer(value);
            const BinaryParams* params =
                next == CommandGraph::kNone || graph_.isControl(next) ? nullptr : floatBinary(graph_.command(next));
            if (!params || params->relu) return false;
            const Command& command = graph_.command(next);
            Operand* other = command.inputs[command.inputs[0] == value ? 1 : 0];
            const std::optional<Polynomial> factor = polynomialOf(other, kMaxDepth);
            if (!factor || (*factor)[2] != 0 || (*factor)[3] != 0) return false;
            const double term = (*factor)[0], slope = (*factor)[1];
            if (params->code == kBinaryAdd && !timesX && slope == 0) {
                a += term;
            } else if (params->code == kBinaryMul && (term == 0 || slope == 0) && !(slope != 0 && timesX)) {
                timesX = timesX || slope != 0;
                a *= term + slope;
                b *= term + slope;
            } else {
                return false;
            }
            steps_.push_back(next);
            value = command.outputs[0];
            if (timesX && isRelativelyNear(a, 0.5) && isRelativelyNear(b, 0.5)) return value->shape == x_->shape;
        }
        return false;
    }

    const CommandGraph& graph_;
    Operand* x_ = nullptr;
    std::vector<Id> steps_;
};

}  // namespace

UnaryForm geluTanhForm(const CommandGraph& graph, CommandGraph::Id tanh) {
    return GeluFinder(graph).find(tanh);
}

}  // namespace mnnc
