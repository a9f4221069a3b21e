// The state that the operators of a session keep from run to run (backend/kept_state.h): its memory, its length, and
// the bytes in which it is saved. All operators keep the same number of rows. A run that fails changes nothing.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "backend/kept_state.h"
#include "session/budgeted_block.h"
#include "session/budgeted_buffer.h"

namespace mnnc {

class KeptStates {
  public:
    // The largest length: positions are 32 bits wide.
    static constexpr int64_t kMaxLength = INT32_MAX;

    explicit KeptStates(SessionContext& context) : context_(context), lengthWord_(context, DeviceUse::Upload) {}
    KeptStates(const KeptStates&) = delete;
    KeptStates& operator=(const KeptStates&) = delete;

    // Returns the state of an operator, which is made when a program asks for it for the first time. Throws
    // ComputeSizeError where the operator had another form before, BadState where other operators keep rows already,
    // LimitExceeded and OutOfMemory.
    std::shared_ptr<KeptState> stateFor(const KeptForm& form, const std::string& name);

    // Makes room for the rows of a run, before its steps; below the capacity this takes no memory. Stages of a run call
    // it one after another. Throws ComputeSizeError, LimitExceeded, OutOfMemory, Overflow.
    void begin(int64_t rows);
    // commit() ends a run that succeeded; abandon() ends one that failed, and leaves all as it was before the run.
    void commit() noexcept;
    void abandon() noexcept;

    size_t operators() const noexcept { return kept_.size(); }
    int64_t length() const noexcept { return length_; }
    // Returns the length up to which runs allocate no memory.
    int64_t capacity() const noexcept;
    int64_t bytes() const noexcept;
    // Counts the changes of pages in memory of a device, because recordings refer to the pages that existed when they
    // were made.
    uint64_t generation() const noexcept { return generation_; }
    bool halves() const noexcept { return halves_; }
    // Returns whether rows can be taken out, which needs operators that keep nothing but rows.
    bool erasable() const noexcept;

    void reset() noexcept;
    // Takes out the rows in [begin, end); those behind them move up. Throws BadRange, NotSupported.
    void erase(int64_t begin, int64_t end);
    // Makes room for this many rows in all. Throws BadRange, LimitExceeded, OutOfMemory.
    void reserve(int64_t length);
    // Releases the memory beyond the length.
    void shrink() noexcept;
    // Stores rows that are added from now on in 16 bits, or in 32. Throws BadState where there are rows.
    void useHalves(bool halves);
    // Takes over the state of another session of the same net. Throws InvalidValue where that has another form,
    // LimitExceeded, OutOfMemory; then the state is as it was, although there may be room for more rows.
    void copyFrom(const KeptStates& other);

    // save() writes the bytes from which load() makes the same state, also in another process; `net` identifies the
    // net.
    int64_t savedBytes() const noexcept;
    void save(uint64_t net, void* to) const;
    // Replaces the state by a saved one. Throws Truncated, BadFormat, VersionMismatch, InvalidValue (another net, or
    // another form), LimitExceeded, OutOfMemory; then the state is as it was, although there may be room for more rows.
    void load(uint64_t net, const void* from, size_t bytes);

  private:
    // Everything that reads or writes rows throws what DeviceBackend::requireUsable() throws, where they lie on a
    // device.
    void requireUsable() const {
        if (context_.device) context_.device->requireUsable();
    }
    struct Kept {
        Kept(const KeptForm& form, std::string of, SessionContext& context)
            : state(std::make_shared<KeptState>(form)), name(std::move(of)), numbers(context) {}
        const std::shared_ptr<KeptState> state;
        const std::string name;
        // The pages in memory of the host, or in that of the device where the session computes on one.
        std::deque<BudgetedBuffer> pages;
        std::deque<BudgetedBlock> blocks;
        BudgetedBuffer numbers;  // KeptState::now and next
    };
    void makeRoom(int64_t length);
    void addPage(Kept& kept);
    void dropPages(size_t pages) noexcept;
    void setLength(int64_t length) noexcept;
    void copyRows(const KeptState& from, KeptState& to, int64_t rows) const noexcept;

    SessionContext& context_;
    std::vector<std::unique_ptr<Kept>> kept_;  // in the order of KeptForm::tensor
    int64_t length_ = 0;
    int64_t added_ = 0;  // rows of the run under way
    BudgetedBlock lengthWord_;
    uint64_t generation_ = 0;
    bool halves_ = false;
};

}  // namespace mnnc
