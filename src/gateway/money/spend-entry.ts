import type { Spend } from './purse.ts';

/** A spend as the journal has it. */
export interface SpendEntry {
  /** The process that wrote it; a new one with each start. */
  readonly run: string;
  /** Which spend of the run, ascending. With `run` it names the spend for ever. */
  readonly seq: number;
  /** Unix milliseconds at which it was settled. */
  readonly atMs: number;
  readonly subject: string;
  readonly name: string | undefined;
  readonly provider: string;
  readonly model: string;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly dollars: number;
  readonly outcome: Spend['outcome'];
  /** A part of a request that counts with another entry. */
  readonly isExtra: boolean;
  /** What was held for it in a budget. */
  readonly hold: string | undefined;
}

const textLengthMax = 256;
/** The end of the year 9999, beyond which nothing can be read as a time everywhere. */
const timeMax = 253_402_300_799_999;
const outcomes: ReadonlySet<unknown> = new Set(['complete', 'aborted', 'failed', 'cached']);

/**
 * A spend as an entry, such that the database takes it whatever a provider said: odd numbers are 0,
 * texts are cut. What came from the cache took no tokens and cost nothing.
 */
export function entryOf(
  spend: Spend,
  place: Pick<SpendEntry, 'run' | 'seq' | 'isExtra' | 'hold'>,
): SpendEntry {
  const { payer, usage, outcome } = spend;
  const isFree = outcome === 'cached';
  return {
    ...place,
    atMs: Date.now(),
    subject: cut(payer.subject),
    name: payer.name === undefined ? undefined : cut(payer.name),
    provider: cut(spend.provider),
    model: cut(spend.model),
    inputTokens: isFree ? 0 : count(usage.inputTokens),
    cachedInputTokens: isFree ? 0 : count(usage.cachedInputTokens),
    outputTokens: isFree ? 0 : count(usage.outputTokens),
    dollars: isFree ? 0 : amount(spend.dollars),
    outcome,
  };
}

/** The line of the journal that says the entry. */
export function writeLine(entry: SpendEntry): string {
  return `${JSON.stringify(entry)}\n`;
}

/** Undefined for a line that is no entry, such as the torn last one of a killed process. */
export function readLine(line: string): SpendEntry | undefined {
  try {
    return parseEntry(JSON.parse(line));
  } catch {
    return undefined;
  }
}

function parseEntry(value: unknown): SpendEntry | undefined {
  const entry = value as SpendEntry;
  const texts = [entry.run, entry.subject, entry.provider, entry.model];
  const counts = [entry.seq, entry.inputTokens, entry.cachedInputTokens, entry.outputTokens];
  const isWhole =
    texts.every((text) => typeof text === 'string') &&
    counts.every((number) => count(number) === number) &&
    count(entry.atMs) === Math.min(entry.atMs, timeMax) &&
    amount(entry.dollars) === entry.dollars &&
    typeof entry.isExtra === 'boolean' &&
    outcomes.has(entry.outcome);
  return isWhole ? { ...entry, name: entry.name, hold: entry.hold } : undefined;
}

function cut(text: string): string {
  // PostgreSQL's texts hold no U+0000.
  const whole = text.includes('\0') ? text.replaceAll('\0', '') : text;
  return whole.length > textLengthMax ? whole.slice(0, textLengthMax) : whole;
}

function count(value: number | undefined): number {
  return value !== undefined && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

function amount(value: number): number {
  return Number.isFinite(value) && value > 0 ? value : 0;
}
