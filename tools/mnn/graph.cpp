// mnn graph: draws a model's graph, or prints it as JSON.
#include <optional>

#include "commands.h"
#include "common.h"
#include "dot.h"
#include "facts.h"
#include "graph_page.h"
#include "loading.h"
#include "net_graph.h"
#include "open_model.h"
#include "output_file.h"
#include "pages.h"

namespace tool {
namespace {

std::string formatOf(const GraphOptions& options) {
    if (!options.format.empty()) return options.format;
    if (options.output == kStandardStream) return "dot";
    const size_t dot = options.output.rfind('.');
    std::string ending = dot == std::string::npos ? "" : options.output.substr(dot + 1);
    if (ending == "dot" || ending == "gv") return "dot";
    if (ending == "svg" || ending == "html") return ending;
    throw UsageError(fmt::format("the ending of '{}' is none of .dot, .svg and .html; give --format", options.output));
}

void addSession(Net& net, Facts& facts, const Interpreter& model, const GraphOptions& options,
                std::optional<Loading>& loading) {
    const Session session = createSession(model, options.flags);
    applyShapes(session, options.flags);
    requireShapes(session);
    loading.reset();
    addPlan(net, session);
    if (options.profile) {
        addTimes(net, measureOperators(session, options.seed, options.runs), session);
        facts.add("run", fmt::format("{:.3f} ms, median of {}", net.runMs, options.runs));
        facts.add("sum of operators", fmt::format("{:.3f} ms", net.totalMs));
        if (net.copiesMs > 0) facts.add("copies between them", fmt::format("{:.3f} ms", net.copiesMs));
    }
    facts.addSettings(session);
}

// Prints the reports of the library, which hold all data of the pictures.
int printJsonGraph(const GraphOptions& options) {
    std::optional<Loading> loading(options.model);
    const Interpreter model = openModel(options.model, options.flags.parsedShapes());
    Json result = Json::object({{"model", options.model},
                                {"net", parseOrdered(reportOf(model, "graph"))},
                                {"session", nullptr},
                                {"session_error", nullptr}});
    try {
        const Session session = createSession(model, options.flags);
        applyShapes(session, options.flags);
        requireShapes(session);
        result["session"] = parseOrdered(reportOf(session, "graph"));
    } catch (const MissingBackend&) {
        throw;
    } catch (const std::runtime_error& error) {
        if (!options.flags.shapes.empty()) throw;
        result["session_error"] = error.what();
    }
    loading.reset();
    writeOutput(options.output, jsonText(result) + "\n");
    return 0;
}

}  // namespace

int graph(const GraphOptions& options) {
    options.flags.checkTogether();
    if (options.json) return printJsonGraph(options);
    const std::string format = formatOf(options);
    std::optional<Loading> loading(options.model);
    const Interpreter model = openModel(options.model, options.flags.parsedShapes());
    Net net = readNet(model);
    Facts facts;
    facts.add("model", options.model);
    facts.add("library", mnn_version());
    // A model without a session has a graph, too. An explicit request for times or shapes fails without a session.
    const bool required = options.profile || !options.flags.shapes.empty();
    try {
        addSession(net, facts, model, options, loading);
    } catch (const MissingBackend&) {
        throw;
    } catch (const ToolError& error) {
        if (required) throw;
        facts.add("not planned", error.what());
    } catch (const UsageError& error) {
        if (required) throw;
        facts.add("not planned", error.what());
    }
    loading.reset();
    if (format == "html") {
        writeOutput(options.output, filledPage(kGraphPage, graphPageData(net, facts.list())));
    } else {
        const std::string dot = dotText(net, facts.line());
        writeOutput(options.output, format == "svg" ? drawnByDot(dot) : dot);
    }
    return 0;
}

}  // namespace tool
