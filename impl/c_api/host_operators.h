// The operators that a host registered at an interpreter, and the interpreter that its sessions use.
#pragma once
#include <memory>
#include <mutex>

#include "net/custom.h"
#include "session/interpreter.h"

namespace mnnc {

class OperatorRegistry {
  public:
    // Throws BadState once a session exists or while one is being created, InvalidValue for a name that is taken.
    void add(std::shared_ptr<const HostOperator> op);
    // Whether the host has an operator for a node that the library does not run.
    bool runs(const Net& net, const NetGraph& graph, const Node& node) const;

    // Guards the creation of a session: no operator can be added meanwhile, nor afterwards if it succeeded.
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
    // The interpreter with the operators, and the one that it was made from; null before the first session, and without
    // operators.
    std::shared_ptr<const Interpreter> bound_, boundFrom_;
    size_t creating_ = 0;
    bool hasSessions_ = false;
};

}  // namespace mnnc
