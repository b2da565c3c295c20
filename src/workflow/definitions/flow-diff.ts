import { isDeepStrictEqual } from 'node:util';
import type { Flow, FlowEdge, FlowNode } from '../flow/flow.ts';

/** What became of a flow from one version to another. */
export interface FlowDiff {
  readonly nodes: {
    readonly added: readonly string[];
    readonly removed: readonly string[];
    /** With the fields that differ: `type`, `data.prompt`, `retry`, …; moving a node is no change. */
    readonly changed: readonly { readonly nodeId: string; readonly fields: readonly string[] }[];
  };
  readonly edges: { readonly added: readonly FlowEdge[]; readonly removed: readonly FlowEdge[] };
  readonly isSettingsChanged: boolean;
}

/** Compares node by node, by their ids. */
export function diffFlows(before: Flow, after: Flow): FlowDiff {
  const old = new Map(before.nodes.map((node) => [node.id, node]));
  const current = new Map(after.nodes.map((node) => [node.id, node]));
  const changed = [...current.values()].flatMap((node) => {
    const fields = fieldsChanged(old.get(node.id) ?? node, node);
    return fields.length > 0 ? [{ nodeId: node.id, fields }] : [];
  });
  return {
    nodes: {
      added: [...current.keys()].filter((id) => !old.has(id)),
      removed: [...old.keys()].filter((id) => !current.has(id)),
      changed,
    },
    edges: {
      added: edgesMissing(after.edges, before.edges),
      removed: edgesMissing(before.edges, after.edges),
    },
    isSettingsChanged: !isDeepStrictEqual(before.settings ?? {}, after.settings ?? {}),
  };
}

function fieldsChanged(before: FlowNode, after: FlowNode): string[] {
  const names = ['type', 'label', 'retry', 'timeout', 'onError'] as const;
  const own = names.filter((name) => !isDeepStrictEqual(before[name], after[name]));
  const keys = new Set([...Object.keys(before.data), ...Object.keys(after.data)]);
  const data = [...keys].filter((key) => !isDeepStrictEqual(before.data[key], after.data[key]));
  return [...own, ...data.map((key) => `data.${key}`)];
}

/** Edges of the first list that the second has not, however often. */
function edgesMissing(some: readonly FlowEdge[], others: readonly FlowEdge[]): FlowEdge[] {
  const known = new Set(others.map(keyOf));
  return some.filter((edge) => !known.has(keyOf(edge)));
}

function keyOf({ source, target, sourceHandle, targetHandle, condition }: FlowEdge): string {
  return JSON.stringify([source, target, sourceHandle, targetHandle, condition]);
}
