/**
 * Machines drawn as charts: the layout is elkjs's, handed in.
 *
 * L1. The same table gives the same chart.
 */
import type { ElkExtendedEdge, ElkNode } from 'elkjs/lib/elk-api.js';
import { type Drawable, jsonOf } from '../diagram.js';
import type { Chart, ChartState, ChartTransition } from '../view/frames.js';
import { type Graph, type GraphState, graphOf } from './graph.js';

/** What lays a graph out: an instance of elkjs's `ELK`. */
export interface LayoutEngine {
  layout(graph: ElkNode): Promise<ElkNode>;
}

const characterWidth = 7;
const lineHeight = 15;

const options = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.json.shapeCoords': 'ROOT',
  'elk.json.edgeCoords': 'ROOT',
  'elk.randomSeed': '1',
  'elk.padding': '[top=12,left=12,bottom=12,right=12]',
  // With Brandes and Koepf's placement, elk's default, and the order of the table kept, a call is drawn three times as wide.
  'elk.layered.nodePlacement.strategy': 'LINEAR_SEGMENTS',
  'elk.spacing.nodeNode': '40',
  'elk.spacing.edgeNode': '8',
  'elk.spacing.edgeEdge': '7',
  'elk.spacing.edgeLabel': '4',
  'elk.layered.spacing.nodeNodeBetweenLayers': '16',
  'elk.layered.spacing.edgeNodeBetweenLayers': '8',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '7',
};

/** Lays a machine out. Rejects as the engine does. */
export async function layOut(machine: Chart['machine'], table: Drawable, engine: LayoutEngine): Promise<Chart> {
  const graph = graphOf(jsonOf(table));
  const laid = await engine.layout({
    id: ' root',
    layoutOptions: options,
    children: nodesIn(graph, undefined),
    edges: graph.transitions.map(({ from, to, labels }, index) => ({
      id: ` ${index}`,
      sources: [from],
      targets: [to],
      labels: [{ text: labels.join('\n'), width: widthOf(labels), height: labels.length * lineHeight }],
    })),
  });
  const nodes = new Map<string, ElkNode>();
  const collect = (node: ElkNode): void => {
    for (const child of node.children ?? []) {
      nodes.set(child.id, child);
      collect(child);
    }
  };
  collect(laid);
  return {
    machine,
    width: Math.ceil(laid.width ?? 0),
    height: Math.ceil(laid.height ?? 0),
    states: graph.states.map((state) => placed(state, nodes.get(state.id))),
    transitions: graph.transitions.map((transition, index) => ({
      ...transition,
      ...routed((laid.edges ?? []).find(({ id }) => id === ` ${index}`)),
    })),
  };
}

function nodesIn({ states }: Graph, parent: string | undefined): ElkNode[] {
  return states
    .filter((state) => state.parent === parent)
    .map(({ id, label, isFrame }): ElkNode => {
      if (!isFrame) return { id, width: Math.max(56, label.length * characterWidth + 24), height: 32 };
      const layoutOptions = { 'elk.padding': '[top=34,left=14,bottom=14,right=14]' };
      return { id, layoutOptions, children: nodesIn({ states, transitions: [] }, id) };
    });
}

function widthOf(labels: readonly string[]): number {
  return Math.max(...labels.map((label) => label.length)) * (characterWidth - 0.5);
}

function placed({ id, label, parent, isInitial, isFinal }: GraphState, node: ElkNode | undefined): ChartState {
  const { x = 0, y = 0, width = 0, height = 0 } = node ?? {};
  const place = { x: round(x), y: round(y), width: round(width), height: round(height) };
  return { id, label, ...place, ...(parent === undefined ? {} : { parent }), isInitial, isFinal };
}

function routed(edge: ElkExtendedEdge | undefined): Pick<ChartTransition, 'points' | 'labelAt'> {
  const points = (edge?.sections ?? []).flatMap(({ startPoint, bendPoints = [], endPoint }) => [
    startPoint,
    ...bendPoints,
    endPoint,
  ]);
  const { x = points[0]?.x ?? 0, y = points[0]?.y ?? 0 } = edge?.labels?.[0] ?? {};
  return {
    points: points.map((point) => ({ x: round(point.x), y: round(point.y) })),
    labelAt: { x: round(x), y: round(y) },
  };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
