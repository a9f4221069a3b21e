// A backend whose tensors lie in memory of its own and whose executions are recorded before they run.
//
// The pipeline keeps everything that others look at (inputs, outputs, what control flow reads) in host
// memory; between them tensors stay on the device. It asks for the copies in between, plans lifetimes, binds
// memory, and hands maximal runs of executions to record().
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "backend/backend.h"
#include "backend/recording.h"
#include "backend/shared_buffer.h"

namespace mnnc {

// A stretch of device memory.
class DeviceBlock {
  public:
    virtual ~DeviceBlock() = default;
    virtual void* host() const noexcept { return nullptr; }  // where the host sees it, if it does
};
using DeviceBlockPtr = std::shared_ptr<DeviceBlock>;

// A copy between two blocks, which can be made any number of times.
class BlockCopy {
  public:
    virtual ~BlockCopy() = default;
    virtual void run() const = 0;  // returns when the bytes are there
};

// An execution that is to be recorded, and the number of its scratch in the frame; 0: it needs none.
struct DeviceStep {
    std::shared_ptr<Execution> execution;
    int scratch = 0;
};

enum class DeviceUse : uint8_t {
    Compute,  // only the device reads and writes
    Upload,   // the host writes, the device reads
    Download  // the device writes, the host reads
};

class DeviceBackend : public Backend {
  public:
    // What it computes on. Executions of one backend may be recorded by another with the same identity and
    // configuration.
    virtual const void* identity() const noexcept = 0;
    // Bytes of a tensor's storage on the device, whose elements may be narrower than the host's.
    virtual int64_t storageBytes(const Operand& tensor) const = 0;
    virtual int64_t alignment() const noexcept = 0;  // of offsets in a block
    // Throws OutOfMemory.
    virtual DeviceBlockPtr allocate(int64_t bytes, DeviceUse use) = 0;
    // A buffer of the host, or a new one of `bytes` where it asks for that. Throws InvalidValue with what is wrong with
    // it, NotSupported with what the device lacks, OutOfMemory.
    virtual DeviceBlockPtr share(const SharedBuffer& buffer, int64_t bytes) = 0;
    // How the host finds `bytes` at an offset of a block. A descriptor is a new one, which becomes the host's. Throws
    // NotSupported where the host cannot use it.
    virtual SharedBuffer describe(const DeviceBlock& block, int64_t offset, int64_t bytes,
                                  SharedBuffer::Kind kind) const = 0;
    // Of bytes from the beginning of one block to that of another.
    virtual std::unique_ptr<BlockCopy> createCopy(const DeviceBlock& from, const DeviceBlock& to, int64_t bytes) = 0;
    // A copy from a row-major host tensor through `staging` (host-visible memory of the host's layout).
    virtual std::unique_ptr<Execution> createUpload(const Operand& host, const Operand& staging,
                                                    const Operand& device) = 0;
    // A copy into a row-major host tensor that lies in a Download block.
    virtual std::unique_ptr<Execution> createDownload(const Operand& device, const Operand& host) = 0;
    // All of these, in order, over the memory of a frame, which has all of it and outlives the recording. Throws Error.
    virtual std::unique_ptr<Recording> record(std::span<const DeviceStep> steps, const Frame& frame) = 0;
    // How many choices the device has measured or was given, all of which are part of Backend::cache(); and how many
    // such a cache holds.
    virtual size_t measurements() const { return 0; }
    virtual size_t measurementsIn(const std::vector<uint8_t>&) const { return 0; }
};

}  // namespace mnnc
