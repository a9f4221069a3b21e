// Data that the host passes with a callback or with bytes, and the finalizer that releases it.
#pragma once
#include <memory>
#include <utility>

#include "mnn_c.h"

namespace mnnc {

// Data of the host. The finalizer is set only when nothing can fail any more.
struct UserData {
    explicit UserData(void* given) : data(given) {}
    UserData(const UserData&) = delete;
    UserData& operator=(const UserData&) = delete;
    ~UserData() {
        if (finalizer) finalizer(data);
    }
    void* const data;
    mnn_finalizer finalizer = nullptr;
};

// For a finalizer that is called in any case: at the end of the scope, unless share() passes it on.
class GivenData {
  public:
    GivenData(mnn_finalizer finalizer, void* data) : scope_(data) { scope_.finalizer = finalizer; }
    // Owns the data as long as it is needed.
    std::shared_ptr<const UserData> share() {
        auto shared = std::make_shared<UserData>(scope_.data);
        shared->finalizer = std::exchange(scope_.finalizer, nullptr);
        return shared;
    }

  private:
    UserData scope_;
};

}  // namespace mnnc
