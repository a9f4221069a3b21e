"""Reads the files that the tool writes: graphs for Graphviz, and pages."""
import html.parser
import json
import re

VOID = {"meta", "input", "br", "link", "img"}
TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|->|[A-Za-z_][A-Za-z_0-9]*|-?[0-9.]+|[{}\[\]=;,])', re.DOTALL)


class Dot:
    """A text of DOT: nodes and edges with their attributes, and the subgraph of each node."""

    def __init__(self, text):
        self.tokens, at = [], 0
        text = text.rstrip()
        while at < len(text):
            found = TOKEN.match(text, at)
            assert found, f"no token of DOT at {text[at:at + 60]!r}"
            self.tokens.append(found.group(1))
            at = found.end()
        self.at, self.nodes, self.edges, self.clusters = 0, {}, [], {}
        assert self.take("digraph") and self.next()
        self.body(None)
        assert self.at == len(self.tokens), "something follows the graph"

    def next(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def take(self, token):
        if self.tokens[self.at] != token:
            return False
        self.at += 1
        return True

    def attributes(self):
        result = {}
        if self.take("["):
            while not self.take("]"):
                name = self.next()
                assert self.take("="), name
                result[name] = words(self.next())
                self.take(",")
        return result

    def body(self, cluster):
        assert self.take("{")
        while not self.take("}"):
            name = self.next()
            if name == "subgraph":
                inner = self.next()
                self.clusters[inner] = {"inside": cluster}
                self.body(inner)
            elif self.take("="):
                value = words(self.next())
                if cluster:
                    self.clusters[cluster][name] = value
            elif self.take("->"):
                self.edges.append((name, self.next(), self.attributes()))
            elif name in ("graph", "node", "edge"):
                self.attributes()
            else:
                assert re.fullmatch(r"g\d+n\d+", name), f"a node with the name {name}"
                assert name not in self.nodes, f"the node {name} is there twice"
                self.nodes[name] = {**self.attributes(), "cluster": cluster}
            self.take(";")


def words(token):
    """Returns the text of a label."""
    if not token.startswith('"'):
        return token
    text = re.sub(r"\\(.)", lambda found: "\n" if found.group(1) == "n" else found.group(1), token[1:-1], flags=re.DOTALL)
    return text.replace("&amp;", "&")


class Page(html.parser.HTMLParser):
    """A page: its elements are closed in order, it refers to no other place, and its data is JSON."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.scripts, self.data, self.ids = [], [], None, set()
        self.feed(text)
        self.close()
        assert not self.open, f"elements are not closed: {self.open}"
        assert len(self.scripts) == 2, f"{len(self.scripts)} scripts"
        self.data = json.loads(self.scripts[0])
        code = text.replace(self.scripts[0], "")
        for word in ("http:", "https:", "//cdn", "url(h", "@import", "fetch(", "XMLHttp", "import(", "innerHTML", "eval("):
            assert word not in code, f"the page has {word}"

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        for name in ("src", "href", "srcset", "action", "data"):
            assert name not in attributes, f"<{tag} {name}>"
        if "id" in attributes:
            assert attributes["id"] not in self.ids, attributes["id"]
            self.ids.add(attributes["id"])
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open}"
        self.open.pop()

    def handle_data(self, text):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += text
