// Keeps a host's operators, and binds them to the model when the first session is created.
#include "c_api/host_operators.h"

#include <utility>

#include "base/error.h"

namespace mnnc {

void OperatorRegistry::add(std::shared_ptr<const HostOperator> op) {
    std::shared_ptr<const Interpreter> outdated;  // destroyed after the lock is released
    const std::lock_guard lock(mutex_);
    const char* name = op->name().c_str();
    if (hasSessions_ || creating_ > 0)
        fail(Status::BadState, "operator '%s' comes too late: the interpreter %s", name,
             hasSessions_ ? "has had a session" : "is creating a session");
    if (findHostOperator(operators_, name)) fail(Status::InvalidValue, "an operator '%s' is registered already", name);
    operators_.push_back(std::move(op));
    outdated.swap(bound_);
}

bool OperatorRegistry::runs(const Net& net, const NetGraph& graph, const Node& node) const {
    const std::lock_guard lock(mutex_);
    return hostRuns(operators_, net, graph, node);
}

OperatorRegistry::SessionCreation::SessionCreation(OperatorRegistry& registry,
                                                   const std::shared_ptr<const Interpreter>& current)
    : registry_(registry), interpreter_(current) {
    std::shared_ptr<const Interpreter> outdated;  // destroyed after the lock is released
    const std::lock_guard lock(registry_.mutex_);
    if (!registry_.operators_.empty()) {
        if (!registry_.bound_ || registry_.boundFrom_ != current) {
            std::shared_ptr<const Interpreter> bound = current->withOperators(registry_.operators_);
            outdated = std::exchange(registry_.bound_, std::move(bound));
            registry_.boundFrom_ = current;
        }
        interpreter_ = registry_.bound_;
    }
    ++registry_.creating_;
}

OperatorRegistry::SessionCreation::~SessionCreation() {
    const std::lock_guard lock(registry_.mutex_);
    --registry_.creating_;
    registry_.hasSessions_ |= succeeded_;
}

}  // namespace mnnc
