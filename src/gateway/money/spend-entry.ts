import { toUSVString } from 'node:util';
import { Type, type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import type { Spend } from './purse.ts';

/** What an entry counts as: a request, one that the cache answered, or a part of another's. */
export type SpendKind = 'request' | 'cached' | 'part';

/** A spend as the journal has it. */
export interface SpendEntry {
  /** Which spend of the run, ascending. With the run it names the spend for ever. */
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
  /** Millionths of a millionth of a US dollar: a whole number, so that sums are exact. */
  readonly picodollars: number;
  readonly kind: SpendKind;
  /** What was held for it in a budget. */
  readonly hold: string | undefined;
}

/** Where an entry stands in the journal, and how it belongs to a request. */
export interface EntryPlace {
  readonly seq: number;
  readonly isPart: boolean;
  readonly hold: string | undefined;
}

const textLengthMax = 256;
/** More than any answer has; thousands of them still add up to a number that is exact. */
const tokensMax = 1e12;
const dollarsMax = 1e9;
const picodollars = 1e12;
/** The end of the year 9999, beyond which nothing can be read as a time everywhere. */
const timeMax = 253_402_300_799_999;
/** As numbers in the journal. */
const kinds: readonly SpendKind[] = ['request', 'cached', 'part'];
const kindNumbers: Readonly<Record<SpendKind, number>> = { request: 0, cached: 1, part: 2 };

const upTo = (maximum: number) => Type.Integer({ minimum: 0, maximum });
const optionalText = Type.Union([Type.String(), Type.Literal(0)]);
/** Without names: it is written with every answer. */
const line = Type.Tuple([
  upTo(Number.MAX_SAFE_INTEGER),
  upTo(timeMax),
  upTo(kinds.length - 1),
  Type.String(),
  optionalText,
  Type.String(),
  Type.String(),
  upTo(tokensMax),
  upTo(tokensMax),
  upTo(tokensMax),
  upTo(dollarsMax * picodollars),
  optionalText,
]);
type Line = Static<typeof line>;
const lines = Compile(line);

/**
 * A spend as an entry, such that the database takes it whatever a provider said: odd numbers are 0,
 * texts are cut. What came from the cache took no tokens and cost nothing.
 */
export function entryOf(spend: Spend, { seq, isPart, hold }: EntryPlace): SpendEntry {
  const { payer, usage } = spend;
  const isFree = spend.outcome === 'cached';
  return {
    seq,
    atMs: Date.now(),
    subject: textOf(payer.subject),
    name: payer.name === undefined ? undefined : textOf(payer.name),
    provider: textOf(spend.provider),
    model: textOf(spend.model),
    inputTokens: isFree ? 0 : tokensOf(usage.inputTokens),
    cachedInputTokens: isFree ? 0 : tokensOf(usage.cachedInputTokens),
    outputTokens: isFree ? 0 : tokensOf(usage.outputTokens),
    picodollars: isFree ? 0 : picodollarsOf(spend.dollars),
    kind: kindOf(isPart, isFree),
    hold,
  };
}

/** The line of the journal that says the entry, without a line feed. */
export function writeLine(entry: SpendEntry): string {
  const fields: Line = [
    entry.seq,
    entry.atMs,
    kindNumbers[entry.kind],
    entry.subject,
    entry.name ?? 0,
    entry.provider,
    entry.model,
    entry.inputTokens,
    entry.cachedInputTokens,
    entry.outputTokens,
    entry.picodollars,
    entry.hold ?? 0,
  ];
  return JSON.stringify(fields);
}

/** Undefined for a line that is no entry, such as the torn last one of a killed process. */
export function readLine(text: string): SpendEntry | undefined {
  const fields = parse(text);
  if (!lines.Check(fields)) return undefined;
  const [seq, atMs, number, subject, name, provider, model, ...rest] = fields;
  const [inputTokens, cachedInputTokens, outputTokens, pico, hold] = rest;
  const kind = kinds[number];
  if (kind === undefined) return undefined;
  const tokens = { inputTokens, cachedInputTokens, outputTokens };
  return {
    seq,
    atMs,
    kind,
    subject,
    provider,
    model,
    ...tokens,
    picodollars: pico,
    name: name === 0 ? undefined : name,
    hold: hold === 0 ? undefined : hold,
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function kindOf(isPart: boolean, isFree: boolean): SpendKind {
  if (isPart) return 'part';
  return isFree ? 'cached' : 'request';
}

/** PostgreSQL's texts hold no U+0000 and no half of a pair. */
function textOf(text: string): string {
  const whole = text.includes('\0') ? text.replaceAll('\0', '') : text;
  const short = whole.length > textLengthMax ? whole.slice(0, textLengthMax) : whole;
  return toUSVString(short);
}

function tokensOf(value: number | undefined): number {
  if (value === undefined || !Number.isInteger(value)) return 0;
  return value > 0 && value <= tokensMax ? value : 0;
}

function picodollarsOf(dollars: number): number {
  return dollars > 0 && dollars <= dollarsMax ? Math.round(dollars * picodollars) : 0;
}
