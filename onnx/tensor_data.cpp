// Reads the values of a TensorProto: from the file of the model, or from a file beside it.
#include <bit>
#include <cstring>
#include <filesystem>
#include <limits>

#include "array.h"
#include "base/checked.h"
#include "base/half.h"
#include "base/os/paths.h"
#include "model/file.h"

namespace mnnc::onnx {
namespace {

static_assert(std::endian::native == std::endian::little, "raw data is little-endian");

size_t elementBits(Elem elem) {
    switch (elem) {
        case Elem::Uint4:
        case Elem::Int4:
            return 4;
        case Elem::Uint8:
        case Elem::Int8:
        case Elem::Bool:
            return 8;
        case Elem::Uint16:
        case Elem::Int16:
        case Elem::Float16:
        case Elem::Bfloat16:
            return 16;
        case Elem::Float:
        case Elem::Int32:
        case Elem::Uint32:
            return 32;
        default:
            return 64;
    }
}

float halfValue(uint16_t bits) {
    return halfToFloat(bits);
}

float bfloatValue(uint16_t bits) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

void putInt(Array& to, size_t at, int64_t value, bool isUnsigned64) {
    const auto wide = static_cast<uint64_t>(value);
    if (isUnsigned64 && wide > static_cast<uint64_t>(std::numeric_limits<int32_t>::max())) {
        to.ints[at] = std::numeric_limits<int32_t>::max();
        to.saturated = true;
    } else if (value > std::numeric_limits<int32_t>::max()) {
        to.ints[at] = std::numeric_limits<int32_t>::max();
        to.saturated = true;
    } else if (value < std::numeric_limits<int32_t>::min()) {
        to.ints[at] = std::numeric_limits<int32_t>::min();
        to.saturated = true;
    } else {
        to.ints[at] = static_cast<int32_t>(value);
    }
}

// Stores an element of raw data, or of int32_data, given by its bits.
void put(Array& to, size_t at, Elem elem, uint64_t bits) {
    switch (elem) {
        case Elem::Float:
            to.floats[at] = std::bit_cast<float>(static_cast<uint32_t>(bits));
            return;
        case Elem::Double:
            to.floats[at] = static_cast<float>(std::bit_cast<double>(bits));
            return;
        case Elem::Float16:
            to.floats[at] = halfValue(static_cast<uint16_t>(bits));
            return;
        case Elem::Bfloat16:
            to.floats[at] = bfloatValue(static_cast<uint16_t>(bits));
            return;
        case Elem::Uint8:
        case Elem::Int8:
            to.bytes[at] = static_cast<uint8_t>(bits);
            return;
        case Elem::Bool:
            to.ints[at] = (bits & 0xff) != 0;
            return;
        case Elem::Uint16:
            to.ints[at] = static_cast<uint16_t>(bits);
            return;
        case Elem::Int16:
            to.ints[at] = static_cast<int16_t>(bits);
            return;
        case Elem::Uint32:
            putInt(to, at, static_cast<int64_t>(static_cast<uint32_t>(bits)), false);
            to.bits[at] = static_cast<int32_t>(bits);
            return;
        case Elem::Int32:
            to.ints[at] = static_cast<int32_t>(bits);
            return;
        default:
            putInt(to, at, static_cast<int64_t>(bits), elem == Elem::Uint64);
            return;
    }
}

// From this size on, floats in the model's own bytes are not copied.
constexpr size_t kLarge = 1 << 16;

std::string named(const TensorData& tensor) {
    return "the tensor '" + std::string(tensor.name) + "'";
}

std::vector<std::byte> externalBytes(const TensorData& tensor, const DataFolder& folder, size_t bytes) {
    const std::string name = named(tensor), location(tensor.location);
    const File file(externalFile(tensor, folder).c_str());
    if (tensor.length && *tensor.length != bytes)
        fail(Status::BadFormat, "%s has %llu external bytes; its shape and type need %zu", name.c_str(),
             static_cast<unsigned long long>(*tensor.length), bytes);
    if (tensor.offset > file.size() || bytes > file.size() - tensor.offset)
        fail(Status::Truncated, "%s needs %zu bytes at %llu of '%s', which has %zu", name.c_str(), bytes,
             static_cast<unsigned long long>(tensor.offset), location.c_str(), file.size());
    std::vector<std::byte> result(bytes);
    if (bytes) file.read(static_cast<size_t>(tensor.offset), result.data(), bytes);
    return result;
}

[[noreturn]] void wrongCount(const TensorData& tensor, size_t has, size_t needed) {
    fail(has < needed ? Status::Truncated : Status::BadFormat, "%s has %zu values; its shape %s needs %zu",
         named(tensor).c_str(), has, dimsText(tensor.dims).c_str(), needed);
}

void fromRaw(Array& to, const TensorData& tensor, Bytes raw, size_t count) {
    const size_t bits = elementBits(tensor.type);
    if (tensor.type == Elem::Float) {
        if (count) std::memcpy(to.floats.data(), raw.data(), count * 4);
        return;
    }
    for (size_t i = 0; i < count; ++i) {
        uint64_t value = 0;
        if (bits == 4) {
            const auto both = static_cast<uint8_t>(raw[i / 2]);
            const auto code = static_cast<uint8_t>(i % 2 ? both >> 4 : both & 15);
            to.bytes[i] = tensor.type == Elem::Int4 && code > 7 ? static_cast<uint8_t>(code - 16) : code;
            continue;
        }
        std::memcpy(&value, raw.data() + i * (bits / 8), bits / 8);
        put(to, i, tensor.type, value);
    }
}

}  // namespace

std::string externalFile(const TensorData& tensor, const DataFolder& folder) {
    const std::string name = named(tensor), location(tensor.location);
    if (location.empty()) fail(Status::BadFormat, "%s has external data without a location", name.c_str());
    if (folder.path.empty())
        fail(Status::NotSupported,
             "%s lies in the file '%s'; a model in memory has no folder, so convert it from its file", name.c_str(),
             location.c_str());
    const std::filesystem::path relative = os::pathOf(location);
    bool leaves = relative.has_root_path() || location.find('\0') != std::string::npos;
    for (const auto& part : relative) leaves = leaves || part == "..";
    std::error_code error;
    const std::filesystem::path base = std::filesystem::weakly_canonical(os::pathOf(folder.path), error);
    const std::filesystem::path whole =
        error || leaves ? base : std::filesystem::weakly_canonical(base / relative, error);
    if (error)
        fail(Status::BadFormat, "%s names the file '%s', which cannot be found: %s", name.c_str(), location.c_str(),
             error.message().c_str());
    const auto [end, unused] = std::mismatch(base.begin(), base.end(), whole.begin(), whole.end());
    const bool byLink = !leaves && end != base.end();
    if (leaves || (byLink && !folder.followLinks))
        fail(Status::BadFormat, "%s names the file '%s', which lies outside of the model's folder%s", name.c_str(),
             location.c_str(), byLink ? ", behind a link (follow_links allows that)" : "");
    return os::textOf(whole);
}

ArrayPtr readTensor(const TensorData& tensor, const DataFolder& folder) {
    const std::string name = named(tensor);
    auto result = std::make_shared<Array>();
    const bool fourBits = tensor.type == Elem::Uint4 || tensor.type == Elem::Int4;
    result->type = fourBits ? tensor.type == Elem::Int4 ? DataType::DT_INT8 : DataType::DT_UINT8 : heldAs(tensor.type);
    result->dims = tensor.dims;
    if (result->type == DataType::DT_INVALID || tensor.hasStrings)
        fail(Status::NotSupported, "%s holds %s, for which the .mnn format has no tensor", name.c_str(),
             elemName(tensor.type));
    const int64_t count = elementCount(tensor.dims, name);
    const auto bytes =
        static_cast<size_t>((checkedMul(count, static_cast<int64_t>(elementBits(tensor.type)), name.c_str()) + 7) / 8);
    // The declared size is checked against the file before memory for the values is allocated.
    std::vector<std::byte> external;
    Bytes raw;
    const bool isRaw = tensor.external || tensor.raw;
    if (tensor.external && tensor.raw && !tensor.raw->empty())
        fail(Status::BadFormat, "%s has bytes of its own and names the file '%s'", name.c_str(),
             std::string(tensor.location).c_str());
    if (tensor.external)
        raw = external = externalBytes(tensor, folder, bytes);
    else if (tensor.raw) {
        raw = *tensor.raw;
        if (raw.size() != bytes)
            fail(raw.size() < bytes ? Status::Truncated : Status::BadFormat, "%s has %zu bytes; its shape %s needs %zu",
                 name.c_str(), raw.size(), dimsText(tensor.dims).c_str(), bytes);
    }
    const auto n = static_cast<size_t>(count);
    const bool isFloat = tensor.type == Elem::Float, isDouble = tensor.type == Elem::Double;
    const size_t codes = fourBits ? (n + 1) / 2 : n;
    if (!isRaw) {
        const size_t has = isFloat ? tensor.floats.size() : isDouble ? tensor.doubles.size() : tensor.ints.size();
        if (has != codes) wrongCount(tensor, has, codes);
    }
    if (isFloat && !tensor.external && tensor.raw && raw.size() >= kLarge) {
        result->lent = raw;
        return result;
    }
    if (result->type == DataType::DT_FLOAT)
        result->floats.resize(n);
    else if (result->type == DataType::DT_INT32)
        result->ints.resize(n);
    else
        result->bytes.resize(n);
    if (tensor.type == Elem::Uint32) result->bits.resize(n);
    if (isRaw) {
        fromRaw(*result, tensor, raw, n);
    } else if (isFloat) {
        result->floats = tensor.floats;
    } else if (isDouble) {
        for (size_t i = 0; i < n; ++i) result->floats[i] = static_cast<float>(tensor.doubles[i]);
    } else if (fourBits) {
        std::vector<std::byte> packed;
        for (const int64_t code : tensor.ints) packed.push_back(static_cast<std::byte>(code));
        fromRaw(*result, tensor, packed, n);
    } else {
        for (size_t i = 0; i < n; ++i) put(*result, i, tensor.type, static_cast<uint64_t>(tensor.ints[i]));
    }
    if (!result->saturated) result->bits = {};
    return result;
}

}  // namespace mnnc::onnx
