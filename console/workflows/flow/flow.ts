import type { Answer } from '../../api/contracts.ts';

/** A flow as the service stores it. */
export type Flow = Answer<'workflow', 'GET /api/v1/workflows/:id'>['flow'];
export type FlowNode = Flow['nodes'][number];
export type FlowEdge = NonNullable<Flow['edges']>[number];
export type FlowFault = Answer<'workflow', 'POST /api/v1/workflows/validate'>['faults'][number];
export type Component = Answer<'workflow', 'GET /api/v1/components'>['components'][number];
export type Template = Answer<'workflow', 'GET /api/v1/workflows/templates'>['templates'][number];

/** What flows are made of, by name. */
export type Components = ReadonlyMap<string, Component>;

/** The settings of a node, by name. */
export type Settings = Readonly<Record<string, unknown>>;

/** The edges of a flow; one without any may leave them out. */
export function edgesOf({ edges = [] }: Flow): readonly FlowEdge[] {
  return edges;
}

export function settingsOf({ data }: FlowNode): Settings {
  return { ...data };
}

/** What a node is called where people read it. */
export function nameOf({ id, label }: FlowNode): string {
  return label ?? id;
}
