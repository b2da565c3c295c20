import type { Callee, GenAiFacts } from '../trace/span.ts';
import { genAiNames, operationAliases } from './gen-ai-names.ts';
import { KeyTable, type WantedKey } from './key-table.ts';

/** Under which number each fact of a span or resource is kept while it is read. */
export const slots = {
  inputTokens: 0,
  outputTokens: 1,
  cachedInputTokens: 2,
  cacheWriteTokens: 3,
  costUsd: 4,
  provider: 5,
  model: 6,
  operation: 7,
  tool: 8,
  usageDetails: 9,
  costDetails: 10,
  agent: 11,
  error: 12,
  database: 13,
  queue: 14,
  peer: 15,
  service: 16,
  host: 17,
} as const;

const slotCount = 18;
const genAiBits = (1 << slots.agent) - 1;
const calleeBits =
  (1 << slots.provider) | (1 << slots.database) | (1 << slots.queue) | (1 << slots.peer);

const spanNames: Partial<Record<keyof typeof slots, readonly string[]>> = {
  ...genAiNames,
  agent: ['agent.id', 'gen_ai.agent.name'],
  error: ['error.type', 'error.code', 'exception.type'],
  database: ['db.system.name', 'db.system'],
  queue: ['messaging.system'],
  peer: ['peer.service', 'server.address', 'net.peer.name'],
};

const resourceNames: Partial<Record<keyof typeof slots, readonly string[]>> = {
  service: ['service.name'],
  host: ['service.instance.id', 'host.name'],
  agent: ['agent.id', 'gen_ai.agent.name'],
};

/** The attributes of a span that its head is made of. */
export const spanKeys = tableOf(spanNames);

/** The attributes of a resource that the heads of its spans are made of. */
export const resourceKeys = tableOf(resourceNames);

function tableOf(names: Partial<Record<keyof typeof slots, readonly string[]>>): KeyTable {
  const keys: [string, WantedKey][] = [];
  for (const [fact, spellings] of Object.entries(names)) {
    const slot = slots[fact as keyof typeof slots];
    for (const [rank, spelling] of spellings.entries()) keys.push([spelling, { slot, rank }]);
  }
  return new KeyTable(keys);
}

/** Reads values by their place in the body. */
export interface ValueReader {
  /** Undefined where it is no scalar. */
  scalar(from: number, end: number): string | number | boolean | undefined;
  /** A scalar as text; undefined where it is none or empty. */
  text(from: number, end: number): string | undefined;
}

/**
 * What was found of one span or resource: where the values stand, which are read when they are
 * asked for. Of several spellings the one of the lowest rank counts, of an attribute that stands
 * twice the last.
 */
export class Facts {
  readonly #values: ValueReader;
  readonly #from = new Int32Array(slotCount);
  readonly #end = new Int32Array(slotCount);
  readonly #ranks = new Uint8Array(slotCount);
  /** One bit a slot. */
  #found = 0;

  constructor(values: ValueReader) {
    this.#values = values;
  }

  clear(): void {
    this.#found = 0;
  }

  put({ slot, rank }: WantedKey, from: number, end: number): void {
    const bit = 1 << slot;
    if ((this.#found & bit) !== 0 && rank > (this.#ranks[slot] ?? 0)) return;
    this.#found |= bit;
    this.#ranks[slot] = rank;
    this.#from[slot] = from;
    this.#end[slot] = end;
  }

  #scalar(slot: number): string | number | boolean | undefined {
    if ((this.#found & (1 << slot)) === 0) return undefined;
    return this.#values.scalar(this.#from[slot] ?? 0, this.#end[slot] ?? 0);
  }

  text(slot: number): string | undefined {
    if ((this.#found & (1 << slot)) === 0) return undefined;
    return this.#values.text(this.#from[slot] ?? 0, this.#end[slot] ?? 0);
  }

  genAi(): GenAiFacts | undefined {
    if ((this.#found & genAiBits) === 0) return undefined;
    const usage = detailsOf(this.text(slots.usageDetails));
    const cost = detailsOf(this.text(slots.costDetails));
    const facts: GenAiFacts = {
      provider: this.text(slots.provider),
      model: this.text(slots.model),
      operation: operationOf(this.text(slots.operation)),
      tool: this.text(slots.tool),
      inputTokens: tokensOf(this.#scalar(slots.inputTokens)) ?? tokensOf(usage?.['input']),
      outputTokens: tokensOf(this.#scalar(slots.outputTokens)) ?? tokensOf(usage?.['output']),
      cachedInputTokens: tokensOf(this.#scalar(slots.cachedInputTokens)),
      cacheWriteTokens: tokensOf(this.#scalar(slots.cacheWriteTokens)),
      costUsd: amountOf(this.#scalar(slots.costUsd)) ?? amountOf(cost?.['total']),
    };
    return Object.values(facts).some((fact) => fact !== undefined) ? facts : undefined;
  }

  callee(): Callee | undefined {
    if ((this.#found & calleeBits) === 0) return undefined;
    const model = this.text(slots.provider);
    if (model !== undefined) return { type: 'model', name: model };
    const database = this.text(slots.database);
    if (database !== undefined) return { type: 'database', name: database };
    const queue = this.text(slots.queue);
    if (queue !== undefined) return { type: 'queue', name: queue };
    const peer = this.text(slots.peer);
    return peer === undefined ? undefined : { type: 'external', name: peer };
  }
}

function detailsOf(text: string | undefined): Record<string, unknown> | undefined {
  if (text === undefined) return undefined;
  try {
    const details: unknown = JSON.parse(text);
    if (typeof details !== 'object' || details === null) return undefined;
    return { ...details };
  } catch {
    return undefined;
  }
}

function operationOf(name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  const lower = name.toLowerCase();
  return operationAliases.has(lower) ? operationAliases.get(lower) : name;
}

/** A number that counts something; also one that was sent as text. */
function amountOf(value: unknown): number | undefined {
  const amount = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof amount !== 'number' || !Number.isFinite(amount) || amount < 0) return undefined;
  return amount;
}

function tokensOf(value: unknown): number | undefined {
  const amount = amountOf(value);
  return amount === undefined || amount > Number.MAX_SAFE_INTEGER ? undefined : Math.trunc(amount);
}
