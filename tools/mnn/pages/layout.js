// Places the boxes of a graph in layers, so that every edge leads down (after Sugiyama, Tagawa and Toda, 1981). Boxes
// have sizes {w, h}; edges have numbers of boxes {from, to}. Returns {x, y}, the middle, of each box, the points of each
// edge, and the size of the graph.
const GAP_X = 18, GAP_Y = 46, MAX_BENDS = 30000;

// Returns the edges without cycles: those that lead back in a depth-first search are reversed.
function withoutCycles(count, edges) {
  const next = Array.from({length: count}, () => []);
  edges.forEach((edge, i) => next[edge.from].push(i));
  const state = new Uint8Array(count), turned = new Set();
  for (let start = 0; start < count; start++) {
    if (state[start]) continue;
    const stack = [[start, 0]];
    state[start] = 1;
    while (stack.length) {
      const top = stack[stack.length - 1];
      if (top[1] === next[top[0]].length) {
        state[top[0]] = 2;
        stack.pop();
        continue;
      }
      const i = next[top[0]][top[1]++], to = edges[i].to;
      if (state[to] === 1) turned.add(i);
      else if (state[to] === 0) {
        state[to] = 1;
        stack.push([to, 0]);
      }
    }
  }
  return edges.map((edge, i) => turned.has(i) ? {from: edge.to, to: edge.from} : {from: edge.from, to: edge.to});
}

// Returns the layer of each box: below its producers; a box without producers lies right above its first consumer.
function layersOf(count, edges) {
  const next = Array.from({length: count}, () => []), open = new Int32Array(count), layer = new Int32Array(count);
  for (const edge of edges) {
    next[edge.from].push(edge.to);
    open[edge.to]++;
  }
  const incoming = Int32Array.from(open), ready = [];
  for (let i = 0; i < count; i++) if (!open[i]) ready.push(i);
  for (let at = 0; at < ready.length; at++)
    for (const to of next[ready[at]]) {
      layer[to] = Math.max(layer[to], layer[ready[at]] + 1);
      if (--open[to] === 0) ready.push(to);
    }
  for (let i = 0; i < count; i++)
    if (!incoming[i] && next[i].length) layer[i] = Math.min(...next[i].map((to) => layer[to])) - 1;
  return layer;
}

// Returns the places that are closest to the wanted ones by least squares and keep the distances (pool adjacent
// violators): neighbours that would be too close move as one block.
function spread(wanted, distances) {
  const blocks = [];
  let offset = 0;
  wanted.forEach((want, i) => {
    if (i) offset += distances[i - 1];
    let block = {sum: want - offset, count: 1};
    while (blocks.length && blocks[blocks.length - 1].sum / blocks[blocks.length - 1].count >= block.sum / block.count) {
      const before = blocks.pop();
      block = {sum: before.sum + block.sum, count: before.count + block.count};
    }
    blocks.push(block);
  });
  const places = [];
  offset = 0;
  for (const block of blocks)
    for (let k = 0; k < block.count; k++) {
      if (places.length) offset += distances[places.length - 1];
      places.push(block.sum / block.count + offset);
    }
  return places;
}

function layOut(boxes, edges) {
  const count = boxes.length;
  if (!count) return {places: [], paths: [], width: 0, height: 0};
  const down = withoutCycles(count, edges), layer = Array.from(layersOf(count, down));
  // Long edges get a bend in each layer that they cross.
  const width = boxes.map((box) => box.w), height = boxes.map((box) => box.h);
  const above = boxes.map(() => []), below = boxes.map(() => []), chains = [];
  let bends = 0;
  for (const edge of down) bends += Math.max(0, layer[edge.to] - layer[edge.from] - 1);
  const link = (a, b) => {
    below[a].push(b);
    above[b].push(a);
  };
  for (const edge of down) {
    const chain = [edge.from];
    for (let at = layer[edge.from] + 1; bends <= MAX_BENDS && at < layer[edge.to]; at++) {
      const bend = width.push(4) - 1;
      height.push(0);
      layer.push(at);
      above.push([]);
      below.push([]);
      link(chain[chain.length - 1], bend);
      chain.push(bend);
    }
    if (edge.from !== edge.to) link(chain[chain.length - 1], edge.to);
    chain.push(edge.to);
    chains.push(chain);
  }
  const rows = Array.from({length: Math.max(...layer) + 1}, () => []);
  layer.forEach((at, i) => rows[at].push(i));
  const mean = (list, of, otherwise) => list.length ? list.reduce((sum, i) => sum + of[i], 0) / list.length : otherwise;
  // To avoid crossings, each row is sorted by the mean place of its neighbours, downwards and upwards in turn.
  const order = new Array(width.length).fill(0);
  const number = (row) => row.forEach((i, k) => { order[i] = k; });
  rows.forEach(number);
  for (let sweep = 0; sweep < 12; sweep++) {
    const downwards = sweep % 2 === 0, near = downwards ? above : below;
    for (const row of downwards ? rows : rows.slice().reverse()) {
      const key = new Map(row.map((i) => [i, mean(near[i], order, order[i])]));
      row.sort((a, b) => key.get(a) - key.get(b) || order[a] - order[b]);
      number(row);
    }
  }
  const x = new Array(width.length).fill(0), y = new Array(width.length).fill(0);
  const distancesOf = rows.map((row) => row.slice(1).map((i, k) => (width[row[k]] + width[i]) / 2 + GAP_X));
  for (let sweep = 0; sweep < 16; sweep++) {
    const downwards = sweep % 2 === 0;
    for (let k = 0; k < rows.length; k++) {
      const at = downwards ? k : rows.length - 1 - k, row = rows[at];
      const near = (i) => sweep < 12 ? (downwards ? above[i] : below[i]) : above[i].concat(below[i]);
      const wanted = row.map((i) => mean(near(i), x, x[i]));
      spread(wanted, distancesOf[at]).forEach((place, j) => { x[row[j]] = place; });
    }
  }
  const left = Math.min(...rows.flat().map((i) => x[i] - width[i] / 2));
  let top = 0;
  for (const row of rows) {
    const tall = Math.max(...row.map((i) => height[i]));
    for (const i of row) {
      y[i] = top + tall / 2;
      x[i] -= left;
    }
    top += tall + GAP_Y;
  }
  const paths = chains.map((chain, i) => {
    const points = chain.map((at) => [x[at], y[at]]);
    points[0][1] += height[chain[0]] / 2;
    points[points.length - 1][1] -= height[chain[chain.length - 1]] / 2;
    return down[i].from === edges[i].from ? points : points.reverse();
  });
  return {
    places: boxes.map((box, i) => ({x: x[i], y: y[i]})), paths,
    width: Math.max(...rows.flat().map((i) => x[i] + width[i] / 2)), height: top - GAP_Y,
  };
}

if (typeof module !== "undefined") module.exports = {layOut, spread};
