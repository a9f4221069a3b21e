// The state that an operator keeps from run to run: keys and values of all tokens so far, or numbers that each run
// replaces. It belongs to a session and serves all programs of it. It changes only when a run has succeeded.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "backend/execution.h"
#include "base/half.h"

namespace mnnc {

// Keys and values lie in pages of this many rows. A page stays in its place while others are added.
constexpr int64_t kKeptPageRows = 256;

// The form of the data that one operator keeps.
struct KeptForm {
    int tensor = 0;                            // the number of the operator's output, by which programs find it
    int heads = 0, depth = 0, valueDepth = 0;  // extents of keys and values; 0 heads: the operator keeps neither
    int64_t numbers = 0;                       // how many numbers each run replaces

    bool operator==(const KeptForm&) const = default;
    // Elements of a row, which has the keys and the values of all heads.
    int64_t rowElements() const noexcept { return int64_t{heads} * (int64_t{depth} + valueDepth); }
};

// The requirements of an execution that keeps something in its session.
struct KeptNeeds {
    KeptForm form;
    int64_t rows = 0;  // the rows that a run adds
    // The number of the mask, whose last extent has to be the rows of the past and of the run together; 0: there is
    // no mask.
    int mask = 0;
};

class KeptState final : public ExecutionState {
  public:
    explicit KeptState(const KeptForm& wanted) : form(wanted) {}

    const KeptForm form;
    // Rows of all runs that succeeded.
    int64_t length = 0;
    bool halves = false;  // rows are stored in 16 bits

    // A page has, for each head, the keys of its rows one after another, then likewise the values.
    std::vector<void*> pages;
    // For a session that computes on a device: the device memory of each page, which the host sees, too, and a word for
    // the length, which the host writes before each run. Both are empty for other sessions.
    std::vector<DeviceBlock*> blocks;
    DeviceBlock* lengthWord = nullptr;

    size_t elementBytes() const noexcept { return halves ? sizeof(uint16_t) : sizeof(float); }
    int64_t pageBytes() const noexcept {
        return form.rowElements() * kKeptPageRows * static_cast<int64_t>(elementBytes());
    }
    // These return the address of the key, or of the value, of a head in a row.
    void* key(int head, int64_t row) const noexcept {
        return at(row, (int64_t{head} * kKeptPageRows + row % kKeptPageRows) * form.depth);
    }
    void* value(int head, int64_t row) const noexcept {
        return at(row, int64_t{form.heads} * kKeptPageRows * form.depth +
                           (int64_t{head} * kKeptPageRows + row % kKeptPageRows) * form.valueDepth);
    }

    // The numbers that each run replaces: a run reads those of the last run in `now`, and writes new ones to `next`.
    float* now = nullptr;
    float* next = nullptr;
    bool replaced = false;  // the run under way has written all of `next`

  private:
    void* at(int64_t row, int64_t element) const noexcept {
        return static_cast<char*>(pages[static_cast<size_t>(row / kKeptPageRows)]) +
               element * static_cast<int64_t>(elementBytes());
    }
};

// These functions convert elements of rows between floats and the type that a state stores.
inline void storeKept(const float* from, int64_t count, bool halves, void* to) noexcept {
    for (int64_t i = 0; i < count; ++i) {
        if (halves)
            static_cast<uint16_t*>(to)[i] = floatToHalf(from[i]);
        else
            static_cast<float*>(to)[i] = from[i];
    }
}
inline void loadKept(const void* from, int64_t count, bool halves, float* to) noexcept {
    for (int64_t i = 0; i < count; ++i)
        to[i] = halves ? halfToFloat(static_cast<const uint16_t*>(from)[i]) : static_cast<const float*>(from)[i];
}

}  // namespace mnnc
