// Constants that operators of the graph write: they have private memory in the session, are read like inputs, and take
// their new values when a run has succeeded.
#include <algorithm>
#include <cstring>
#include <functional>

#include "base/error.h"
#include "session/pipeline.h"
#include "session/value.h"

namespace mnnc {

void Pipeline::makeVariables() {
    for (const Variable& variable : schedule_.variables) {
        void* memory = ownConstant(variable.constant);
        Operand& constant = tensors_.own(variable.constant);
        constant.usage = Usage::Input;
        constant.hasConstantValue = false;
        constant.values = nullptr;
        tensors_.frame.place(constant.number, memory);
        variables_.push_back({variable.constant, variable.value, BudgetedBuffer(context_)});
    }
}

bool Pipeline::isVariable(int id) const noexcept {
    return std::any_of(schedule_.variables.begin(), schedule_.variables.end(),
                       [&](const Variable& variable) { return variable.constant == id; });
}

void Pipeline::checkVariable(const CarriedVariable& variable) const {
    const Operand &constant = tensors_[variable.constant], &value = tensors_[variable.value];
    if (value.shape == constant.shape && value.type == constant.type && !value.list) return;
    fail(Status::ComputeSizeError, "constant '%s' is %s of shape %s, an operator writes %s of shape %s to it",
         constant.name.c_str(), dataTypeName(constant.type), constant.shape.text().c_str(), dataTypeName(value.type),
         value.shape.text().c_str());
}

// Checks the variables whose values the first stage produces; that stage is planned.
void Pipeline::checkVariables() const {
    for (size_t i = 0; i < variables_.size(); ++i)
        if (stages_[0]->makes(schedule_.variables[i].value)) checkVariable(variables_[i]);
}

// Returns whether the value lies in the memory of another variable.
bool Pipeline::liesInOther(const CarriedVariable& variable) const {
    const auto* value = static_cast<const char*>(data(tensors_[variable.value]));
    return std::any_of(variables_.begin(), variables_.end(), [&](const CarriedVariable& other) {
        const Operand& constant = tensors_[other.constant];
        const auto* memory = static_cast<const char*>(data(constant));
        return &other != &variable && !std::less<>()(value, memory) &&
               std::less<>()(value, memory + constant.storageBytes());
    });
}

// A value may be a view of another variable: all such values are saved before any variable changes.
void Pipeline::saveVariables() {
    for (CarriedVariable& variable : variables_) {
        checkVariable(variable);
        const Operand &constant = tensors_[variable.constant], &value = tensors_[variable.value];
        if (constant.empty() || !liesInOther(variable)) continue;
        void* waiting = variable.waiting.reserve(constant.storageBytes(), "a value of a variable");
        copyToHost(value, data(value), waiting, rowMajor(constant));
    }
}

void Pipeline::commitVariables() {
    for (CarriedVariable& variable : variables_) {
        const Operand &constant = tensors_[variable.constant], &value = tensors_[variable.value];
        void* to = tensors_.frame.data<void>(constant);
        if (constant.empty() || data(value) == to) continue;
        if (liesInOther(variable))
            std::memcpy(to, variable.waiting.data(), static_cast<size_t>(constant.storageBytes()));
        else
            copyToHost(value, data(value), to, rowMajor(constant));
    }
}

}  // namespace mnnc
