import type { DraftLink, DraftStep } from '../draft.ts';
import { toIdentifier } from '../node-ids.ts';
import type { N8nDocument, N8nLink, N8nNode } from './document.ts';

/** What decides which of several triggers an execution goes on from. */
export interface Start {
  readonly step: DraftStep;
  readonly links: readonly DraftLink[];
  /** What is to be said of each trigger, by its name. */
  readonly notes: ReadonlyMap<string, string>;
}

/** Names of the nodes that triggers lead to, and of what is attached to those; all when there is no trigger. */
export function reachedFrom(
  triggers: readonly N8nNode[],
  { nodes, links }: N8nDocument,
): ReadonlySet<string> {
  if (triggers.length === 0) return new Set(nodes.map(({ name }) => name));
  const reached = new Set(triggers.map(({ name }) => name));
  // The set grows while it is walked.
  for (const name of reached) {
    for (const { from, to, kind } of links) {
      if (kind === 'main' && from === name) reached.add(to);
      if (kind !== 'main' && to === name) reached.add(from);
    }
  }
  return reached;
}

/** A Switch in front of triggers that lead to different steps; undefined where they do not. */
export function startOf(
  triggers: readonly N8nNode[],
  links: readonly N8nLink[],
  openId: () => string,
): Start | undefined {
  const ways = new Set(triggers.map(({ name }) => waysFrom(name, links)));
  if (ways.size < 2) return undefined;
  const id = openId();
  const handles = triggers.map(({ name }, at) => ({ name, handle: handleFor(name, at) }));
  const first = triggers.find(({ type }) => /^(manualTrigger|start)$/.test(type)) ?? triggers[0];
  const cases = handles.map(({ name, handle }) => ({ when: whenStarted(name), handle }));
  const other = handles.find(({ name }) => name === first?.name)?.handle;
  const note = `the input \`trigger\` names the trigger; without it ${first?.name ?? ''} starts`;
  return {
    step: {
      key: id,
      source: 'triggers',
      type: 'start',
      status: 'adapted',
      note,
      node: { id, type: 'Switch', label: 'triggers', data: { cases, default: other } },
    },
    links: handles.map(({ name, handle }) => ({ from: id, to: name, handle })),
    notes: new Map(handles.map(({ name }) => [name, noteFor(name)])),
  };
}

function waysFrom(name: string, links: readonly N8nLink[]): string {
  const own = links.filter(({ from, kind }) => from === name && kind === 'main');
  return JSON.stringify(
    own.map(({ to, input }) => JSON.stringify([to, input])).toSorted((a, b) => (a < b ? -1 : 1)),
  );
}

function handleFor(name: string, at: number): string {
  return `case_${at}_${toIdentifier(name).slice(0, 40)}`;
}

function whenStarted(name: string): string {
  return `has(inputs.trigger) && inputs.trigger == ${JSON.stringify(name)}`;
}

function noteFor(name: string): string {
  return `what it leads to runs where the input \`trigger\` is ${JSON.stringify(name)}`;
}
