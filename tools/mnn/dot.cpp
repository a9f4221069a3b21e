// Writes a graph in the language of Graphviz. Names come from the model, which is not trusted, so every name is passed
// through quoted().
#include "dot.h"

#include "net_boxes.h"

namespace tool {
namespace {

constexpr size_t kLongestLabel = 48;

// Cuts the text at the end of a character.
std::string shortened(const std::string& name) {
    if (name.size() <= kLongestLabel) return name;
    size_t length = kLongestLabel;
    while (length > 0 && (static_cast<unsigned char>(name[length]) & 0xc0u) == 0x80) --length;
    return name.substr(0, length) + "\xe2\x80\xa6";
}

// Escapes or replaces characters that end a string of DOT, that its labels replace (escapes, entities of HTML), and
// that XML cannot hold.
std::string escapedLabel(const std::string& name) {
    std::string result;
    for (size_t i = 0; i < name.size(); ++i) {
        const auto byte = static_cast<unsigned char>(name[i]);
        if (byte < 0x20 || byte == 0x7f)
            result += '?';
        else if (name.compare(i, 2, "\xef\xbf") == 0 && i + 2 < name.size() &&
                 static_cast<unsigned char>(name[i + 2]) >= 0xbe) {
            result += '?';
            i += 2;
        } else if (name[i] == '&')
            result += "&amp;";
        else if (name[i] == '"' || name[i] == '\\')
            (result += '\\') += name[i];
        else
            result += name[i];
    }
    return result;
}

std::string quoted(const std::vector<std::string>& lines) {
    std::string result;
    for (const std::string& line : lines)
        if (!line.empty()) result += (result.empty() ? "" : "\\n") + escapedLabel(line);
    return '"' + result + '"';
}

class Writer {
  public:
    explicit Writer(const Net& net) : net_(net) {}

    std::string write(const std::string& title) {
        text_ = "digraph net {\n  graph [fontname=\"Helvetica\", fontsize=11, compound=true, labelloc=t, label=" +
                quoted({title}) +
                "];\n  node [shape=box, style=\"filled,rounded\", fontname=\"Helvetica\", fontsize=10];\n"
                "  edge [fontname=\"Helvetica\", fontsize=8, color=\"#6b7280\"];\n";
        for (size_t graph = 0; graph < net_.graphs.size(); ++graph) {
            if (graph > 0)
                text_ += fmt::format("  subgraph cluster_g{} {{\n  style=solid; color=\"#7c3aed\"; label={};\n", graph,
                                     quoted({titleOf(net_, graph)}));
            addNodes(graph);
            addEdges(graph);
            if (graph > 0) text_ += "  }\n";
        }
        for (size_t graph = 1; graph < net_.graphs.size(); ++graph) addCall(graph);
        return text_ + "}\n";
    }

  private:
    static std::string idOf(size_t graph, size_t op) { return fmt::format("g{}n{}", graph, op); }

    void addNode(size_t number, size_t op, bool alone) {
        const NetGraph& graph = net_.graphs[number];
        const GraphOp& node = graph.ops[op];
        const Look& look = lookOf(net_, graph, node);
        std::string fill = look.fill;
        std::vector<std::string> lines = {node.type, shortened(node.name)},
                                 tip = {node.type + " " + node.name, look.meaning};
        if (node.group >= 0) {
            const GraphGroup& group = graph.groups[static_cast<size_t>(node.group)];
            if (group.ms >= 0) fill = heatColour(net_, group.ms);
            if (alone)
                for (std::string& line : wordsOf(group)) lines.push_back(std::move(line));
            tip.push_back(group.reason);
        }
        text_ += fmt::format("    {} [label={}, tooltip={}, fillcolor=\"{}\", color=\"{}\"{}];\n", idOf(number, op),
                             quoted(lines), quoted(tip), fill, look.line,
                             node.type == "Input" || node.type == "Output" ? ", shape=ellipse, style=filled" : "");
    }

    std::vector<std::string> wordsOf(const GraphGroup& group) const {
        return {group.algorithm, group.ms >= 0 ? timeText(net_, group.ms) : ""};
    }

    // Operators of a group are inside a frame, which has the label of the group.
    void addNodes(size_t number) {
        const NetGraph& graph = net_.graphs[number];
        for (size_t op = 0; op < graph.ops.size(); ++op) {
            const GraphOp& node = graph.ops[op];
            const auto group = static_cast<size_t>(node.group);
            if (node.isDrawn() && (node.group < 0 || graph.groups[group].ops.size() == 1)) addNode(number, op, true);
        }
        for (size_t i = 0; i < graph.groups.size(); ++i) {
            const GraphGroup& group = graph.groups[i];
            if (group.ops.size() < 2) continue;
            std::vector<std::string> lines = {"computed together"};
            for (std::string& line : wordsOf(group)) lines.push_back(std::move(line));
            text_ += fmt::format(
                "    subgraph cluster_g{}f{} {{\n    style=\"dashed,rounded\"; color=\"#374151\"; "
                "label={};\n",
                number, i, quoted(lines));
            for (const size_t op : group.ops) addNode(number, op, false);
            text_ += "    }\n";
        }
    }

    void addEdges(size_t number) {
        const NetGraph& graph = net_.graphs[number];
        for (const GraphEdge& edge : edgesOf(graph)) {
            const GraphTensor& tensor = graph.tensors[edge.tensor];
            text_ += fmt::format("    {} -> {} [label={}, tooltip={}];\n", idOf(number, edge.from),
                                 idOf(number, edge.to), quoted({tensorText(tensor)}), quoted({tensor.name}));
        }
    }

    // Draws an edge from the operator to the frame of the graph that it runs.
    void addCall(size_t number) {
        const NetGraph& graph = net_.graphs[number];
        if (graph.caller < 0) return;
        for (size_t op = 0; op < graph.ops.size(); ++op) {
            if (!graph.ops[op].isDrawn()) continue;
            text_ += fmt::format("  {} -> {} [style=dashed, color=\"#7c3aed\", lhead=cluster_g{}];\n",
                                 idOf(static_cast<size_t>(graph.callerGraph), static_cast<size_t>(graph.caller)),
                                 idOf(number, op), number);
            return;
        }
    }

    const Net& net_;
    std::string text_;
};

}  // namespace

std::string dotText(const Net& net, const std::string& title) {
    return Writer(net).write(title);
}

}  // namespace tool
