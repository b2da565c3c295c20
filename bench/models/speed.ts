import type { Depth } from '../foundation/depth.ts';
import { median, type Figure, type Goal } from '../harness/figure.ts';
import { runRounds } from '../harness/rounds.ts';
import type { BenchModel } from './model-files.ts';
import { Contestant, type Account, type Order } from './orders.ts';

const parallels = [1, 4, 8];
const answerTokens = 96;
const promptWords = 12;
const nearlyBare: Goal = { text: '>= 0.9x limit', isMet: ({ ratio }) => ratio >= 0.9 };

/** Tokens written in a second of wall time, and the time to the first, at several requests at once. */
export async function measureWriting(file: BenchModel, depth: Depth): Promise<Figure[]> {
  await using pair = await Pair.start(file);
  const figures: Figure[] = [];
  for (const parallel of parallels) {
    const order = { parallel, requests: parallel, promptWords, answerTokens };
    const accounts = await pair.compare(order, depth);
    figures.push(
      {
        title: `Writing, ${parallel} at once: ${file.title}`,
        rows: rowsOf(accounts, { unit: 'tokens/s', figureOf: writingSpeed, goal: nearlyBare }),
      },
      {
        title: `Time to the first text, ${parallel} at once: ${file.title}`,
        rows: rowsOf(accounts, { unit: 'ms', figureOf: ({ firstMs }) => median(firstMs) }),
      },
    );
  }
  return figures;
}

/** Tokens of a long prompt that are read in a second of wall time. */
export async function measureReading(file: BenchModel, depth: Depth): Promise<Figure[]> {
  await using pair = await Pair.start(file);
  const order = { parallel: 1, requests: 1, promptWords: 1000, answerTokens: 1 };
  const accounts = await pair.compare(order, depth);
  const rows = rowsOf(accounts, { unit: 'tokens/s', figureOf: readingSpeed, goal: nearlyBare });
  return [{ title: `Reading a prompt: ${file.title}`, rows }];
}

/** Resident memory of the process that holds the model, after it was used. */
export async function measureMemory(file: BenchModel): Promise<Figure[]> {
  await using pair = await Pair.start(file);
  const order = { parallel: 8, requests: 8, promptWords, answerTokens };
  const accounts = await pair.compare(order, { rounds: 1, warmUps: 0 });
  const figureOf = ({ memoryBytes }: Account) => memoryBytes / 1e6;
  return [
    {
      title: `Memory of the process: ${file.title}`,
      rows: rowsOf(accounts, { unit: 'MB', figureOf }),
    },
  ];
}

type Rounds = Pick<Depth, 'rounds' | 'warmUps'>;

interface Accounts {
  readonly ours: readonly Account[];
  readonly bare: readonly Account[];
}

/** The runtime and the bare binding, with one model. */
class Pair implements AsyncDisposable {
  readonly #ours: Contestant;
  readonly #bare: Contestant;

  private constructor(ours: Contestant, bare: Contestant) {
    this.#ours = ours;
    this.#bare = bare;
  }

  static async start({ path }: BenchModel): Promise<Pair> {
    const ours = await Contestant.start('runtime', path);
    return new Pair(ours, await Contestant.start('bare', path));
  }

  /** Lets both carry out an order in turns; the accounts of the rounds that count. */
  async compare(order: Order, { rounds, warmUps }: Rounds): Promise<Accounts> {
    const accounts = { ours: [] as Account[], bare: [] as Account[] };
    const measure = (name: 'ours' | 'bare', contestant: Contestant) => ({
      name,
      measure: async () => {
        const account = await contestant.carryOut(order);
        accounts[name].push(account);
        return account.wallMs;
      },
    });
    const contestants = [measure('ours', this.#ours), measure('bare', this.#bare)];
    await runRounds(contestants, { rounds, warmUps });
    return { ours: accounts.ours.slice(warmUps), bare: accounts.bare.slice(warmUps) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ours[Symbol.asyncDispose]();
    await this.#bare[Symbol.asyncDispose]();
  }
}

interface RowOptions {
  readonly unit: string;
  readonly figureOf: (account: Account) => number;
  readonly goal?: Goal;
}

function rowsOf({ ours, bare }: Accounts, { unit, figureOf, goal }: RowOptions): Figure['rows'] {
  return [
    {
      name: 'the runtime of models',
      role: 'ours',
      unit,
      samples: ours.map(figureOf),
      ...(goal && { goal }),
    },
    { name: 'node-llama-cpp alone', role: 'limit', unit, samples: bare.map(figureOf) },
  ];
}

function writingSpeed(account: Account): number {
  return (account.answerTokens / account.wallMs) * 1000;
}

function readingSpeed(account: Account): number {
  return (account.promptTokens / account.wallMs) * 1000;
}
