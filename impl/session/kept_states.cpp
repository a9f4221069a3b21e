// Manages pages of keys and values. The rows that a run adds are part of the state only after the run has succeeded.
#include "session/kept_states.h"

#include <algorithm>
#include <cstring>

#include "base/checked.h"
#include "base/error.h"

namespace mnnc {

std::shared_ptr<KeptState> KeptStates::stateFor(const KeptForm& form, const std::string& name) {
    const auto isBefore = [](const std::unique_ptr<Kept>& kept, int tensor) {
        return kept->state->form.tensor < tensor;
    };
    const auto place = std::lower_bound(kept_.begin(), kept_.end(), form.tensor, isBefore);
    if (place != kept_.end() && (*place)->state->form.tensor == form.tensor) {
        if ((*place)->state->form == form) return (*place)->state;
        fail(Status::ComputeSizeError,
             "op '%s': the shapes of its inputs change the form of the state that it keeps from run to run, which a "
             "session cannot do",
             name.c_str());
    }
    if (length_ > 0)
        fail(Status::BadState, "op '%s' would begin without the %lld rows that other operators keep", name.c_str(),
             asLong(length_));
    checkedMul(checkedMul(form.rowElements(), kKeptPageRows, name.c_str()), 2 * sizeof(float), name.c_str());
    auto kept = std::make_unique<Kept>(form, name, context_);
    KeptState& state = *kept->state;
    state.halves = halves_;
    if (context_.device && form.heads > 0)
        state.lengthWord = lengthWord_.reserve(sizeof(uint32_t), "the length of the kept state");
    if (form.numbers > 0) {
        const int64_t bytes = checkedMul(form.numbers, 2 * sizeof(float), name.c_str());
        state.now = static_cast<float*>(kept->numbers.reserve(bytes, "the state of an operator"));
        state.next = state.now + form.numbers;
        std::memset(state.now, 0, static_cast<size_t>(bytes));
    }
    return (*kept_.insert(place, std::move(kept)))->state;
}

void KeptStates::makeRoom(int64_t length) {
    const auto pages = static_cast<size_t>(ceilDiv(length, kKeptPageRows));
    for (const auto& kept : kept_) {
        KeptState& state = *kept->state;
        if (state.form.heads == 0 || state.pages.size() >= pages) continue;
        state.pages.reserve(pages);
        if (context_.device) state.blocks.reserve(pages);
        while (state.pages.size() < pages) addPage(*kept);
    }
}

void KeptStates::addPage(Kept& kept) {
    constexpr const char* kWhat = "a page of keys and values";
    KeptState& state = *kept.state;
    if (!context_.device) {
        BudgetedBuffer page(context_);
        void* memory = page.reserve(state.pageBytes(), kWhat);
        kept.pages.push_back(std::move(page));
        state.pages.push_back(memory);
        return;
    }
    BudgetedBlock& page = kept.blocks.emplace_back(context_, DeviceUse::Kept);
    try {
        DeviceBlock* memory = page.reserve(state.pageBytes(), kWhat);
        if (!memory->host()) fail(Status::Internal, "the host does not see a page of keys and values");
        state.blocks.push_back(memory);
        state.pages.push_back(memory->host());
    } catch (...) {
        kept.blocks.pop_back();
        throw;
    }
    ++generation_;
}

// Keeps this many pages of each operator.
void KeptStates::dropPages(size_t pages) noexcept {
    for (const auto& kept : kept_) {
        KeptState& state = *kept->state;
        if (state.pages.size() <= pages) continue;
        state.pages.resize(pages);
        if (context_.device) {
            state.blocks.resize(pages);
            ++generation_;
        }
        while (kept->pages.size() > pages) kept->pages.pop_back();
        while (kept->blocks.size() > pages) kept->blocks.pop_back();
    }
}

void KeptStates::begin(int64_t rows) {
    if (added_ != 0 && added_ != rows)
        fail(Status::ComputeSizeError,
             "some operators add %lld rows to their states in a run, others add %lld: equal numbers are needed",
             asLong(added_), asLong(rows));
    requireUsable();
    if (rows > kMaxLength - length_)
        fail(Status::Overflow, "the session keeps %lld rows, a run adds %lld; at most %lld are possible",
             asLong(length_), asLong(rows), asLong(kMaxLength));
    makeRoom(length_ + rows);
    // The device has no work of this session under way now.
    if (lengthWord_.get()) {
        const auto length = static_cast<uint32_t>(length_);
        std::memcpy(lengthWord_.get()->host(), &length, sizeof length);
    }
    added_ = rows;
}

void KeptStates::commit() noexcept {
    for (const auto& kept : kept_)
        if (std::exchange(kept->state->replaced, false)) std::swap(kept->state->now, kept->state->next);
    setLength(length_ + std::exchange(added_, 0));
}

void KeptStates::abandon() noexcept {
    for (const auto& kept : kept_) kept->state->replaced = false;
    added_ = 0;
}

void KeptStates::setLength(int64_t length) noexcept {
    length_ = length;
    for (const auto& kept : kept_) kept->state->length = length;
}

int64_t KeptStates::capacity() const noexcept {
    size_t pages = SIZE_MAX;
    for (const auto& kept : kept_)
        if (kept->state->form.heads > 0) pages = std::min(pages, kept->state->pages.size());
    if (pages == SIZE_MAX) return kept_.empty() ? 0 : kMaxLength;
    return std::min(static_cast<int64_t>(pages) * kKeptPageRows, kMaxLength);
}

int64_t KeptStates::bytes() const noexcept {
    int64_t bytes = 0;
    for (const auto& kept : kept_) {
        bytes += kept->numbers.size();
        for (const BudgetedBuffer& page : kept->pages) bytes += page.size();
        for (const BudgetedBlock& page : kept->blocks) bytes += page.size();
    }
    return bytes;
}

bool KeptStates::erasable() const noexcept {
    return std::all_of(kept_.begin(), kept_.end(), [](const auto& kept) { return kept->state->form.numbers == 0; });
}

void KeptStates::reset() noexcept {
    for (const auto& kept : kept_)
        if (kept->state->now)
            std::memset(kept->state->now, 0, static_cast<size_t>(kept->state->form.numbers) * sizeof(float));
    setLength(0);
}

void KeptStates::erase(int64_t begin, int64_t end) {
    if (begin < 0 || end < begin || end > length_)
        fail(Status::BadRange, "rows [%lld, %lld) are to be erased, the session keeps %lld", asLong(begin), asLong(end),
             asLong(length_));
    for (const auto& kept : kept_)
        if (kept->state->form.numbers > 0)
            fail(Status::NotSupported,
                 "op '%s' keeps one sum of all rows, from which no row can be erased: the session can only be reset",
                 kept->name.c_str());
    requireUsable();
    for (const auto& kept : kept_) {
        KeptState& state = *kept->state;
        // Rows are moved in stretches, each of which lies in one page before and after the move.
        for (int64_t to = begin, from = end; from < length_;) {
            const int64_t rows =
                std::min({length_ - from, kKeptPageRows - from % kKeptPageRows, kKeptPageRows - to % kKeptPageRows});
            const auto bytes = static_cast<size_t>(rows) * state.elementBytes();
            for (int head = 0; head < state.form.heads; ++head) {
                std::memmove(state.key(head, to), state.key(head, from), bytes * static_cast<size_t>(state.form.depth));
                std::memmove(state.value(head, to), state.value(head, from),
                             bytes * static_cast<size_t>(state.form.valueDepth));
            }
            to += rows;
            from += rows;
        }
    }
    setLength(length_ - (end - begin));
}

void KeptStates::reserve(int64_t length) {
    if (length < 0 || length > kMaxLength)
        fail(Status::BadRange, "memory for %lld rows is requested, at most %lld rows are possible", asLong(length),
             asLong(kMaxLength));
    makeRoom(length);
}

void KeptStates::shrink() noexcept {
    dropPages(static_cast<size_t>(ceilDiv(length_, kKeptPageRows)));
}

void KeptStates::useHalves(bool halves) {
    if (halves == halves_) return;
    if (length_ > 0)
        fail(Status::BadState, "the session keeps %lld rows, whose type cannot change: it has to be reset first",
             asLong(length_));
    halves_ = halves;
    shrink();  // all of it
    for (const auto& kept : kept_) kept->state->halves = halves;
}

void KeptStates::copyRows(const KeptState& from, KeptState& to, int64_t rows) const noexcept {
    const auto copy = [&](const void* source, void* target, int64_t elements) {
        if (from.halves == to.halves) {
            std::memcpy(target, source, static_cast<size_t>(elements) * to.elementBytes());
        } else if (from.halves) {
            loadKept(source, elements, true, static_cast<float*>(target));
        } else {
            storeKept(static_cast<const float*>(source), elements, true, target);
        }
    };
    for (int64_t row = 0; row < rows; row += kKeptPageRows) {
        const int64_t count = std::min(kKeptPageRows, rows - row);
        for (int head = 0; head < to.form.heads; ++head) {
            copy(from.key(head, row), to.key(head, row), count * to.form.depth);
            copy(from.value(head, row), to.value(head, row), count * to.form.valueDepth);
        }
    }
}

void KeptStates::copyFrom(const KeptStates& other) {
    const auto same = [](const std::unique_ptr<Kept>& a, const std::unique_ptr<Kept>& b) {
        return a->state->form == b->state->form;
    };
    if (!std::equal(kept_.begin(), kept_.end(), other.kept_.begin(), other.kept_.end(), same))
        fail(Status::InvalidValue,
             "the sessions keep states of different forms: they belong to different nets, or compute different parts "
             "of one");
    other.requireUsable();
    requireUsable();
    makeRoom(other.length_);
    for (size_t i = 0; i < kept_.size(); ++i) {
        KeptState& to = *kept_[i]->state;
        const KeptState& from = *other.kept_[i]->state;
        copyRows(from, to, other.length_);
        if (to.now) std::memcpy(to.now, from.now, static_cast<size_t>(to.form.numbers) * sizeof(float));
    }
    setLength(other.length_);
}

}  // namespace mnnc
