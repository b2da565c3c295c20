import { Fault } from '../../../kit/errors.ts';
import type { Retry } from '../../flow/flow.ts';
import { placeholderNode, type Draft, type DraftLink, type DraftStep } from '../draft.ts';
import { numberOf, textOf, type Fields } from '../fields.ts';
import { NodeIds } from '../node-ids.ts';
import type { DataPlace } from '../paths.ts';
import { translateAs } from '../translation.ts';
import { aiKinds, mapAttached } from './ai-kinds.ts';
import { dataKinds } from './data-kinds.ts';
import { readN8n, type N8nDocument, type N8nLink, type N8nNode } from './document.ts';
import { translate, type Sight } from './expressions.ts';
import type { Mapped, N8nKind, N8nReading } from './kind.ts';
import { logicKinds } from './logic-kinds.ts';
import { readWhole } from './whole-settings.ts';
import { reachedFrom, startOf, type Start } from './starts.ts';

/** Reads a workflow of n8n; its scripts are never run. */
export function importN8n(document: Fields): Draft {
  return new N8nImport(readN8n(document)).draft();
}

const kinds: ReadonlyMap<string, N8nKind> = new Map(
  Object.entries({ ...logicKinds, ...dataKinds, ...aiKinds }),
);

class N8nImport {
  readonly #document: N8nDocument;
  readonly #nodes: ReadonlyMap<string, N8nNode>;
  readonly #triggers: readonly N8nNode[];
  /** Names of what an execution can come to. */
  readonly #reached: ReadonlySet<string>;
  readonly #start: Start | undefined;
  readonly #ids = new NodeIds();

  constructor(document: N8nDocument) {
    this.#nodes = new Map(document.nodes.map((node) => [node.name, node]));
    const links = document.links.filter((link) => isUsed(link, this.#nodes.get(link.from)));
    this.#document = { ...document, links };
    for (const { name } of document.nodes) this.#ids.allot(name, name);
    this.#triggers = document.nodes.filter((node) => !node.isDisabled && isTrigger(node));
    this.#reached = reachedFrom(this.#triggers, this.#document);
    this.#start = startOf(this.#triggers, links, () => this.#ids.unused('start'));
  }

  draft(): Draft {
    const { name, nodes, links } = this.#document;
    const steps = nodes.filter(({ type }) => type !== 'stickyNote').map((node) => this.#step(node));
    const ways = links.filter(({ kind }) => kind === 'main').map((link) => this.#way(link));
    const isOpen = this.#triggers.length === 0 && steps.length > 0;
    const { warnings, ...whole } = readWhole(this.#document.settings);
    const untriggered = isOpen ? ['it has no trigger: what nothing leads to starts each time'] : [];
    const start = this.#start;
    return {
      name,
      steps: start ? [start.step, ...steps] : steps,
      links: start ? [...start.links, ...ways] : ways,
      warnings: [...untriggered, ...warnings],
      ...whole,
    };
  }

  #way(link: N8nLink): DraftLink {
    const { from, to, output } = link;
    const node = this.#nodes.get(from);
    if (!node) return { from, to };
    if (isErrorOutput(node, output)) return { from, to, handle: 'error' };
    const kind = kinds.get(node.type);
    const condition = translateAs(() => kind?.condition?.(this.#reading(node), output));
    return { from, to, handle: kind?.handle?.(node, output), condition };
  }

  #step(node: N8nNode): DraftStep {
    const { name, type, position, raw } = node;
    const known = { key: name, source: name, type, position, settings: settingsOf(raw) };
    if (!this.#reached.has(name)) return { ...known, status: 'exact', note: neverRuns };
    const role = this.#document.links.find((link) => link.from === name && link.kind !== 'main');
    if (role) return { ...known, ...withStatus(mapAttached(node, role.kind)) };
    if (node.isDisabled) {
      return { ...known, status: 'exact', note: 'it was disabled', isPassed: true };
    }
    const mapped = this.#map(node);
    const step = { ...known, ...withStatus(mapped) };
    if (!mapped.node && step.status !== 'unsupported') return { ...step, isPassed: true };
    const id = this.#id(name);
    const drawn = mapped.node ?? this.#placeholder(node, mapped.note ?? '');
    const rules = faultRules(node);
    const label = name.slice(0, 200);
    if (Object.keys(rules).length === 0 || !controls.has(drawn.type)) {
      return { ...step, node: { label, ...drawn, ...rules, id } };
    }
    const note = [step.note ?? [], 'what it does when it fails is left out'].flat().join('; ');
    const status = step.status === 'exact' ? 'adapted' : step.status;
    return { ...step, status, note, node: { label, ...drawn, id } };
  }

  #placeholder(node: N8nNode, reason: string) {
    const drawn = placeholderNode(
      { source: node.name, type: node.type },
      reason,
      settingsOf(node.raw),
    );
    const ways = this.#document.links.filter(({ from }) => from === node.name);
    const handles = ways.flatMap((link) => this.#way(link).handle ?? []);
    const data =
      handles.length > 0 ? { ...drawn.data, handles: [...new Set(handles)] } : drawn.data;
    return { ...drawn, data };
  }

  #map(node: N8nNode): Mapped {
    const kind = kinds.get(node.type);
    if (!kind) return { status: 'unsupported', note: reasonFor(node.type) };
    const differences = new Set<string>();
    try {
      const mapped = kind.map(this.#reading(node, (difference) => differences.add(difference)));
      return adapted(mapped, [...differences, ...this.#surroundings(node, mapped)]);
    } catch (error) {
      if (error instanceof Fault && error.reason === 'not_translatable') {
        return { status: 'unsupported', note: error.message };
      }
      throw error;
    }
  }

  /** What is not quite the same because of what stands around a node. */
  #surroundings(node: N8nNode, mapped: Mapped): readonly string[] {
    const { name, type } = node;
    const start = kinds.get(type)?.isTrigger ? this.#start?.notes.get(name) : undefined;
    if (start !== undefined) return [start];
    if (!mapped.node) return [];
    const entries = this.#main(name);
    const isAmbiguous = entries.length > 1 && type !== 'merge' && type !== 'splitInBatches';
    return [
      ...(isAmbiguous
        ? [`several ways lead here: its data is that of ${entries[0]?.from ?? ''}`]
        : []),
      ...errorNotes(node),
    ];
  }

  #reading(node: N8nNode, note: (difference: string) => void = () => {}): N8nReading {
    const sight: Sight = {
      own: () => this.#own(node.name, new Set()),
      of: (name) => this.#seen(name, node.name),
      note,
    };
    const read = (name: string) => translate(node.parameters[name], sight);
    return {
      node,
      id: this.#id(node.name),
      sight,
      incoming: this.#main(node.name).map(({ from, output, input }) => ({
        id: this.#id(from),
        place: this.#place(from, output, new Set()),
        input,
      })),
      attached: this.#document.links.flatMap(({ from, to, kind }) => {
        const source = this.#nodes.get(from);
        return to === node.name && kind !== 'main' && source ? [{ kind, node: source }] : [];
      }),
      read,
      readText: (name) => textOf(read(name)) || undefined,
    };
  }

  /** What `$('name')` is, seen from another node: within a loop its round. */
  #seen(name: string, from: string): DataPlace | undefined {
    const node = this.#nodes.get(name);
    if (!node) return undefined;
    const output = node.type === 'splitInBatches' ? this.#loopOutput(node, from) : 0;
    return this.#place(name, output, new Set());
  }

  #loopOutput(node: N8nNode, from: string): number {
    const body = node.version >= 3 ? 1 : 0;
    const starts = this.#document.links.filter(
      (link) => link.from === node.name && link.output === body && link.kind === 'main',
    );
    const isInside = starts.some(({ to }) => to === from || this.#leads(to, from, node.name));
    return isInside ? body : 1 - body;
  }

  #own(name: string, passed: Set<string>): DataPlace {
    const [first] = this.#main(name);
    return first ? this.#place(first.from, first.output, passed) : inputs;
  }

  #place(name: string, output: number, passed: Set<string>): DataPlace {
    const node = this.#nodes.get(name);
    if (!node || passed.has(name)) return inputs;
    passed.add(name);
    const own = () => this.#own(name, passed);
    if (node.isDisabled) return own();
    const id = this.#id(name);
    if (isErrorOutput(node, output)) return { root: id, steps: [] };
    return kinds.get(node.type)?.place?.({ node, id, output, own }) ?? { root: id, steps: [] };
  }

  /** Links that lead here, without those that lead back to a loop. */
  #main(name: string): readonly N8nLink[] {
    const links = this.#document.links
      .filter(({ from, to, kind }) => to === name && kind === 'main' && this.#reached.has(from))
      .toSorted((a, b) => a.input - b.input);
    const isLoop = this.#nodes.get(name)?.type === 'splitInBatches';
    return isLoop ? links.filter(({ from }) => !this.#leads(name, from)) : links;
  }

  #leads(from: string, to: string, without?: string): boolean {
    const seen = new Set([from]);
    // The set grows while it is walked.
    for (const name of seen) {
      if (name === to) return true;
      if (name === without) continue;
      for (const link of this.#document.links) if (link.from === name) seen.add(link.to);
    }
    return false;
  }

  #id(name: string): string {
    return this.#ids.allot(name, name);
  }
}

const neverRuns = 'no trigger leads here, so that it never runs: it is left out';

function isTrigger({ type }: N8nNode): boolean {
  const kind = kinds.get(type);
  return kind ? kind.isTrigger === true : /trigger$|^emailReadImap$/i.test(type);
}

/** Whether an output is that for failures, which stands behind all others. */
function isErrorOutput(node: N8nNode, output: number): boolean {
  const count = kinds.get(node.type)?.outputs?.(node) ?? 1;
  return textOf(node.raw['onError']) === 'continueErrorOutput' && output === count;
}

/** Whether anything ever leaves where a link starts. */
function isUsed({ kind, output }: N8nLink, node: N8nNode | undefined): boolean {
  const known = node && kinds.get(node.type);
  if (!known || kind !== 'main' || isErrorOutput(node, output)) return true;
  return known.hasOutput?.(node, output) ?? output < (known.outputs?.(node) ?? 1);
}

/** How a failure that is gone on after shows. */
function errorNotes({ raw }: N8nNode): readonly string[] {
  const onError = textOf(raw['onError']);
  if (onError === 'continueErrorOutput') {
    return ['behind a failure `$json` is only `error`, with its code and message'];
  }
  const goesOn = raw['continueOnFail'] === true || onError === 'continueRegularOutput';
  return goesOn ? ['what is behind it sees nothing of a failure'] : [];
}

function adapted(mapped: Mapped, differences: readonly string[]): Mapped {
  if (mapped.status === 'unsupported' || differences.length === 0) return mapped;
  const notes = [...(mapped.note === undefined ? [] : [mapped.note]), ...differences];
  return { ...mapped, status: 'adapted', note: notes.join('; ') };
}

const inputs: DataPlace = { root: 'inputs', steps: [] };

function withStatus({ status = 'exact', note }: Mapped) {
  return { status, ...(note === undefined ? {} : { note }) };
}

function settingsOf({ parameters, credentials }: Fields): Fields {
  return { parameters, ...(credentials === undefined ? {} : { credentials }) };
}

function reasonFor(type: string): string {
  const isScript = /^(code|function|functionItem|aiTransform|executeCommand|ssh)$/i.test(type);
  if (isScript) return 'scripts and commands of others are never run: write a Transform';
  if (/trigger$/i.test(type)) return 'start the workflow by a webhook, schedule or event instead';
  return 'there is no such component: use an HttpRequest or MCPToolCall';
}

/** They run others, whose rules hold. */
const controls: ReadonlySet<string> = new Set(['Loop', 'Parallel']);

function faultRules({ raw }: N8nNode): { retry?: Retry; onError?: 'continue' } {
  const tries = Math.trunc(Math.min(20, numberOf(raw['maxTries']) ?? 3));
  const initialDelay = Math.trunc(numberOf(raw['waitBetweenTries']) ?? 1_000);
  const retry = { enabled: true, maxAttempts: Math.max(1, tries), backoff: 'fixed', initialDelay };
  const goesOn = raw['continueOnFail'] === true || textOf(raw['onError']).startsWith('continue');
  return {
    ...(raw['retryOnFail'] === true ? { retry: retry as Retry } : {}),
    ...(goesOn ? { onError: 'continue' } : {}),
  };
}
