import { anyOf, wholeBetween, wholeMax } from './digits.ts';

/** A `multipleOf` as a whole number of tenths, hundredths and so on. */
export interface Step {
  readonly whole: number;
  /** Digits behind the point. */
  readonly decimals: number;
}

/** So many multiples are written one by one. */
const listMax = 100;
/** So many endings may a step have within a power of ten: 4 has 00, 04, 08, … 96. */
const endingsMax = 50;
const stepMax = 1_000_000_000;

/** Undefined for what is no step, and for one of more than six decimals. */
export function readStep(value: unknown): Step | undefined {
  if (typeof value !== 'number' || !(value > 0) || value > stepMax) return undefined;
  const [, whole = '', fraction = ''] = /^(\d+)(?:\.(\d{1,6}))?$/.exec(String(value)) ?? [];
  return whole === '' ? undefined : { whole: Number(whole + fraction), decimals: fraction.length };
}

/**
 * An expression of the multiples of a whole number in a range. Undefined where there is none, or neither
 * their number nor that of their endings is small.
 */
export function multiplesBetween(low: number, high: number, step: number): string | undefined {
  const most = Math.floor(wholeMax / step);
  const [first, last] = [
    Math.max(Math.ceil(low / step), -most),
    Math.min(Math.floor(high / step), most),
  ];
  if (first > last) return undefined;
  if (last - first < listMax) return listed(first, last, step);
  const base = baseOf(step);
  if (base === undefined) return undefined;
  const below = positive(Math.max(1, -last), -first, { step, base });
  const above = positive(Math.max(1, first), last, { step, base });
  const zero = first <= 0 && last >= 0 ? ['"0"'] : [];
  return anyOf([...zero, ...above, ...below.map((expression) => `"-" ${expression}`)]);
}

/** An expression of what may stand behind the point, which may be nothing; undefined as above. */
export function fractionsOf({ whole, decimals }: Step): Fractions | undefined {
  if (whole === 1) return decimalFractions(decimals);
  const base = 10 ** decimals;
  if (base % whole !== 0 || base / whole > endingsMax) return undefined;
  const endings = endingsOf(whole, base).slice(1);
  const something = `"." ${anyOf(endings)}`;
  return { any: `( ${something} )?`, nothing: `( "." "${'0'.repeat(decimals)}" )?`, something };
}

/** What may stand behind the point of a number. */
export interface Fractions {
  readonly any: string;
  /** Of a whole number. */
  readonly nothing: string;
  /** Of all others. */
  readonly something: string;
}

/** With at most so many decimals. */
export function decimalFractions(decimals: number): Fractions {
  return {
    any: `( "." [0-9]{1,${decimals}} )?`,
    nothing: `( "." "0"{1,${decimals}} )?`,
    something: `"." [0-9]{0,${decimals - 1}} [1-9]`,
  };
}

function listed(first: number, last: number, step: number): string {
  const count = last - first + 1;
  return anyOf(Array.from({ length: count }, (_, i) => `"${(first + i) * step || 0}"`));
}

/** The power of ten within which the endings of a step's multiples repeat. */
function baseOf(step: number): number | undefined {
  for (let base = 10; base <= stepMax && base / step <= endingsMax; base *= 10) {
    if (base % step === 0) return base;
  }
  return undefined;
}

interface Endings {
  readonly step: number;
  readonly base: number;
}

/** Those from the `first` to the `last` multiple, both above 0. */
function positive(first: number, last: number, { step, base }: Endings): string[] {
  if (first > last) return [];
  const [low, high] = [first * step, last * step];
  const [lowest, highest] = [Math.floor(low / base), Math.floor(high / base)];
  const edges = [...new Set([lowest, highest])].flatMap((head) => {
    const [from, to] = [Math.max(low, head * base), Math.min(high, (head + 1) * base - 1)];
    const [begin, end] = [Math.ceil(from / step), Math.floor(to / step)];
    return begin > end ? [] : [listed(begin, end, step)];
  });
  const heads = wholeBetween(lowest + 1, highest - 1);
  return heads === undefined ? edges : [...edges, `${heads} ${anyOf(endingsOf(step, base))}`];
}

function endingsOf(step: number, base: number): string[] {
  const digits = String(base).length - 1;
  return Array.from(
    { length: base / step },
    (_, i) => `"${String(i * step).padStart(digits, '0')}"`,
  );
}
