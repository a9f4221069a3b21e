// Turns exceptions into a status and a stored sentence at the boundary of each library's public functions.
#pragma once
#include <exception>
#include <new>
#include <stdexcept>

#include "base/error.h"

namespace mnnc {

// Runs the body. When it throws, passes the sentence to `keep`, without allocating.
template <typename Keep, typename Body>
Status statusOf(Keep&& keep, Body&& body) noexcept {
    try {
        body();
        return Status::Ok;
    } catch (const Error& error) {
        keep(error.what());
        return error.status();
    } catch (const std::bad_alloc&) {
        keep("the host has no more memory");
        return Status::OutOfMemory;
    } catch (const std::length_error&) {  // a container larger than the address space
        keep("the host has no more memory");
        return Status::OutOfMemory;
    } catch (const std::exception& error) {
        keep(error.what());
        return Status::Internal;
    } catch (...) {
        keep("an unknown exception reached the C boundary");
        return Status::Internal;
    }
}

}  // namespace mnnc
