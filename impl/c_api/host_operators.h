// The operators that a host registered at an interpreter, and what its sessions are made of.
#pragma once
#include <memory>
#include <mutex>

#include "net/custom.h"
#include "session/interpreter.h"

namespace mnnc {

class OperatorRegistry {
  public:
    // Throws BadState once a session was created or while one is, InvalidValue for a name that is taken.
    void add(std::shared_ptr<const HostOperator> op);
    // Whether the host runs a node that the library does not.
    bool runs(const Net& net, const NetGraph& graph, const Node& node) const;

    // The creation of a session: no operator is added meanwhile, nor afterwards when it succeeded.
    class SessionCreation {
      public:
        // current: the interpreter without the operators.
        SessionCreation(OperatorRegistry& registry, const std::shared_ptr<const Interpreter>& current);
        ~SessionCreation();
        SessionCreation(const SessionCreation&) = delete;
        SessionCreation& operator=(const SessionCreation&) = delete;
        // The interpreter with the operators.
        const std::shared_ptr<const Interpreter>& interpreter() const noexcept { return interpreter_; }
        void succeeded() noexcept { succeeded_ = true; }

      private:
        OperatorRegistry& registry_;
        std::shared_ptr<const Interpreter> interpreter_;
        bool succeeded_ = false;
    };

  private:
    mutable std::mutex mutex_;
    HostOperators operators_;
    // With the operators, and what it was bound from; null before the first session, and without operators.
    std::shared_ptr<const Interpreter> bound_, boundFrom_;
    size_t creating_ = 0;
    bool hasSessions_ = false;
};

}  // namespace mnnc
