// Loops: a body in a scope of its own becomes a While.
#pragma once
#include <functional>
#include <vector>

#include "../call.h"

namespace mnnc::onnx {

// Goes back to the scope that was there.
class Inside {
  public:
    Inside(Builder& b, const std::string& name) : b_(b), outer_(b.scope()), scope_(b.newScope(name, &outer_)) {
        b_.enter(scope_);
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() {
        b_.enter(outer_);
        if (!kept_) scope_.name.clear();  // it is not written
    }
    Scope& keep() {
        kept_ = true;
        return scope_;
    }
    Scope& scope() { return scope_; }

  private:
    Builder& b_;
    Scope& outer_;
    Scope& scope_;
    bool kept_ = false;
};

// The tensor of an output of a body, which is one of its own operators'.
int outputOf(Call& c, V value);

// What a body makes of its formal inputs: a condition, the carried values, and a value of each round.
struct Round {
    V condition = nullptr;  // null: it goes on
    std::vector<V> carried, scanned;
};
using MakeRound = std::function<Round(V iteration, V condition, const std::vector<V>& carried)>;

struct LoopResult {
    std::vector<V> finals, stacks;
};

// So many rounds at most, while the condition holds.
LoopResult writeLoop(Call& c, V limit, V condition, std::vector<V> initial, const MakeRound& round);

}  // namespace mnnc::onnx
