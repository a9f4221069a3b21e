// Gives the arrays of floats of a model, which are borrowed, read or decoded: completely, or in pieces.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "model/stored_bytes.h"

namespace mnnc {

// Floats that lie in the model's bytes (and live as long as the Model), or were read, or are owned. Move-only.
class FloatView {
  public:
    FloatView() = default;
    static FloatView borrow(std::span<const float> values) {
        FloatView view;
        view.values_ = values;
        return view;
    }
    static FloatView own(std::vector<float> values) {
        FloatView view;
        view.owned_ = std::move(values);
        view.values_ = view.owned_;
        return view;
    }
    // Takes bytes that are whole floats; copies them where they are not aligned.
    static FloatView hold(HeldBytes held);
    FloatView(FloatView&& other) noexcept { *this = std::move(other); }
    FloatView& operator=(FloatView&& other) noexcept {
        owned_ = std::move(other.owned_);  // a moved vector keeps its address, so the span stays valid
        read_ = std::move(other.read_);
        values_ = other.values_;
        other.values_ = {};
        return *this;
    }
    FloatView(const FloatView&) = delete;
    FloatView& operator=(const FloatView&) = delete;

    std::span<const float> span() const noexcept { return values_; }
    const float* data() const noexcept { return values_.data(); }
    size_t size() const noexcept { return values_.size(); }
    bool empty() const noexcept { return values_.empty(); }
    bool isBorrowed() const noexcept { return owned_.empty() && !read_ && !values_.empty(); }
    float operator[](size_t i) const { return values_[i]; }

  private:
    std::span<const float> values_;
    std::vector<float> owned_;
    std::shared_ptr<const void> read_;
};

// Gives floats in pieces, so that those that stay in a file never have to be in memory all at once.
class FloatSource {
  public:
    explicit FloatSource(FloatView whole) : whole_(std::move(whole)), size_(whole_.size()) {}
    explicit FloatSource(const StoredBytes& stored) : stored_(stored), size_(stored.size() / sizeof(float)) {}
    // read(first, count) returns values that are valid until its next call.
    using Reader = std::function<const float*(size_t first, size_t count)>;
    FloatSource(size_t size, Reader read) : read_(std::move(read)), size_(size) {}

    size_t size() const noexcept { return size_; }
    // Returns the values from `first` to first + count, which are valid until the next call. Throws FileChanged,
    // FileReadFailed.
    const float* at(size_t first, size_t count);

  private:
    FloatView whole_;
    StoredBytes stored_;  // used when the array is not read completely
    FloatView piece_;
    Reader read_;  // empty: the floats come from whole_ or stored_
    size_t size_ = 0;
};

}  // namespace mnnc
