import { edgesOf, settingsOf, type Flow, type FlowEdge, type FlowNode } from './flow.ts';

/** What expressions see beside the nodes: no node may be called so. */
const reservedIds: ReadonlySet<string> = new Set(['inputs', 'loop', 'nodes', 'execution']);

/** A free id for a node of a component, such as placeholders read well: `llm`, `httpRequest2`. */
export function freeIdOf(flow: Flow, component: string): string {
  const base = component
    .replace(/(?<=.)Node$/, '')
    .replace(/^[A-Z]+(?=[A-Z][a-z]|$)|^[A-Z]/, (head) => head.toLowerCase());
  const taken = new Set(flow.nodes.map(({ id }) => id));
  const isFree = (id: string) => !taken.has(id) && !reservedIds.has(id);
  for (let count = 1; ; count++) {
    const id = count === 1 ? base : `${base}${count}`;
    if (isFree(id)) return id;
  }
}

export function addNode(flow: Flow, node: FlowNode): Flow {
  return { ...flow, nodes: [...flow.nodes, node] };
}

/** The flow with a copy of a node beside it, which nothing leads to yet. */
export function copyNode(flow: Flow, node: FlowNode): { readonly flow: Flow; readonly id: string } {
  const id = freeIdOf(flow, node.type);
  const { x, y } = node.position ?? { x: 0, y: 0 };
  const copy = { ...node, id, position: { x: x + 40, y: y + 90 } };
  return { flow: addNode(flow, copy), id };
}

export function addEdge(flow: Flow, edge: FlowEdge): Flow {
  return { ...flow, edges: [...edgesOf(flow), edge] };
}

/** The flow with some fields of a node replaced; those that are undefined are left out. */
export function changeNode(flow: Flow, id: string, change: Changes<FlowNode>): Flow {
  const nodes = flow.nodes.map((node) => (node.id === id ? merge(node, change) : node));
  return { ...flow, nodes };
}

/** The flow with some fields of an edge replaced; those that are undefined are left out. */
export function changeEdge(flow: Flow, index: number, change: Changes<FlowEdge>): Flow {
  const edges = edgesOf(flow).map((edge, at) => (at === index ? merge(edge, change) : edge));
  return { ...flow, edges };
}

/** The flow with one setting of a node replaced, or without it where the value is undefined. */
export function changeSetting(
  flow: Flow,
  id: string,
  { name, value }: { readonly name: string; readonly value: unknown },
): Flow {
  const node = flow.nodes.find((one) => one.id === id);
  if (!node) return flow;
  return changeNode(flow, id, { data: merge(settingsOf(node), { [name]: value }) });
}

/** The flow with a node under another id. Its edges follow; texts that name it do not. */
export function renameNode(flow: Flow, from: string, to: string): Flow {
  const rename = (id: string) => (id === from ? to : id);
  return {
    ...flow,
    nodes: flow.nodes.map((node) => (node.id === from ? { ...node, id: to } : node)),
    edges: edgesOf(flow).map((edge) => ({
      ...edge,
      source: rename(edge.source),
      target: rename(edge.target),
    })),
  };
}

/** Without a node and the edges at it. */
export function removeNode(flow: Flow, id: string): Flow {
  return {
    ...flow,
    nodes: flow.nodes.filter((node) => node.id !== id),
    edges: edgesOf(flow).filter(({ source, target }) => source !== id && target !== id),
  };
}

export function removeEdge(flow: Flow, index: number): Flow {
  return { ...flow, edges: edgesOf(flow).filter((_, at) => at !== index) };
}

type Changes<T> = { readonly [K in keyof T]?: T[K] | undefined };

function merge<T extends object>(fields: T, change: Changes<T>): T {
  const merged = Object.entries({ ...fields, ...change }).filter(
    ([, value]) => value !== undefined,
  );
  // Only optional fields are taken away.
  return Object.fromEntries(merged) as T;
}
