import { stringify } from 'yaml';
import type { FlowTest } from '../../definitions/flow-test.ts';
import type { Workflow } from '../../definitions/workflow.ts';
import type { Flow, FlowEdge, FlowNode } from '../../flow/flow.ts';
import { toIdentifier } from '../node-ids.ts';
import { ownMetadata, ownNamespace } from './tasks.ts';
import { writeVersion } from './versions.ts';
import { writeTask, type WrittenTask } from './written-tasks.ts';

export interface ServerlessExport {
  /** YAML. */
  readonly text: string;
  /** What it cannot say, by node; without one it is of the whole workflow. */
  readonly unsupported: readonly { readonly nodeId?: string; readonly reason: string }[];
}

/** What leaves beside the flow. */
export type ServerlessLabels = Pick<Workflow, 'name' | 'description'> & {
  readonly version: number;
  /** What only our own import reads. */
  readonly kept?: { readonly tests?: readonly FlowTest[] } & Partial<
    Pick<Workflow, 'category' | 'tags'>
  >;
};

/**
 * A workflow as Serverless Workflow 1.0: its nodes one behind the other, each kept in `$context` under
 * its id and run only when a way leads to it. What that cannot say stands in the head of the document;
 * the metadata hold each node as it is, so that we read back what we wrote.
 */
export function exportServerless(workflow: ServerlessLabels, flow: Flow): ServerlessExport {
  const unsupported: { nodeId?: string; reason: string }[] = unsaidBounds(flow);
  const tasks = inOrder(flow).map((node) => {
    const written = writeTask(node, flow);
    for (const reason of [...written.losses, ...lossesOf(node, flow)]) {
      unsupported.push({ nodeId: node.id, reason });
    }
    return { [node.id]: taskOf(node, written, flow) };
  });
  const document = {
    dsl: '1.0.0',
    namespace: ownNamespace,
    name: toIdentifier(workflow.name).replaceAll('_', '-') || 'workflow',
    version: writeVersion(workflow.version),
    title: workflow.name,
    ...(workflow.description ? { summary: workflow.description } : {}),
    metadata: {
      [ownMetadata]: { ...workflow.kept, edges: flow.edges, settings: flow.settings },
    },
  };
  const head = unsupported.map(
    ({ nodeId, reason }) => `# ${nodeId ?? 'the workflow'}: ${oneLine(reason)}\n`,
  );
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
  const { id, onError, timeout, retry } = node;
  const leaving = edges.filter(({ source }) => source === id);
  const losses: string[] = [];
  if (timeout !== undefined && isContainer(node)) losses.push('its "timeout" is not said');
  if (onError === 'continue')
    losses.push('its "onError" is not said: that it goes on after a failure');
  if (retry?.enabled && retry.maxDelay !== undefined) {
    losses.push('the "maxDelay" of its retry is not said');
  }
  if (leaving.some(({ condition }) => condition !== undefined)) {
    losses.push('the conditions of its edges are not said');
  }
  if (leaving.some(({ sourceHandle }) => sourceHandle !== undefined && !isChoice(node))) {
    losses.push('on which of its handles an edge leaves is not said');
  }
  return losses;
}

/** Of these the task says which way is taken, and the tasks behind it ask for that. */
function isChoice({ type }: FlowNode): boolean {
  return type === 'Condition' || type === 'Switch';
}

/** The bounds of a whole execution that the language has no words for. */
function unsaidBounds({ settings = {} }: Flow): { reason: string }[] {
  return Object.entries(settings)
    .filter(([name, value]) => name !== 'timeout' && value !== undefined)
    .map(([name]) => ({ reason: `its setting ${JSON.stringify(name)} is not said` }));
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
