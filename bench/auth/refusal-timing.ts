import type { Depth } from '../harness/depth.ts';
import { median, type Figure, type Row } from '../harness/figure.ts';
import type { Server } from './servers.ts';
import { commonLanguageEffect } from './statistics.ts';

const differenceMax = 0.05;
const effectMax = 0.55;

/** One way to be refused. */
export interface Refusal {
  readonly name: string;
  /** What is sent; another text each time, so that nothing can be remembered of the last. */
  readonly makeBody: () => object;
}

export interface RefusalTiming {
  readonly auth: Server;
  readonly title: string;
  readonly path: string;
  /** The code that all of them are refused with. */
  readonly code: string;
  /** The first is what the others are held against. */
  readonly kinds: readonly [Refusal, ...Refusal[]];
  readonly attemptsPerRound: number;
  readonly warmUps: number;
}

/**
 * Whether a refusal tells by its time what was wrong: medians of single requests in turn, and how
 * often one kind is slower than the first (0.5 = never tells; Mann-Whitney's U / n1 n2).
 */
export async function measureRefusals(timing: RefusalTiming, depth: Depth): Promise<Figure> {
  const { kinds, attemptsPerRound, warmUps } = timing;
  const samples = kinds.map((): number[] => []);
  const attempts = attemptsOf(attemptsPerRound, depth);
  const places = kinds.map((_, place) => place);
  for (let attempt = -warmUps; attempt < attempts; attempt += 1) {
    for (const place of attempt % 2 === 0 ? places : places.toReversed()) {
      const ms = await timeRefusal(timing, kinds[place] ?? kinds[0]);
      if (attempt >= 0) samples[place]?.push(ms);
    }
  }
  const [reference = [], ...others] = samples;
  const effects = others.map((other) => commonLanguageEffect(other, reference));
  const isTold = effects.some((effect) => Math.abs(effect - 0.5) > effectMax - 0.5);
  const list = effects.map((effect) => effect.toFixed(3)).join(', ');
  const verdict = `${isTold ? 'TELLS' : 'tells nothing'}: 0.45..0.55`;
  return {
    title: timing.title,
    rows: kinds.map(({ name }, place) => rowOf(name, samples[place] ?? [], reference)),
    note: `wall time of ${attempts} single requests each, in turn; slower than the first: ${list} (${verdict})`,
  };
}

/** Of each kind; few show nothing but that they are refused. */
function attemptsOf(perRound: number, { isWhole, isBrief, rounds }: Depth): number {
  if (isBrief) return Math.ceil(perRound / 10);
  return isWhole ? perRound * rounds : perRound;
}

function rowOf(name: string, own: readonly number[], reference: readonly number[]): Row {
  if (own === reference) return { name, role: 'limit', unit: 'ms', samples: own };
  const isMet = ({ value }: { readonly value: number }) =>
    Math.abs(value / median(reference) - 1) <= differenceMax;
  return { name, role: 'ours', unit: 'ms', samples: own, goal: { text: 'within 5 %', isMet } };
}

async function timeRefusal({ auth, path, code }: RefusalTiming, kind: Refusal): Promise<number> {
  const body = kind.makeBody();
  const startedAt = performance.now();
  const refusal = await auth.post(path, body).catch((error: Error) => error);
  const ms = performance.now() - startedAt;
  if (refusal instanceof Error && refusal.message.includes(code)) return ms;
  throw new Error(`${kind.name} was not refused with ${code}`);
}
