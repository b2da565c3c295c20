import type { FlowEdge, FlowNode, FlowSettings } from '../flow/flow.ts';
import { keepSettings } from './kept-settings.ts';
import type { StepStatus } from './report.ts';

/** A node before it has an id and a place. */
export type DraftNode = Pick<FlowNode, 'type' | 'data' | 'retry' | 'timeout' | 'onError' | 'label'>;

/** One step of a foreign document, and what is made of it. */
export interface DraftStep {
  /** What edges name it by, unique in the document. */
  readonly key: string;
  readonly source: string;
  readonly type: string;
  readonly status: StepStatus;
  readonly note?: string | undefined;
  readonly position?: FlowNode['position'];
  /** Its node; without one the ways through the step are joined, or end, as `isPassed` says. */
  readonly node?: { readonly id: string } & DraftNode;
  /** What leads here leads on to its successors; else they are on their own. */
  readonly isPassed?: boolean;
  /** Its settings as they were, kept should the node turn out not to work. */
  readonly settings?: unknown;
}

/** A way from step to step. */
export interface DraftLink {
  readonly from: string;
  readonly to: string;
  readonly handle?: string | undefined;
  /** CEL; taken only when it is true. */
  readonly condition?: string | undefined;
}

/** A foreign document as far as it was understood. */
export interface Draft {
  readonly name: string;
  readonly description?: string;
  readonly steps: readonly DraftStep[];
  readonly links: readonly DraftLink[];
  readonly warnings: readonly string[];
  readonly settings?: FlowSettings;
}

/** A node for a step that there is no component for. */
export function placeholderNode(
  { source, type }: Pick<DraftStep, 'source' | 'type'>,
  reason: string,
  settings: unknown,
): DraftNode {
  const data = { source: `${source} (${type})`.slice(0, 256), reason: reason.slice(0, 2_000) };
  const imported = keepSettings(settings);
  return { type: 'Placeholder', label: source.slice(0, 200), data: { ...data, imported } };
}

/** The edges between nodes; steps without a node are joined or left out. */
export function joinLinks({ steps, links }: Draft): FlowEdge[] {
  const byKey = new Map(steps.map((step) => [step.key, step]));
  const outgoing = new Map<string, DraftLink[]>();
  for (const link of links) outgoing.set(link.from, [...(outgoing.get(link.from) ?? []), link]);
  const edges = new Map<string, FlowEdge>();
  for (const step of steps) {
    if (!step.node) continue;
    for (const link of outgoing.get(step.key) ?? []) {
      for (const target of targetsOf(link.to, { byKey, outgoing, passed: new Set() })) {
        const edge = {
          source: step.node.id,
          target,
          ...(link.handle === undefined ? {} : { sourceHandle: link.handle }),
          ...(link.condition === undefined ? {} : { condition: link.condition }),
        };
        edges.set(JSON.stringify(edge), edge);
      }
    }
  }
  return [...edges.values()];
}

interface Ways {
  readonly byKey: ReadonlyMap<string, DraftStep>;
  readonly outgoing: ReadonlyMap<string, readonly DraftLink[]>;
  readonly passed: Set<string>;
}

/** The nodes that a way leads to, through steps that are passed. */
function targetsOf(key: string, ways: Ways): string[] {
  const step = ways.byKey.get(key);
  if (!step || ways.passed.has(key)) return [];
  if (step.node) return [step.node.id];
  if (!step.isPassed) return [];
  ways.passed.add(key);
  return (ways.outgoing.get(key) ?? []).flatMap(({ to }) => targetsOf(to, ways));
}
