// The page of 'mnn graph': draws the graphs, and shows the details of the operator that is chosen.
const LINE = 14, MARGIN = 24, LONGEST = 40;
const picture = byId("picture"), allBoxes = [];

const shortened = (text) => [...text].length > LONGEST ? [...text].slice(0, LONGEST - 1).join("") + "\u2026" : text;

function linesOf(box) {
  const lines = [];
  for (const op of box.ops) {
    lines.push(["type", op.type]);
    if (op.name) lines.push(["name", shortened(op.name)]);
  }
  const words = [box.algorithm, box.time].filter(Boolean).join(" \u00b7 ");
  if (words) lines.push(["words", shortened(words)]);
  return lines;
}

function curve(points) {
  let path = `M${points[0][0]} ${points[0][1]}`;
  for (let i = 1; i < points.length; i++) {
    const [x0, y0] = points[i - 1], [x1, y1] = points[i], middle = (y0 + y1) / 2;
    path += ` C${x0} ${middle} ${x1} ${middle} ${x1} ${y1}`;
  }
  return path;
}

function drawBox(parent, box, place) {
  const classes = "box" + (box.ops.length > 1 ? " together" : "");
  const group = draw(parent, "g", {class: classes, transform: `translate(${place.x} ${place.y})`});
  const isEnd = box.look === "end";
  draw(group, "rect", {
    x: -box.w / 2, y: -box.h / 2, width: box.w, height: box.h, rx: isEnd ? box.h / 2 : 5, fill: box.fill, stroke: box.line,
  });
  box.lines.forEach(([kind, text], i) =>
    draw(group, "text", {class: kind, "text-anchor": "middle", y: -box.h / 2 + 6 + LINE * (i + 0.7)}, text));
  draw(group, "title", {}, box.ops.map((op) => `${op.type} ${op.name}`).join("\n"));
  group.addEventListener("click", () => choose(box));
  box.element = group;
  allBoxes.push(box);
}

// Draws a graph and returns its size. Its boxes get their places in it.
function drawGraph(parent, graph) {
  for (const box of graph.boxes) {
    box.lines = linesOf(box);
    box.h = box.lines.length * LINE + 12;
    box.w = Math.max(60, ...box.lines.map(([kind, text]) => [...text].length * (kind === "type" ? 7 : 6) + 16));
  }
  const layout = layOut(graph.boxes, graph.edges);
  graph.edges.forEach((edge, i) => {
    const points = layout.paths[i], path = draw(parent, "path", {class: "edge", d: curve(points), "marker-end": "url(#tip)"});
    draw(path, "title", {}, `${edge.name}: ${edge.text}`);
    if (!edge.text) return;
    const [x0, y0] = points[points.length - 2], [x1, y1] = points[points.length - 1];
    draw(parent, "text", {class: "shape", "text-anchor": "middle", x: (x0 + 2 * x1) / 3, y: (y0 + 2 * y1) / 3}, edge.text);
  });
  graph.boxes.forEach((box, i) => {
    box.x = layout.places[i].x;
    box.y = layout.places[i].y;
    drawBox(parent, box, box);
  });
  return layout;
}

// Draws the main graph, and the others in a column on its right, each in a frame.
function drawAll() {
  const marker = draw(draw(picture, "defs"), "marker",
    {id: "tip", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 6, markerHeight: 6, orient: "auto"});
  draw(marker, "path", {d: "M0 0L8 4L0 8z", fill: "#9ca3af"});
  const size = {width: 0, height: 0};
  let left = 0, top = 0;
  data.graphs.forEach((graph, i) => {
    const part = draw(picture, "g");
    const {width, height} = drawGraph(part, graph);
    graph.left = i ? left + MARGIN : 0;
    graph.top = i ? top + MARGIN + 20 : 0;
    part.setAttribute("transform", `translate(${graph.left} ${graph.top})`);
    for (const box of graph.boxes) {
      box.x += graph.left;
      box.y += graph.top;
    }
    if (i) {
      const frame = {x: left, y: top, width: Math.max(width, 200) + 2 * MARGIN, height: height + 2 * MARGIN + 20, rx: 8};
      draw(picture, "rect", {class: "body", ...frame});
      draw(picture, "text", {class: "title", x: left + 10, y: top + 18}, shortened(graph.title));
      top += frame.height + 40;
      size.width = Math.max(size.width, left + frame.width);
    } else {
      left = width + 100;
      size.width = width;
    }
    size.height = Math.max(size.height, i ? top : height);
  });
  for (const call of data.calls) {
    const box = data.graphs[call.graph].boxes[call.box], body = data.graphs[call.body];
    const x = body.left - MARGIN, y = body.top - MARGIN - 4, from = box.x + box.w / 2;
    draw(picture, "path", {class: "call", d: `M${from} ${box.y} C${from + 60} ${box.y} ${x - 60} ${y} ${x} ${y}`});
  }
  return size;
}

const size = drawAll(), view = {x: 0, y: 0, width: 1, height: 1};

function show(x, y, width, height) {
  Object.assign(view, {x, y, width, height});
  picture.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
}

// Shows all graphs, with at most 1.5 pixels for a unit.
function showWhole() {
  const width = Math.max(size.width + 2 * MARGIN, picture.clientWidth / 1.5);
  show((size.width - width) / 2, -MARGIN, width, Math.max(size.height + 2 * MARGIN, picture.clientHeight / 1.5));
}

// Shows all graphs or, where they would be too small to read, the first operator.
function showBeginning() {
  showWhole();
  if (unit() < 2.5 || !allBoxes.length) return;
  const width = picture.clientWidth, height = picture.clientHeight;
  show(allBoxes[0].x - width / 2, allBoxes[0].y - height / 4, width, height);
}

// Returns how many units of the picture a pixel covers.
function unit() {
  return Math.max(view.width / picture.clientWidth, view.height / picture.clientHeight) || 1;
}

function showBox(box) {
  const width = picture.clientWidth, height = picture.clientHeight;
  show(box.x - width / 2, box.y - height / 2, width, height);
}

function tensorList(list, title, tensors) {
  if (!tensors.length) return;
  add(list, "dt", {}, title);
  for (const tensor of tensors) add(list, "dd", {}, [tensor.name, tensor.text].filter(Boolean).join(": "));
}

function choose(chosen) {
  for (const box of allBoxes) box.element.classList.toggle("chosen", box === chosen);
  const details = byId("details");
  details.replaceChildren();
  const facts = add(details, "dl"), look = data.legend.find((row) => row.key === chosen.look);
  if (chosen.ops.length > 1) add(details, "p", {}, "These operators are computed together.");
  const rows = [["place", look ? look.meaning : ""], ["backend", chosen.backend], ["algorithm", chosen.algorithm],
    ["time", chosen.time], ["why not on the wanted backend", chosen.reason], ["runs as", (chosen.commands || []).join(", ")]];
  for (const [name, value] of rows)
    if (value) {
      add(facts, "dt", {}, name);
      add(facts, "dd", {}, value);
    }
  for (const op of chosen.ops) {
    add(details, "h2", {}, `${op.type} ${op.name}`);
    const list = add(details, "dl");
    tensorList(list, "inputs", op.inputs);
    tensorList(list, "outputs", op.outputs);
  }
}

let found = [], foundAt = 0;

function search(text) {
  const wanted = text.trim().toLowerCase();
  const has = (box) => box.ops.some((op) => `${op.type} ${op.name}`.toLowerCase().includes(wanted));
  found = wanted ? allBoxes.filter(has) : [];
  for (const box of allBoxes) box.element.classList.toggle("found", found.includes(box));
  byId("found").textContent = wanted ? `${found.length} found` : "";
  foundAt = 0;
}

byId("search").addEventListener("input", (event) => search(event.target.value));
byId("search").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !found.length) return;
  const box = found[foundAt++ % found.length];
  choose(box);
  showBox(box);
});
byId("whole").addEventListener("click", showWhole);
picture.addEventListener("wheel", (event) => {
  event.preventDefault();
  const area = picture.getBoundingClientRect(), step = unit(), factor = Math.pow(1.0015, event.deltaY);
  const x = view.x + view.width / 2 + (event.clientX - area.left - area.width / 2) * step;
  const y = view.y + view.height / 2 + (event.clientY - area.top - area.height / 2) * step;
  show(x - (x - view.x) * factor, y - (y - view.y) * factor, view.width * factor, view.height * factor);
}, {passive: false});
let drag = null;
picture.addEventListener("pointerdown", (event) => { drag = {x: event.clientX, y: event.clientY}; });
window.addEventListener("pointerup", () => { drag = null; });
window.addEventListener("pointermove", (event) => {
  if (!drag) return;
  const step = unit();
  show(view.x - (event.clientX - drag.x) * step, view.y - (event.clientY - drag.y) * step, view.width, view.height);
  drag = {x: event.clientX, y: event.clientY};
});

showFacts("Graph");
const present = new Set(allBoxes.map((box) => box.look));
for (const row of data.legend) {
  if (!present.has(row.key)) continue;
  const entry = add(byId("legend"), "span", {class: "legend"}), sample = add(entry, "i");
  sample.style.background = row.fill;
  sample.style.borderColor = row.line;
  entry.append(row.meaning);
}
if (data.timed) add(byId("legend"), "span", {class: "legend"}, "from white to red: the time of an operator");
showBeginning();
