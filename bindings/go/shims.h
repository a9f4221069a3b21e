/*
 * The functions that Go calls. The library keeps the sentence of a failure for the thread, and a goroutine may be on
 * another one at its next call: so each of these makes one call and takes the sentence along.
 */
#ifndef MNN_GO_SHIMS_H
#define MNN_GO_SHIMS_H

#include "shims_library.h"
#include "shims_model.h"
#include "shims_session.h"
#include "shims_tensor.h"

#undef MODEL
#undef SESSION
#undef TENSOR
#undef CANCEL
#undef RUNTIME

#endif
