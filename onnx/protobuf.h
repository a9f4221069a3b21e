// Reads messages of protocol buffers in place: the fields of a message one after another, each checked against the end
// of its bytes. It is independent of the messages, which parse.cpp defines.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace mnnc::onnx {

using Bytes = std::span<const std::byte>;

class MessageReader {
  public:
    // `what` names the message in errors; it has to outlive the reader.
    MessageReader(Bytes bytes, const char* what) : at_(bytes.data()), end_(at_ + bytes.size()), what_(what) {}

    // Moves to the next field; returns false at the end. An unread value is skipped. Throws Truncated and BadFormat, as
    // all functions below do.
    bool next();
    uint32_t field() const noexcept { return field_; }

    int64_t integer();        // a varint
    float real();             // four bytes
    Bytes bytes();            // a field of variable length
    std::string_view text();  // the same
    // Appends repeated numbers: a packed field has all of them, an unpacked one has one.
    void integers(std::vector<int64_t>& to);
    void reals(std::vector<float>& to);
    void doubles(std::vector<double>& to);

  private:
    enum Kind : uint32_t { Varint = 0, Eight = 1, Length = 2, Four = 5 };

    uint64_t varint();
    Bytes take(uint64_t count);
    void skip();
    void require(Kind kind);

    const std::byte* at_;
    const std::byte* end_;
    const char* what_;
    uint32_t field_ = 0;
    uint32_t kind_ = 0;
    bool open_ = false;  // the value of the field has not been read yet
};

}  // namespace mnnc::onnx
