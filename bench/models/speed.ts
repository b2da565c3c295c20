import type { Depth } from '../harness/depth.ts';
import { median, ratioAtMost, type Figure, type Goal } from '../harness/figure.ts';
import { Field, figureOf } from './field.ts';
import type { BenchModel } from './model-files.ts';
import type { Account } from './orders.ts';

const parallels = [1, 4, 8];
const answerTokens = 96;
const promptWords = 12;
/** Enough that the first ones write while the last ones wait for their prompt to be read. */
const firstTokens = 16;
/** A JIT needs some hundred. */
const warmUpRequests = 640;
const nearlyBare: Goal = { text: '>= 0.9x limit', isMet: ({ ratio }) => ratio >= 0.9 };
const nearlyBareTime = ratioAtMost(1.11);

/** Tokens written in a second, and CPU time for each, at several at once. */
export async function measureWriting(file: BenchModel, depth: Depth): Promise<Figure[]> {
  await using field = await Field.start(file);
  const figures: Figure[] = [];
  for (const parallel of parallels) {
    const tokens = answerTokens / file.shortening;
    const order = { parallel, requests: parallel, promptWords, answerTokens: tokens };
    const results = await field.compare(order, depth);
    const title = (what: string) => `${what}, ${parallel} at once: ${file.title}`;
    figures.push(
      figureOf(title('Writing'), results, {
        unit: 'tokens/s',
        figureOf: perSecond(({ answerTokens: count }) => count),
        goal: nearlyBare,
      }),
      figureOf(title('CPU time of a token, all processes'), results, {
        unit: 'ms',
        figureOf: (account) => (account.cpuMs + account.modelCpuMs) / account.answerTokens,
      }),
    );
  }
  return figures;
}

/**
 * Time to the first text of those that ask together, in many short rounds: a single one is too short to
 * tell much on a machine that does other things, too. Of servers that have been asked for a while.
 */
export async function measureFirstText(file: BenchModel, depth: Depth): Promise<Figure[]> {
  await using field = await Field.start(file);
  const asked = depth.isBrief ? 1 : warmUpRequests / file.shortening ** 2;
  const warming = { parallel: 1, requests: asked, promptWords, answerTokens: 1 };
  await field.compare(warming, { rounds: 1, warmUps: 0 });
  const figures: Figure[] = [];
  for (const parallel of parallels) {
    // One alone asks several times in a row: the others' turns leave nothing of its own in the processor's caches.
    const requests = parallel === 1 ? 4 / file.shortening : parallel;
    const order = { parallel, requests, promptWords, answerTokens: firstTokens };
    const results = await field.compare(order, {
      rounds: (depth.rounds * 8) / file.shortening,
      warmUps: depth.warmUps * (file.shortening === 1 ? 5 : 1),
    });
    figures.push(
      figureOf(`Time to the first text, ${parallel} at once: ${file.title}`, results, {
        unit: 'ms',
        figureOf: ({ firstMs }) => median(firstMs),
        goal: nearlyBareTime,
      }),
    );
  }
  return figures;
}

/** Tokens of a long prompt that are read in a second of wall time. */
export async function measureReading(file: BenchModel, depth: Depth): Promise<Figure[]> {
  await using field = await Field.start(file);
  const order = { parallel: 1, requests: 1, promptWords: 1000 / file.shortening, answerTokens: 1 };
  const results = await field.compare(order, depth);
  const read = perSecond(({ promptTokens }) => promptTokens);
  const options = { unit: 'tokens/s', figureOf: read, goal: nearlyBare };
  return [figureOf(`Reading a prompt: ${file.title}`, results, options)];
}

/** Resident memory of the process that holds the model, after it was used. */
export async function measureMemory(file: BenchModel): Promise<Figure[]> {
  await using field = await Field.start(file);
  const tokens = answerTokens / file.shortening;
  const order = { parallel: 8, requests: 8, promptWords, answerTokens: tokens };
  const results = await field.compare(order, { rounds: 1, warmUps: 0 });
  const options = { unit: 'MB', figureOf: ({ memoryBytes }: Account) => memoryBytes / 1e6 };
  return [figureOf(`Memory of the process with the model: ${file.title}`, results, options)];
}

function perSecond(count: (account: Account) => number): (account: Account) => number {
  return (account) => (count(account) / account.wallMs) * 1000;
}
