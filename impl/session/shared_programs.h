// State that equal pipelines share, so that only the first one plans: pipelines of one graph with the same inputs and
// outputs, in sessions with the same settings and interpreter. They share the programs in use, the numbers of operands,
// and constants read from the file.
#pragma once
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "session/plan_settings.h"
#include "session/program.h"
#include "tensor/stored_content.h"

namespace mnnc {

// Names the part of a graph that a pipeline runs. `updates` adds all operators that write constants.
struct GraphCut {
    int graph = 0;
    std::vector<int> inputs, outputs;
    bool updates = false;

    bool operator==(const GraphCut&) const = default;
};

class SharedPrograms {
  public:
    // `tensors` is the number of tensors in the graph, which have their ids plus 1 as numbers.
    SharedPrograms(PlanSettings of, GraphCut from, size_t tensors)
        : settings(std::move(of)), cut(std::move(from)), numbers(static_cast<int>(tensors) + 1) {}

    const PlanSettings settings;
    const GraphCut cut;
    OperandNumbers numbers;

    // Returns a program of a stage for which fits(program) is true; null: no such program is in use.
    template <typename Fits>
    ProgramPtr find(size_t stage, Fits&& fits) {
        const std::lock_guard lock(mutex_);
        return findLocked(stage, fits);
    }
    // Adds the program, for which fits() is true, for others to find; returns the one that another session added
    // meanwhile, if any.
    template <typename Fits>
    ProgramPtr add(size_t stage, ProgramPtr program, Fits&& fits) {
        const std::lock_guard lock(mutex_);
        if (ProgramPtr other = findLocked(stage, fits)) return other;
        programs_[stage].push_back(program);
        return program;
    }

    // Returns the content of a constant, which is read once and lives as long as this object.
    const void* content(int operand, const StoredContent& stored) {
        const std::lock_guard lock(mutex_);
        std::shared_ptr<const void>& content = contents_[operand];
        if (!content) content = stored.load();
        return content.get();
    }

  private:
    template <typename Fits>
    ProgramPtr findLocked(size_t stage, Fits&& fits) {
        std::list<std::weak_ptr<const Program>>& programs = programs_[stage];
        for (auto at = programs.begin(); at != programs.end();) {
            ProgramPtr program = at->lock();
            if (program && fits(*program)) return program;
            at = program ? std::next(at) : programs.erase(at);
        }
        return nullptr;
    }

    std::mutex mutex_;
    std::map<size_t, std::list<std::weak_ptr<const Program>>> programs_;
    std::map<int, std::shared_ptr<const void>> contents_;
};

// Finds the shared programs of an interpreter, which live as long as a pipeline uses them.
class ProgramStore {
  public:
    std::shared_ptr<SharedPrograms> find(const PlanSettings& settings, const GraphCut& cut, size_t tensors) {
        const std::lock_guard lock(mutex_);
        for (auto at = programs_.begin(); at != programs_.end();) {
            std::shared_ptr<SharedPrograms> programs = at->lock();
            if (programs && programs->cut == cut && programs->settings == settings) return programs;
            at = programs ? std::next(at) : programs_.erase(at);
        }
        auto programs = std::make_shared<SharedPrograms>(settings, cut, tensors);
        programs_.push_back(programs);
        return programs;
    }

  private:
    std::mutex mutex_;
    std::list<std::weak_ptr<SharedPrograms>> programs_;
};

}  // namespace mnnc
