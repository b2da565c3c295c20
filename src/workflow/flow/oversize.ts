import type { Flow, FlowFault } from './flow.ts';
import { flowLimits } from './limits.ts';
import { findUnsoundData } from './setting-faults.ts';

/** What of a flow is too large; found before anything else is looked at, and quickly. */
export function findOversize(flow: Flow): FlowFault[] {
  const { nodes, edges } = flow;
  const counted = [
    ...tooMany('nodes', nodes.length, flowLimits.nodes),
    ...tooMany('edges', edges.length, flowLimits.edges),
  ];
  if (counted.length > 0) return counted;
  if (nodes.length === 0) return [{ code: 'EMPTY_FLOW', message: 'a flow has at least one node' }];
  const unsound = nodes.flatMap(({ id, data }) =>
    findUnsoundData(data).map((fault) => ({ ...fault, nodeId: id })),
  );
  // What is too deep cannot be measured.
  return unsound.length > 0 ? unsound : findTooLarge(flow);
}

function tooMany(what: string, count: number, max: number): FlowFault[] {
  if (count <= max) return [];
  const message = `a flow has at most ${max} ${what}; this one has ${count}`;
  return [{ code: 'TOO_LARGE', message }];
}

function findTooLarge(flow: Flow): FlowFault[] {
  let total = bytesOf(flow.edges);
  const faults: FlowFault[] = [];
  for (const node of flow.nodes) {
    const bytes = bytesOf(node.data);
    total += bytes + bytesOf({ ...node, data: undefined });
    const message = `data has ${bytes} bytes of JSON; at most ${flowLimits.dataBytes} are taken`;
    if (bytes > flowLimits.dataBytes) faults.push({ code: 'TOO_LARGE', message, nodeId: node.id });
  }
  const message = `the flow has ${total} bytes of JSON; at most ${flowLimits.flowBytes} are taken`;
  if (total > flowLimits.flowBytes) faults.push({ code: 'TOO_LARGE', message });
  return faults;
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}
