import { Type } from 'typebox';
import type { Component, ComponentTable } from '../components/component.ts';
import { ConditionCompiler, type CompiledCondition } from './expressions/conditions.ts';
import type { Flow, FlowNode } from './flow.ts';
import { readGraph, type Graph } from './graph.ts';
import type { GraphEdge } from './cycles.ts';
import { FaultList } from './fault-list.ts';
import { checkReferences } from './reference-faults.ts';
import { checkEdge, checkNode } from './shape-faults.ts';
import { findOversize } from './oversize.ts';
import { findMisfits } from './setting-faults.ts';
import { Settings, type SettingsGround } from './settings.ts';
import type { ReadNode, ReadEdge, FlowReading } from './reading.ts';

/** Looks through a flow; undefined in place of a reading when it is too large to be looked at. */
export function readWholeFlow(
  flow: Flow,
  components: ComponentTable,
): FlowReading | { readonly faults: FaultList } {
  const faults = new FaultList();
  faults.addAll(findOversize(flow));
  if (faults.isAny) return { faults };
  const ids = uniqueIds(flow, faults);
  const places = new Map(ids.map((id, place) => [id, place]));
  const ground = { conditions: new ConditionCompiler(), isNode: (id: string) => places.has(id) };
  const found = flow.nodes.map((node) => readNode(node, { components, ground, faults }));
  const firsts = new Map(found.toReversed().map((one) => [one.node.id, one]));
  const nodes = ids.map((id) => withComponent(firsts.get(id)));
  const ends = resolveEdges(flow, places, faults);
  const isLoop = (place: number) => nodes[place]?.component.control === 'loop';
  const { graph, faults: graphFaults } = readGraph({ ids, edges: ends, isLoop });
  faults.addAll(graphFaults);
  const edges = new Map(
    ends.map((end) => [end.index, readEdge(flow, end, { graph, nodes, ground, faults })]),
  );
  const settings = found.map((one) => ({
    place: places.get(one.node.id) ?? 0,
    settings: one.settings,
  }));
  const reading: FlowReading = { flow, faults, graph, nodes, settings, edges };
  checkReferences(reading);
  return reading;
}

/** Of a component that nobody knows: its texts may hold placeholders all the same. */
const anySettings = Type.Object({}, { additionalProperties: true });

interface NodeGround {
  readonly components: ComponentTable;
  readonly ground: SettingsGround;
  readonly faults: FaultList;
}

type FoundNode = Omit<ReadNode, 'component'> & { readonly component: Component | undefined };

function withComponent(found: FoundNode | undefined): ReadNode | undefined {
  const { component } = found ?? {};
  return found && component && { ...found, component };
}

function readNode(node: FlowNode, { components, ground, faults }: NodeGround): FoundNode {
  const { id, type, data } = node;
  checkNode(node, faults);
  const component = components.get(type);
  if (!component) {
    const message = `there is no component ${JSON.stringify(type.slice(0, 64))}`;
    faults.add({ code: 'UNKNOWN_COMPONENT', message, nodeId: id });
    return { node, component, settings: new Settings(data, anySettings, ground) };
  }
  const settings = new Settings(data, component.input, ground);
  const rendered = settings.expressions.map(({ path }) => path);
  const misfits = findMisfits(data, component.input, rendered);
  faults.addAll(misfits.map((fault) => ({ ...fault, nodeId: id })));
  return { node, component, settings };
}

function uniqueIds({ nodes }: Flow, faults: FaultList): readonly string[] {
  const ids = new Set<string>();
  for (const { id } of nodes) {
    const message = `the id ${id} is given to several nodes`;
    if (ids.has(id)) faults.add({ code: 'DUPLICATE_NODE', message, nodeId: id });
    ids.add(id);
  }
  return [...ids];
}

function resolveEdges(
  { edges }: Flow,
  places: ReadonlyMap<string, number>,
  faults: FaultList,
): readonly GraphEdge[] {
  const known = new Set<string>();
  return edges.flatMap((edge, index) => {
    const { source, target, sourceHandle, targetHandle, condition } = edge;
    const from = places.get(source);
    const to = places.get(target);
    if (from === undefined) refuseEnd('source', source, { index, faults });
    if (to === undefined) refuseEnd('target', target, { index, faults });
    if (from === undefined || to === undefined) return [];
    const key = JSON.stringify([source, target, sourceHandle, targetHandle, condition]);
    const message = `the edge from ${source} to ${target} is there already`;
    if (known.has(key)) faults.add({ code: 'DUPLICATE_EDGE', message, edge: index });
    known.add(key);
    return [{ index, source: from, target: to }];
  });
}

function refuseEnd(
  end: 'source' | 'target',
  id: string,
  { index, faults }: { readonly index: number; readonly faults: FaultList },
): void {
  const message = `the edge's ${end} ${JSON.stringify(id.slice(0, 64))} is no node of the flow`;
  faults.add({ code: 'DANGLING_EDGE', message, edge: index });
}

interface EdgeGround {
  readonly graph: Graph;
  readonly nodes: readonly (ReadNode | undefined)[];
  readonly ground: SettingsGround;
  readonly faults: FaultList;
}

function readEdge(flow: Flow, end: GraphEdge, on: EdgeGround): ReadEdge {
  const edge = flow.edges[end.index] ?? { source: '', target: '' };
  const source = on.nodes[end.source];
  const body = on.graph.bodies.get(end.source);
  const isBodyEdge = body?.members.has(end.target) === true;
  if (source) on.faults.addAll(checkEdge({ edge, index: end.index, source, isBodyEdge }));
  if (edge.condition === undefined) return { edge };
  const condition = compileGuard(edge.condition, end.index, on);
  return condition ? { edge, condition } : { edge };
}

function compileGuard(
  text: string,
  edge: number,
  { ground, faults }: EdgeGround,
): CompiledCondition | undefined {
  const condition = faults.catching({ code: 'BAD_EXPRESSION', edge }, () =>
    ground.conditions.compile(text, ground.isNode),
  );
  for (const message of condition?.references.problems ?? []) {
    faults.add({ code: 'UNKNOWN_REFERENCE', message, edge });
  }
  return condition;
}
