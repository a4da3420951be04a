// The graph as a picture: WebGL by sigma, laid out by a worker. Everything it shows is in the list beside it too.
import Graph from "graphology";
import { useEffect, useRef, useState } from "preact/hooks";
import Sigma from "sigma";
import { EdgeLineProgram, NodePointProgram } from "sigma/rendering";
import type { MouseCoords } from "sigma/types";
import { t } from "../strings";
import { moveByCompositor } from "./graph_motion";

export interface GraphReply {
  nodes: [id: number, title: string, kind: number, namespace: number, cluster: number][];
  links: [source: number, target: number, type: number, weight: number][];
  kinds: string[];
  namespaces: string[];
  types: string[];
  type_counts: Record<string, number>;
  clusters: number[];
  left_out?: number;
}

/** Colours that can be told apart on a light and on a dark ground. */
export const COLOURS = ["#3f6ad8", "#c2571a", "#1d8a5b", "#a23bb0", "#b8860b", "#c03a56", "#2a8ca8", "#7a5cd6", "#6b7f2a", "#8a5a44"];
export const colour = (place: number) => COLOURS[place % COLOURS.length] as string;
const LARGE = 2_000;
/** The square root of how many nodes have room at their full size. */
const ROOMY = 35;
const LONGEST_LABEL = 36;
const FAINT = "#9aa3b0";
const GOLDEN = Math.PI * (3 - Math.sqrt(5));

/** Look for the node under the pointer only while nothing moves: reading that pixel waits for the whole picture. */
function restHover(sigma: Sigma): void {
  const captor = sigma.getMouseCaptor();
  captor.removeAllListeners("wheel"); // tells of nodes that were zoomed at; the zoom itself is done elsewhere
  const hover = captor.listeners("mousemove") as ((event: MouseCoords) => void)[];
  captor.on("mousedown", () => captor.removeAllListeners("mousemove"));
  captor.on("mouseup", () => {
    captor.removeAllListeners("mousemove");
    for (const one of hover) captor.on("mousemove", one);
  });
}

interface Props {
  reply: GraphReply;
  /** Places of link types that are hidden. */
  hidden: ReadonlySet<number>;
  selected: number | null;
  /** Numbers of memories to show alone, as a path or what depends on one. */
  marked: ReadonlySet<number> | null;
  onSelect: (id: number) => void;
}

export default function GraphCanvas({ reply, hidden, selected, marked, onSelect }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const shown = useRef({ hidden, selected, marked, onSelect });
  shown.current = { hidden, selected, marked, onSelect };
  const renderer = useRef<Sigma | null>(null);
  const [placing, setPlacing] = useState(false);
  const [failed, setFailed] = useState(false);

  useEffect(() => {
    if (!box.current) return;
    const graph = built(reply);
    let sigma: Sigma;
    try {
      sigma = new Sigma(graph, box.current, {
        // Points and lines instead of triangles: a software renderer takes a sixth of the time (23 ms of CPU a frame at 10,000 nodes).
        ...(reply.nodes.length > LARGE && {
          nodeProgramClasses: { circle: NodePointProgram },
          edgeProgramClasses: { line: EdgeLineProgram },
          hideEdgesOnMove: true,
          hideLabelsOnMove: true,
        }),
        enableCameraRotation: false,
        labelDensity: 0.4,
        labelGridCellSize: 180,
        labelRenderedSizeThreshold: reply.nodes.length > 1000 ? 9 : 5,
        labelColor: { color: getComputedStyle(box.current).color },
        defaultEdgeColor: FAINT,
        minCameraRatio: 0.02,
        maxCameraRatio: 4,
        nodeReducer: (_, data) => {
          const { selected, marked } = shown.current;
          const id = data.number as number;
          if (id === selected) return { ...data, highlighted: true, size: Math.max(8, data.size as number), zIndex: 2 };
          return marked && !marked.has(id) ? { ...data, color: FAINT, label: "", zIndex: 0 } : data;
        },
        edgeReducer: (edge, data) => {
          const { hidden, marked } = shown.current;
          if (hidden.has(data.type_place as number)) return { ...data, hidden: true };
          if (!marked) return data;
          const [source, target] = graph.extremities(edge);
          const inside = [source, target].every((end) => marked.has(graph.getNodeAttribute(end, "number")));
          return inside ? { ...data, size: 3 } : { ...data, hidden: true };
        },
      });
    } catch {
      setFailed(true);
      return;
    }
    restHover(sigma);
    const stop = reply.nodes.length > LARGE ? moveByCompositor(sigma) : () => {};
    sigma.on("clickNode", ({ node }) => shown.current.onSelect(graph.getNodeAttribute(node, "number")));
    renderer.current = sigma;
    const layout = laidOut(reply, graph, () => setPlacing(false));
    setPlacing(true);
    return () => {
      layout.terminate();
      stop();
      sigma.kill();
      renderer.current = null;
    };
  }, [reply]);

  useEffect(() => {
    renderer.current?.refresh({ skipIndexation: true });
  }, [hidden, selected, marked]);

  useEffect(() => {
    const sigma = renderer.current;
    if (!sigma || selected === null) return;
    const found = sigma.getGraph().findNode((_, data) => data.number === selected);
    const at = found && sigma.getNodeDisplayData(found);
    if (at && sigma.getCamera().ratio > 0.9) void sigma.getCamera().animate({ x: at.x, y: at.y, ratio: 0.5 }, { duration: 300 });
  }, [selected]);

  if (failed) return <p class="notice">{t.graph.noWebgl}</p>;
  return (
    <div class="graph-place">
      <div class="graph-canvas" ref={box} role="img" aria-label={t.graph.picture(reply.nodes.length, reply.links.length)} />
      <p class="graph-note faint" role="status">
        {placing ? t.graph.placing : t.graph.size(reply.nodes.length, reply.links.length)}
      </p>
    </div>
  );
}

function built(reply: GraphReply): Graph {
  const graph = new Graph({ multi: true });
  const degrees = new Uint32Array(reply.nodes.length);
  for (const [source, target] of reply.links) {
    degrees[source] = (degrees[source] ?? 0) + 1;
    degrees[target] = (degrees[target] ?? 0) + 1;
  }
  const scale = Math.min(1, ROOMY / Math.sqrt(reply.nodes.length));
  const inside = new Map<number, number>();
  reply.nodes.forEach(([id, title, kind, , cluster], place) => {
    const rank = inside.get(cluster) ?? 0;
    inside.set(cluster, rank + 1);
    graph.addNode(place, {
      ...started(cluster, rank, reply.clusters[cluster] ?? 1),
      number: id,
      label: title.length > LONGEST_LABEL ? `${title.slice(0, LONGEST_LABEL - 1)}…` : title,
      size: scale * (3 + 1.6 * Math.sqrt(degrees[place] ?? 0)),
      color: colour(kind),
    });
  });
  for (const [source, target, type] of reply.links) {
    graph.addEdge(source, target, { type_place: type, color: `${colour(type)}${reply.links.length > 5000 ? "66" : "cc"}`, size: reply.links.length > 1000 ? 1 : 2 });
  }
  return graph;
}

/** Where a node begins: clusters on a spiral, the largest in the middle, their nodes in a disc each. */
function started(cluster: number, rank: number, size: number): { x: number; y: number } {
  const far = cluster ? 40 * Math.sqrt(cluster) : 0;
  const near = (10 * Math.sqrt(size) * Math.sqrt(rank + 0.5)) / Math.sqrt(size);
  return {
    x: far * Math.cos(cluster * GOLDEN) + near * Math.cos(rank * GOLDEN),
    y: far * Math.sin(cluster * GOLDEN) + near * Math.sin(rank * GOLDEN),
  };
}

/** A worker that moves the nodes of *graph* to better places. */
function laidOut(reply: GraphReply, graph: Graph, onEnd: () => void): Worker {
  const worker = new Worker(new URL("../graph_layout.ts", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }: MessageEvent<Float32Array | null>) => {
    if (data === null) return onEnd();
    graph.updateEachNodeAttributes(
      (node, attributes) => {
        attributes.x = data[2 * Number(node)];
        attributes.y = data[2 * Number(node) + 1];
        return attributes;
      },
      { attributes: ["x", "y"] },
    );
  };
  const positions = new Float32Array(2 * reply.nodes.length);
  graph.forEachNode((node, { x, y }) => positions.set([x, y], 2 * Number(node)));
  worker.postMessage({ positions, links: Uint32Array.from(reply.links.flatMap(([source, target]) => [source, target])) });
  return worker;
}
