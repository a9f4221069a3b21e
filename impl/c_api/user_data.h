// What the host gives with a callback or with bytes, and the call that gives it back.
#pragma once
#include <memory>
#include <utility>

#include "mnn_c.h"

namespace mnnc {

// Its finalizer is set when nothing can fail any more.
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

// For a finalizer that is called in any case: at the end of the scope, unless share() hands it on.
class GivenData {
  public:
    GivenData(mnn_finalizer finalizer, void* data) : scope_(data) { scope_.finalizer = finalizer; }
    // What lives on as long as the data is needed.
    std::shared_ptr<const UserData> share() {
        auto shared = std::make_shared<UserData>(scope_.data);
        shared->finalizer = std::exchange(scope_.finalizer, nullptr);
        return shared;
    }

  private:
    UserData scope_;
};

}  // namespace mnnc
