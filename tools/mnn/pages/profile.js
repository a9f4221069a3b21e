// The page of 'mnn profile': the timeline of the last run, sums, and a row for each operator.
const COLOURS = ["#2f6fd0", "#d97706", "#15803d", "#b91c1c", "#7c3aed", "#0f766e", "#be185d", "#4d7c0f", "#6b7280"];
const ROW = 26, LEFT = 70;
const types = [...new Set(data.ops.map((op) => op.type))];
const colourOf = (op) => COLOURS[types.indexOf(op.type) % COLOURS.length];
const total = data.ops.reduce((sum, op) => sum + op.ms, 0) || 1;
const longest = Math.max(...data.ops.map((op) => op.ms), 1e-9);
const rateOf = (row) => row.flops > 0 && row.ms > 0 ? row.flops / row.ms * 1e-6 : 0;
const algorithmOf = (op) => [op.type, op.algorithm].filter(Boolean).join(" ");
const wordsOf = (op) => `${algorithmOf(op)} ${op.name}: ${op.ms.toFixed(3)} ms on ${op.backend}, ${op.shapes}`;
data.ops.forEach((op, i) => { op.number = i + 1; });

// Draws the last run, with a lane for each backend.
function drawTimeline(zoom) {
  const lanes = [...new Set(data.ops.map((op) => op.backend))];
  const end = Math.max(...data.ops.map((op) => op.begin + op.last), 1e-6);
  const parent = byId("timeline"), width = (Math.max(parent.clientWidth, 400) - LEFT - 20) * zoom;
  const svg = byId("timeline").querySelector("svg") || parent.appendChild(blankSvg());
  svg.replaceChildren();
  svg.setAttribute("width", LEFT + width + 20);
  svg.setAttribute("height", (lanes.length + 1) * ROW);
  lanes.forEach((lane, i) => draw(svg, "text", {x: 4, y: ROW * i + 17}, lane));
  for (const op of data.ops) {
    const bar = draw(svg, "rect", {
      x: LEFT + op.begin / end * width, y: ROW * lanes.indexOf(op.backend) + 4,
      width: Math.max(op.last / end * width, 0.5), height: ROW - 8, fill: colourOf(op),
    });
    draw(bar, "title", {}, wordsOf(op));
    bar.addEventListener("click", () => { byId("under").textContent = wordsOf(op); });
  }
  const marks = 10 * Math.ceil(zoom), [unit, units] = end < 1 ? ["µs", 1000] : ["ms", 1];
  for (let i = 0; i <= marks; i++) {
    const x = LEFT + width * i / marks;
    const anchor = i < marks ? "middle" : "end";  // the last one would not fit
    draw(svg, "text", {x, y: ROW * lanes.length + 16, "text-anchor": anchor},
      `${(end * units * i / marks).toPrecision(3)} ${unit}`);
  }
}

const blankSvg = () => new DOMParser().parseFromString("<svg></svg>", "text/html").querySelector("svg");

// A table that sorts by the column whose title is clicked. columns: {title, of, text, number, word, bar}
function makeTable(table, columns, rows, sorted) {
  let by = sorted, descending = true, filter = () => true;
  const head = add(add(table, "thead"), "tr"), body = add(table, "tbody");
  const fill = () => {
    const value = columns[by].of;
    const order = rows.filter(filter).sort((a, b) => value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0);
    if (descending) order.reverse();
    body.replaceChildren();
    for (const row of order) {
      const line = add(body, "tr");
      for (const column of columns) {
        if (column.bar) {
          const bar = add(add(line, "td", {class: "bar"}), "div");
          bar.style.width = `${column.bar(row) * 100}%`;
          bar.style.background = colourOf(row);
        } else {
          add(line, "td", {class: column.number ? "number" : column.word ? "word" : ""}, column.text ? column.text(row) : column.of(row));
        }
      }
    }
  };
  columns.forEach((column, i) => {
    const cell = add(head, "th", {class: (column.number ? "number " : "") + (column.of ? "sortable" : "")}, column.title);
    if (!column.of) return;
    cell.addEventListener("click", () => {
      descending = by === i ? !descending : Boolean(column.number);
      by = i;
      fill();
    });
  });
  fill();
  return (test) => {
    filter = test;
    fill();
  };
}

const time = {title: "ms", of: (row) => row.ms, text: (row) => row.ms.toFixed(3), number: true};
const share = {title: "share", of: (row) => row.ms, text: (row) => `${(row.ms / total * 100).toFixed(1)}%`, number: true};
const rate = {title: "GFLOP/s", of: rateOf, text: (row) => rateOf(row) ? rateOf(row).toFixed(1) : "", number: true};

showFacts("Profile");
drawTimeline(1);
byId("zoom").addEventListener("input", (event) => drawTimeline(Number(event.target.value)));

const sums = new Map();
for (const op of data.ops) {
  const sum = sums.get(algorithmOf(op)) || {type: op.type, words: algorithmOf(op), ms: 0, flops: 0, count: 0};
  sum.ms += op.ms;
  sum.flops += op.flops;
  sum.count++;
  sums.set(sum.words, sum);
}
const largest = Math.max(...[...sums.values()].map((sum) => sum.ms), 1e-9);
makeTable(byId("sums"), [
  {title: "type and algorithm", of: (sum) => sum.words}, {title: "count", of: (sum) => sum.count, number: true},
  time, share, rate, {title: "", bar: (sum) => sum.ms / largest}], [...sums.values()], 2);
const filterOps = makeTable(byId("ops"), [
  {title: "#", of: (op) => op.number, number: true}, {title: "type", of: (op) => op.type, word: true},
  {title: "name", of: (op) => op.name}, {title: "algorithm", of: (op) => op.algorithm},
  {title: "backend", of: (op) => op.backend, word: true}, {title: "shapes", of: (op) => op.shapes}, time, share, rate,
  {title: "", bar: (op) => op.ms / longest}], data.ops, 6);
byId("search").addEventListener("input", (event) => {
  const wanted = event.target.value.trim().toLowerCase();
  filterOps((op) => `${op.type} ${op.name} ${op.algorithm}`.toLowerCase().includes(wanted));
});
