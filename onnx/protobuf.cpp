// See protobuf.h. The format: a field is a varint (number * 8 + kind) and a value of that kind; groups (kinds 3 and 4),
// which ONNX does not use, are refused.
#include "protobuf.h"

#include <cstring>

#include "base/error.h"

namespace mnnc::onnx {

uint64_t MessageReader::varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (at_ == end_) fail(Status::Truncated, "a number in %s ends too early", what_);
        const auto byte = static_cast<uint64_t>(*at_++);
        value |= (byte & 127) << shift;
        if (byte < 128) return value;
    }
    fail(Status::BadFormat, "a number in %s has more than 10 bytes", what_);
}

Bytes MessageReader::take(uint64_t count) {
    const auto left = static_cast<uint64_t>(end_ - at_);
    if (count > left)
        fail(Status::Truncated, "field %u of %s has %llu bytes, and %llu are left", field_, what_,
             static_cast<unsigned long long>(count), static_cast<unsigned long long>(left));
    const Bytes result(at_, static_cast<size_t>(count));
    at_ += count;
    return result;
}

void MessageReader::skip() {
    open_ = false;
    switch (kind_) {
        case Varint:
            varint();
            return;
        case Eight:
            take(8);
            return;
        case Length:
            take(varint());
            return;
        case Four:
            take(4);
            return;
        default:
            fail(Status::BadFormat, "field %u of %s is of kind %u, which ONNX does not use", field_, what_, kind_);
    }
}

bool MessageReader::next() {
    if (open_) skip();
    if (at_ == end_) return false;
    const uint64_t key = varint();
    if (key >> 3 == 0 || key >> 32 != 0)
        fail(Status::BadFormat, "%s has a field with the number %llu, which is out of range", what_,
             static_cast<unsigned long long>(key >> 3));
    field_ = static_cast<uint32_t>(key >> 3);
    kind_ = static_cast<uint32_t>(key & 7);
    open_ = true;
    return true;
}

void MessageReader::require(Kind kind) {
    if (kind_ != kind)
        fail(Status::BadFormat, "field %u of %s is of kind %u; ONNX has kind %u there", field_, what_, kind_,
             static_cast<unsigned>(kind));
    open_ = false;
}

int64_t MessageReader::integer() {
    require(Varint);
    return static_cast<int64_t>(varint());
}

float MessageReader::real() {
    require(Four);
    float value = 0;
    std::memcpy(&value, take(4).data(), 4);
    return value;
}

Bytes MessageReader::bytes() {
    require(Length);
    return take(varint());
}

std::string_view MessageReader::text() {
    const Bytes value = bytes();
    return {reinterpret_cast<const char*>(value.data()), value.size()};
}

void MessageReader::integers(std::vector<int64_t>& to) {
    if (kind_ == Varint) {
        to.push_back(integer());
        return;
    }
    MessageReader packed(bytes(), what_);
    packed.field_ = field_;
    while (packed.at_ != packed.end_) to.push_back(static_cast<int64_t>(packed.varint()));
}

void MessageReader::reals(std::vector<float>& to) {
    if (kind_ == Four) {
        to.push_back(real());
        return;
    }
    const Bytes packed = bytes();
    if (packed.size() % 4 != 0)
        fail(Status::BadFormat, "field %u of %s has %zu bytes of floats, which is no multiple of 4", field_, what_,
             packed.size());
    const size_t before = to.size();
    to.resize(before + packed.size() / 4);
    if (!packed.empty()) std::memcpy(to.data() + before, packed.data(), packed.size());
}

void MessageReader::doubles(std::vector<double>& to) {
    Bytes packed;
    if (kind_ == Eight) {
        open_ = false;
        packed = take(8);
    } else {
        packed = bytes();
    }
    if (packed.size() % 8 != 0)
        fail(Status::BadFormat, "field %u of %s has %zu bytes of doubles, which is no multiple of 8", field_, what_,
             packed.size());
    const size_t before = to.size();
    to.resize(before + packed.size() / 8);
    if (!packed.empty()) std::memcpy(to.data() + before, packed.data(), packed.size());
}

}  // namespace mnnc::onnx
