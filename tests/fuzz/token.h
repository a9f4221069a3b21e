// A cancellation token that the destructor destroys.
#pragma once
#include "statuses.h"

namespace fuzz {

class Token {
  public:
    Token() { MUST(mnn_cancel_create(&handle_)); }
    ~Token() { destroy(); }
    Token(const Token&) = delete;
    Token& operator=(const Token&) = delete;
    void trigger() { MUST(mnn_cancel_trigger(handle_)); }
    void reset() { MUST(mnn_cancel_reset(handle_)); }
    void destroy() { MUST(mnn_cancel_destroy(&handle_)); }
    mnn_cancel_t* handle() const { return handle_; }

  private:
    mnn_cancel_t* handle_ = nullptr;
};

}  // namespace fuzz
