// Web worker: places the nodes of a graph with ForceAtlas2, a bounded number of rounds, and tells positions on the way.
import Graph from "graphology";
import forceAtlas2 from "graphology-layout-forceatlas2";

export interface LayoutRequest {
  positions: Float32Array;
  links: Uint32Array;
}

const ROUNDS = 240;
const STEP = 20;
const LONGEST_MS = 12_000;

self.onmessage = ({ data }: MessageEvent<LayoutRequest>) => {
  const graph = new Graph({ multi: true });
  const count = data.positions.length / 2;
  for (let node = 0; node < count; node++) {
    graph.addNode(node, { x: data.positions[2 * node], y: data.positions[2 * node + 1] });
  }
  for (let link = 0; link < data.links.length; link += 2) graph.addEdge(data.links[link], data.links[link + 1]);
  const settings = { ...forceAtlas2.inferSettings(graph), barnesHutOptimize: count > 500, linLogMode: true, slowDown: 2 };
  const began = performance.now();
  for (let round = 0; round < ROUNDS && performance.now() - began < LONGEST_MS; round += STEP) {
    forceAtlas2.assign(graph, { iterations: STEP, settings });
    const positions = new Float32Array(2 * count);
    graph.forEachNode((node, { x, y }) => {
      positions[2 * Number(node)] = x;
      positions[2 * Number(node) + 1] = y;
    });
    postMessage(positions, { transfer: [positions.buffer] });
  }
  postMessage(null);
};
