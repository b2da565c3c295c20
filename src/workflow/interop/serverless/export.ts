import { stringify } from 'yaml';
import type { Workflow } from '../../definitions/workflow.ts';
import type { Flow, FlowEdge, FlowNode } from '../../flow/flow.ts';
import { toIdentifier } from '../node-ids.ts';
import { ownMetadata } from './tasks.ts';
import { writeTask, type WrittenTask } from './written-tasks.ts';

export interface ServerlessExport {
  /** YAML. */
  readonly text: string;
  /** What it cannot say, by node. */
  readonly unsupported: readonly { readonly nodeId: string; readonly reason: string }[];
}

/**
 * A workflow as Serverless Workflow 1.0: its nodes one behind the other, each kept in `$context` under
 * its id and run only when a way leads to it. What that cannot say stands in the head of the document;
 * the metadata hold each node as it is, so that we read back what we wrote.
 */
export function exportServerless(
  workflow: Pick<Workflow, 'name' | 'description'> & { readonly version: number },
  flow: Flow,
): ServerlessExport {
  const unsupported: { nodeId: string; reason: string }[] = [];
  const tasks = inOrder(flow).map((node) => {
    const written = writeTask(node, flow);
    for (const reason of [...written.losses, ...lossesOf(node, flow)]) {
      unsupported.push({ nodeId: node.id, reason });
    }
    return { [node.id]: taskOf(node, written, flow) };
  });
  const document = {
    dsl: '1.0.0',
    namespace: 'ennead',
    name: toIdentifier(workflow.name).replaceAll('_', '-') || 'workflow',
    version: `${workflow.version}.0.0`,
    title: workflow.name,
    ...(workflow.description ? { summary: workflow.description } : {}),
    metadata: { [ownMetadata]: { edges: flow.edges, settings: flow.settings } },
  };
  const head = unsupported.map(({ nodeId, reason }) => `# ${nodeId}: ${oneLine(reason)}\n`);
  const note = head.length > 0 ? `# What this document cannot say:\n${head.join('')}` : '';
  return {
    text:
      note +
      stringify(
        { document, ...timeoutOf(flow.settings), do: tasks },
        { lineWidth: 0, aliasDuplicateObjects: false },
      ),
    unsupported,
  };
}

function taskOf(node: FlowNode, { task, output }: WrittenTask, flow: Flow) {
  const guard = guardOf(node, flow);
  // Of each attempt; what a Loop and a Parallel run stands behind their task, and is not bounded by it.
  const bounded = isContainer(node) ? task : { ...task, ...timeoutOf(node) };
  const body = node.retry?.enabled
    ? { try: [{ [`${node.id}_once`]: bounded }], catch: { retry: retryOf(node) } }
    : bounded;
  return {
    ...(guard === undefined ? {} : { if: `\${ ${guard} }` }),
    ...body,
    metadata: { [ownMetadata]: node },
    export: { as: `\${ $context + { ${JSON.stringify(node.id)}: ${output} } }` },
  };
}

function retryOf({ retry }: FlowNode) {
  const { initialDelay = 1_000, backoff = 'fixed', maxAttempts = 1 } = retry ?? {};
  return {
    delay: { milliseconds: initialDelay },
    backoff: { [backoff === 'fixed' ? 'constant' : backoff]: {} },
    limit: { attempt: { count: maxAttempts } },
  };
}

/** When one of the ways into a node was taken, as jq; undefined for one that is always run. */
function guardOf({ id }: FlowNode, { nodes, edges }: Flow): string | undefined {
  const incoming = edges.filter(({ target }) => target === id);
  if (incoming.length === 0) return undefined;
  return incoming.map((edge) => takenOf(edge, nodes)).join(' or ');
}

function takenOf({ source, sourceHandle }: FlowEdge, nodes: readonly FlowNode[]): string {
  const place = `$context[${JSON.stringify(source)}]`;
  const type = nodes.find(({ id }) => id === source)?.type;
  if (sourceHandle === undefined) return `${place} != null`;
  if (type === 'Condition') return `${place}.result == ${sourceHandle === 'true'}`;
  if (type === 'Switch') return `${place}.case == ${JSON.stringify(sourceHandle)}`;
  return `${place} != null`;
}

function isContainer({ type }: FlowNode): boolean {
  return type === 'Loop' || type === 'Parallel';
}

function timeoutOf({ timeout }: { readonly timeout?: number } = {}) {
  return timeout === undefined ? {} : { timeout: { after: { milliseconds: timeout } } };
}

function lossesOf(node: FlowNode, { edges }: Flow): string[] {
  const { id, onError, timeout } = node;
  const losses: string[] = [];
  if (timeout !== undefined && isContainer(node)) losses.push('its timeout is not said');
  if (onError === 'continue') losses.push('that it goes on after a failure is not said');
  if (edges.some(({ source, condition }) => source === id && condition !== undefined)) {
    losses.push('the conditions of its edges are not said');
  }
  return losses;
}

/** Each node behind those that lead to it; ways that close a loop are not followed. */
function inOrder({ nodes, edges }: Flow): FlowNode[] {
  const done = new Set<string>();
  const ordered: FlowNode[] = [];
  let left = nodes;
  while (left.length > 0) {
    const waits = new Set(left.map(({ id }) => id));
    const ready = left.filter(
      ({ id }) => !edges.some(({ source, target }) => target === id && waits.has(source)),
    );
    // Within a loop nothing is ready: it is entered where it stands first.
    const next = ready.length > 0 ? ready : left.slice(0, 1);
    ordered.push(...next);
    for (const { id } of next) done.add(id);
    left = left.filter(({ id }) => !done.has(id));
  }
  return ordered;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').slice(0, 200);
}
