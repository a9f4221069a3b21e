// The bytes of a saved state: a header, the forms of all operators, then what each of them keeps.
#include <algorithm>
#include <cstring>

#include "base/checked.h"
#include "base/error.h"
#include "base/fnv_hash.h"
#include "session/kept_states.h"

namespace mnnc {

namespace {

constexpr char kMagic[8] = {'M', 'N', 'N', 'C', 'K', 'E', 'P', 'T'};
constexpr uint32_t kVersion = 1;

struct Header {
    char magic[8];
    uint32_t version;
    uint32_t halves;
    uint64_t net;
    int64_t length;
    uint64_t operators;
    uint64_t checksum;  // over all other fields and the bytes behind the header
};

struct SavedForm {
    int64_t tensor, heads, depth, valueDepth, numbers;
    explicit SavedForm(const KeptForm& form)
        : tensor(form.tensor),
          heads(form.heads),
          depth(form.depth),
          valueDepth(form.valueDepth),
          numbers(form.numbers) {}
};

// Returns the checksum of a saved state. The bytes behind the last whole word count as a word.
uint64_t checksumOf(Header header, const char* bytes, size_t count) noexcept {
    FnvHash hash;
    const auto add = [&](const char* from, size_t size) {
        for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
            uint64_t word = 0;
            std::memcpy(&word, from + i, std::min(sizeof word, size - i));
            hash.addWord(word);
        }
    };
    header.checksum = 0;
    add(reinterpret_cast<const char*>(&header), sizeof header);
    add(bytes, count);
    return hash.value();
}

// Returns the bytes that an operator of this form needs in a saved state. Throws Overflow.
int64_t bytesOf(const KeptForm& form, int64_t length, bool halves) {
    constexpr const char* kWhat = "a saved state";
    const int64_t element = halves ? sizeof(uint16_t) : sizeof(float);
    return checkedAdd(checkedMul(checkedMul(form.rowElements(), length, kWhat), element, kWhat),
                      checkedMul(form.numbers, sizeof(float), kWhat), kWhat);
}

// Calls each(place in the state, elements) for the keys and then the values of all heads, page by page.
template <typename Each>
void forRows(const KeptState& state, int64_t length, const Each& each) {
    for (int head = 0; head < state.form.heads; ++head)
        for (int64_t row = 0; row < length; row += kKeptPageRows)
            each(state.key(head, row), std::min(kKeptPageRows, length - row) * state.form.depth);
    for (int head = 0; head < state.form.heads; ++head)
        for (int64_t row = 0; row < length; row += kKeptPageRows)
            each(state.value(head, row), std::min(kKeptPageRows, length - row) * state.form.valueDepth);
}

}  // namespace

int64_t KeptStates::savedBytes() const noexcept {
    auto bytes = static_cast<int64_t>(sizeof(Header) + kept_.size() * sizeof(SavedForm));
    // The sum cannot overflow, since the state lies in memory.
    for (const auto& kept : kept_) bytes += bytesOf(kept->state->form, length_, halves_);
    return bytes;
}

void KeptStates::save(uint64_t net, void* to) const {
    requireUsable();
    Header header{};
    std::memcpy(header.magic, kMagic, sizeof kMagic);
    header.version = kVersion;
    header.halves = halves_ ? 1 : 0;
    header.net = net;
    header.length = length_;
    header.operators = kept_.size();
    char* const body = static_cast<char*>(to) + sizeof header;
    char* at = body;
    const auto put = [&](const void* bytes, size_t count) {
        if (count > 0) std::memcpy(at, bytes, count);
        at += count;
    };
    for (const auto& kept : kept_) {
        const SavedForm form(kept->state->form);
        put(&form, sizeof form);
    }
    for (const auto& kept : kept_) {
        const KeptState& state = *kept->state;
        forRows(state, length_, [&](const void* rows, int64_t elements) {
            put(rows, static_cast<size_t>(elements) * state.elementBytes());
        });
        put(state.now, static_cast<size_t>(state.form.numbers) * sizeof(float));
    }
    header.checksum = checksumOf(header, body, static_cast<size_t>(at - body));
    std::memcpy(to, &header, sizeof header);
}

void KeptStates::load(uint64_t net, const void* from, size_t bytes) {
    Header header;
    if (bytes < sizeof header)
        fail(Status::Truncated, "a saved state has a header of %zu bytes, %zu bytes are given", sizeof header, bytes);
    std::memcpy(&header, from, sizeof header);
    if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0) fail(Status::BadFormat, "the bytes are no saved state");
    if (header.version != kVersion)
        fail(Status::VersionMismatch, "the saved state has version %u, this library reads %u", header.version,
             kVersion);
    if (header.net != net) fail(Status::InvalidValue, "the saved state belongs to another net");
    if (header.operators != kept_.size())
        fail(Status::InvalidValue, "the saved state has the states of %llu operators, the session has those of %zu",
             static_cast<unsigned long long>(header.operators), kept_.size());
    if (header.length < 0 || header.length > kMaxLength || header.halves > 1)
        fail(Status::BadFormat, "the header of the saved state is damaged");
    const bool halves = header.halves == 1;
    auto needed = static_cast<int64_t>(sizeof header + kept_.size() * sizeof(SavedForm));
    for (const auto& kept : kept_)
        needed = checkedAdd(needed, bytesOf(kept->state->form, header.length, halves), "a saved state");
    if (bytes < static_cast<uint64_t>(needed))
        fail(Status::Truncated, "a saved state of %lld rows has %lld bytes, %zu are given", asLong(header.length),
             asLong(needed), bytes);
    const char* at = static_cast<const char*>(from) + sizeof header;
    if (bytes > static_cast<uint64_t>(needed) || header.checksum != checksumOf(header, at, bytes - sizeof header))
        fail(Status::BadFormat, "the bytes of the saved state are damaged");
    for (const auto& kept : kept_) {
        const SavedForm wanted(kept->state->form);
        if (std::memcmp(at, &wanted, sizeof wanted) != 0)
            fail(Status::InvalidValue, "op '%s' keeps a state of another form than the saved state has",
                 kept->name.c_str());
        at += sizeof wanted;
    }
    requireUsable();
    makeRoom(header.length);
    for (const auto& kept : kept_) {
        KeptState& state = *kept->state;
        forRows(state, header.length, [&](void* rows, int64_t elements) {
            const auto size = static_cast<size_t>(elements);
            if (halves == state.halves) {
                std::memcpy(rows, at, size * state.elementBytes());
            } else {
                for (size_t i = 0; i < size; ++i) {  // the bytes may lie at any address
                    float number = 0;
                    uint16_t half = 0;
                    if (halves) {
                        std::memcpy(&half, at + i * sizeof half, sizeof half);
                        static_cast<float*>(rows)[i] = halfToFloat(half);
                    } else {
                        std::memcpy(&number, at + i * sizeof number, sizeof number);
                        static_cast<uint16_t*>(rows)[i] = floatToHalf(number);
                    }
                }
            }
            at += size * (halves ? sizeof(uint16_t) : sizeof(float));
        });
        const size_t numbers = static_cast<size_t>(state.form.numbers) * sizeof(float);
        if (numbers > 0) std::memcpy(state.now, at, numbers);
        at += numbers;
    }
    setLength(header.length);
}

}  // namespace mnnc
