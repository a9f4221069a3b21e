// Describes a profile for its page.
#include "profile_page.h"

namespace tool {

Json profilePageData(const RunTimes& times, const Json& facts) {
    Json ops = Json::array();
    for (const OpTimes& op : times.ops)
        ops.push_back(Json::object({{"name", op.name},
                                    {"type", op.type},
                                    {"backend", op.backend},
                                    {"algorithm", op.algorithm},
                                    {"shapes", op.shapes},
                                    {"ms", op.median()},
                                    {"flops", op.flops},
                                    {"begin", op.begin.back()},
                                    {"last", op.ms.back()}}));
    return Json::object({{"facts", facts}, {"ops", ops}});
}

}  // namespace tool
