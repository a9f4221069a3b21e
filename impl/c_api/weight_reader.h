// External weights that a callback of the host reads.
#pragma once
#include "c_api/user_data.h"
#include "model/byte_source.h"

namespace mnnc {

class WeightReader final : public ByteSource {
  public:
    WeightReader(mnn_weight_reader reader, size_t size, std::shared_ptr<const UserData> user)
        : reader_(reader), size_(size), user_(std::move(user)) {}

    const std::string& name() const noexcept override { return name_; }
    size_t size() const noexcept override { return size_; }
    // Throws the status that the callback returns, or InvalidValue for a number that is no status.
    void read(size_t offset, void* out, size_t bytes) const override;
    // Does nothing: the host must not change the weights.
    void requireUnchanged() const override {}

  private:
    const mnn_weight_reader reader_;
    const size_t size_;
    const std::shared_ptr<const UserData> user_;
    const std::string name_ = "weights of the host's reader";
};

}  // namespace mnnc
