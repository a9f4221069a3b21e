// Loops: a body in a separate scope becomes a While.
#pragma once
#include <functional>
#include <vector>

#include "../call.h"

namespace mnnc::onnx {

// Leaves the scopes that are made while it exists out of the net, unless keep() is called.
class NewScopes {
  public:
    explicit NewScopes(Builder& b) : scopes_(b.scopes()), first_(scopes_.size()) {}
    NewScopes(const NewScopes&) = delete;
    NewScopes& operator=(const NewScopes&) = delete;
    ~NewScopes() {
        for (; first_ < scopes_.size(); ++first_) scopes_[first_].name.clear();  // an unnamed scope is not written
    }
    void keep() { first_ = scopes_.size(); }

  private:
    std::deque<Scope>& scopes_;
    size_t first_;
};

// Enters a new scope, and returns to the outer one at its end.
class Inside {
  public:
    Inside(Builder& b, const std::string& name)
        : b_(b), outer_(b.scope()), made_(b), scope_(b.newScope(name, &outer_)) {
        b_.enter(scope_);
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() { b_.enter(outer_); }
    Scope& keep() {
        made_.keep();
        return scope_;
    }
    Scope& scope() { return scope_; }

  private:
    Builder& b_;
    Scope& outer_;
    NewScopes made_;
    Scope& scope_;
};

// The tensor of an output of a body, which an operator of the body must produce.
int outputOf(Call& c, V value);

// The results of a body for its formal inputs: a condition, the carried values, and one value per scan output.
struct Round {
    V condition = nullptr;  // null: the loop continues
    std::vector<V> carried, scanned;
};
using MakeRound = std::function<Round(V iteration, V condition, const std::vector<V>& carried)>;

struct LoopResult {
    std::vector<V> finals, stacks;
};

// Runs at most `limit` rounds while the condition holds.
LoopResult writeLoop(Call& c, V limit, V condition, std::vector<V> initial, const MakeRound& round);

}  // namespace mnnc::onnx
