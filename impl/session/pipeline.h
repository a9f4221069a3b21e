// One graph on the session's backend: its tensors and its stages. The main net is one; so is every body of If
// and While. The plans for the input shapes of some of the last resizes are kept beside the present one.
#pragma once
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "plan/op_record.h"
#include "plan/storage_location.h"
#include "schedule/schedule.h"
#include "session/budgeted_buffer.h"
#include "session/session_context.h"
#include "session/shared_programs.h"
#include "session/stage.h"

namespace mnnc {

class ControlNode;
struct PlannedGraph;

class PlanObserver {
  public:
    // Called when a run has planned a later stage, or failed to.
    virtual void planned() = 0;

  protected:
    ~PlanObserver() = default;
};

// The input shapes, types and formats that a plan is made for.
struct InputDescription {
    Shape shape;
    DataType type = DataType::Float32;
    Format format = Format::NCHW;
    std::shared_ptr<const TensorList> list;

    bool operator==(const InputDescription& other) const noexcept;
};

class Pipeline {
  public:
    // `inputs` and `outputs` are ids of any tensors of the graph. `updates`: run all operators that write constants.
    // Throws what scheduling throws (which names unsupported operators).
    Pipeline(SessionContext& context, int graph, const std::vector<int>& inputs, const std::vector<int>& outputs,
             bool updates = false);
    ~Pipeline();

    size_t inputCount() const noexcept { return inputIds_.size(); }
    // Returns the input as in the plan in use, or as in the model before the first plan.
    Operand& input(size_t index) { return tensors_.own(inputIds_[index]); }
    size_t outputCount() const noexcept { return schedule_.outputs.size(); }
    const Operand& output(size_t index) const noexcept { return tensors_[schedule_.outputs[index]]; }
    // Returns the address on the host of the elements of a tensor of the graph; null: they are not there now.
    const void* data(const Operand& tensor) const noexcept { return tensors_.data(tensor); }
    void* inputData(size_t index) const noexcept { return tensors_.frame.data(inputIds_[index] + 1); }
    const Frame& frame() const noexcept { return tensors_.frame; }
    int outputId(size_t index) const noexcept { return schedule_.outputs[index]; }
    int inputId(size_t index) const noexcept { return inputIds_[index]; }

    // Describes an input for the next prepare(); the tensor itself changes only when that succeeds.
    void describeInput(size_t index, const Shape& shape, DataType type, Format format,
                       const std::shared_ptr<const TensorList>& list = nullptr);
    // Returns the description that the next prepare() plans for.
    const InputDescription& described(size_t index) const noexcept { return wanted_[index]; }
    // Infers the outputs for the described inputs without a plan and without contents; an entry is empty where only a
    // run knows the output. Throws what shape rules throw.
    std::vector<std::optional<Operand>> inferOutputs();
    // Makes or finds the plan of the first stage for the described inputs, and allocates input memory. Inputs whose
    // description changed become zeros, the others keep their contents. run() plans later stages. On failure the
    // previous plan is still valid; it can run, unless memory had to grow for the new plan and could not be had again.
    void prepare();
    // Enlarges the memory of inputs with an open extent to what they need when the kept state is at its capacity; their
    // contents are preserved. Throws LimitExceeded, OutOfMemory, and what a device throws.
    void growInputs();
    // Keeps this many plans more than other pipelines of the session.
    void keepFurtherPlans(size_t count) noexcept { furtherPlans_ = count; }
    // Returns whether there is a plan for the described inputs.
    bool prepared() const noexcept { return ready_ && described_ && !stale_; }
    // Returns whether all shapes are known before a run.
    bool singleStage() const noexcept { return stages_.size() == 1 && controls_.empty(); }
    // Computes the outputs; variables change with commitVariables().
    void run(PlanObserver* observer = nullptr);
    // Gives the variables their values of the last run, when the whole run has succeeded.
    void commitVariables();
    // Returns the recording of a whole run, when the device does it in one; else null. Where operators keep a state,
    // there is no such recording, because the host has work before and after the run.
    Recording* recording() const noexcept {
        return singleStage() && variables_.empty() && !keeps() ? stages_[0]->recording() : nullptr;
    }

    // The session's memory for an input.
    void* inputMemory(size_t index) noexcept { return inputMemory_[index].data(); }
    // Returns whether a tensor has its shape before a run: the plan of the first stage produces it, or it is no result
    // of the graph.
    bool settled(int id) const noexcept;
    // Returns the location of the output; empty while its stage is not planned, and for results of control flow.
    ConstStorageLocation outputStorage(size_t index) const noexcept;
    // Returns whether an output may be a view of the input in the next run, which may plan later stages again.
    bool outputMayLieIn(size_t input) const noexcept;
    // Returns the tensor whose memory the output uses, when it may move to other memory of the host; else null.
    const Operand* movableRoot(size_t index) const;
    // Moves an input, or the root of an output (movableRoot), to other memory of the host until the next plan, together
    // with its views; null: back to the session's memory. Returns whether it was in other memory before. When a run is
    // under way, the part of an output that it has produced is copied.
    bool placeInput(size_t index, void* data) noexcept;
    bool placeOutput(const Operand& root, void* data) noexcept;

    // Return whether a device alone reads an input, or writes an output, in the present plan, so that any buffer can
    // hold it.
    bool deviceReads(size_t input) noexcept;
    bool deviceMakes(size_t output) noexcept;
    // Moves the tensor to the beginning of a device block until the next plan; null: back to the session's memory. The
    // host has no values of it meanwhile.
    void readFrom(size_t input, DeviceBlock* block) noexcept;
    void makeIn(size_t output, DeviceBlock* block) noexcept;

    // Keeps one plan and only the memory that it needs, unless a caller has some of that memory mapped. Throws what a
    // device throws: prepare() has to follow then.
    void trim();

    void appendRecords(std::vector<OpRecord>& records) const;
    // Appends the operators of the plan that is kept for these inputs. Returns false where there is none, or where only
    // a run knows all of its operators.
    bool appendKeptRecords(const std::vector<InputDescription>& inputs, std::vector<OpRecord>& records) const;
    int64_t arenaBytes() const;
    // Describes this graph, then the graphs of control flow in it.
    void appendGraphs(std::vector<PlannedGraph>& graphs) const;

    // Returns whether an operator of the pipeline reads a tensor, or the tensor is an output.
    bool reads(int id) const;
    // Marks the tensors of the net for which reads() is true, by id. Further versions of them have larger ids.
    void markRead(std::vector<bool>& read) const;
    const Operand& tensor(int id) const noexcept { return tensors_[id]; }
    // The private memory of a constant in this pipeline, which begins as a copy of its values. Writing there does not
    // outdate the plan.
    void* ownConstant(int id);
    // Returns the ids of the constants that have such memory.
    std::vector<int> ownConstants() const;
    // Returns whether operators write the constant: it has private memory, and runs read the present values there.
    bool isVariable(int id) const noexcept;
    bool hasVariables() const noexcept { return !variables_.empty(); }
    // Return whether operators keep a state from run to run, and how many do.
    bool keeps() const noexcept { return schedule_.keepers > 0; }
    int keepers() const noexcept { return schedule_.keepers; }
    // Called when the values of these private constants have changed: no plan is valid any more, and the next prepare()
    // plans everything anew.
    void constantsChanged(const std::set<int>& ids);

  private:
    // A plan beside the one in use.
    struct KeptPlan {
        std::vector<InputDescription> inputs;
        std::vector<std::unique_ptr<BoundProgram>> stages;
    };
    using KeptPlans = std::list<KeptPlan>;
    // A constant that operators write. Its new value waits in a buffer when it lies in the memory of another variable.
    struct CarriedVariable {
        int constant, value;  // tensor ids
        BudgetedBuffer waiting;
    };

    void loadConstants(const NetGraph& net);
    void makeVariables();
    void checkVariable(const CarriedVariable& variable) const;
    void checkVariables() const;
    bool liesInOther(const CarriedVariable& variable) const;
    void saveVariables();
    // Returns whether programs of other sessions fit: no constant of this pipeline differs from the model's.
    bool shares() const noexcept { return context_.programs && ownConstants_.size() == variables_.size(); }
    // Finds the program of another session, or makes one.
    ProgramPtr programOf(size_t stage, Stage::Request request);
    void planFirst();
    void planLater(size_t stage, PlanObserver* observer);
    // Returns the inputs as they are described for the next plan.
    std::vector<Tensor> wantedInputs() const;
    bool isMade(int id) const noexcept;
    bool relocate(const Operand& root, void* to) noexcept;
    // Returns whether a plan, which was last in use for these inputs, serves the described ones.
    bool serves(const std::vector<InputDescription>& inputs, const BoundProgram* first) const noexcept;
    // Called when the plan in use serves the described inputs: inputs that differ in an open extent take the described
    // shape.
    void takeOpenExtents() noexcept;
    // Returns the bytes of memory for an input. With an open extent they suffice for every extent up to the capacity of
    // the kept state.
    int64_t inputBytes(const Tensor& input, const BoundProgram* first) const;
    void exchange(KeptPlan& kept) noexcept;
    // Takes a plan into use and gives it memory; on failure the previous one is in use again.
    void use(KeptPlan& kept);
    void bind();
    void bindOrLose() noexcept;
    void bindInputs() noexcept;
    void zeroInputs(const std::vector<InputDescription>& before);
    bool makeRoom() noexcept;

    SessionContext& context_;
    GraphSchedule schedule_;
    const std::shared_ptr<SharedPrograms> shared_;
    GraphTensors tensors_;
    std::map<int, BudgetedBuffer> ownConstants_;  // by tensor id
    // Nodes that read private constants, by position in the schedule.
    std::map<size_t, std::unique_ptr<Node>> renewedNodes_;
    std::vector<CarriedVariable> variables_;
    std::vector<int> inputIds_;
    std::vector<BudgetedBuffer> inputMemory_;
    std::vector<InputDescription> wanted_, planned_;  // planned_: for the plan in use; empty before the first
    bool described_ = false;                          // the plan in use serves wanted_
    bool ready_ = false;                              // the plan in use has memory
    bool stale_ = false;                              // private constants have changed since the plan in use was made
    KeptPlans kept_;                                  // most recently used first
    size_t furtherPlans_ = 0;
    std::vector<std::unique_ptr<ControlNode>> controls_;
    std::vector<std::unique_ptr<Stage>> stages_;
    size_t stagesRun_ = 0;  // stages before the one that the present run is planning; else 0
};

}  // namespace mnnc
