import type { Depth } from '../harness/depth.ts';
import type { Figure, Goal, Role } from '../harness/figure.ts';
import { runRounds } from '../harness/rounds.ts';
import { LlamaBench, llamaCppMissing, llamaCppProgram } from './llama-cpp.ts';
import type { BenchModel } from './model-files.ts';
import { Contestant, type Account, type Order } from './orders.ts';

/** One that carries out orders, as a row shows it. */
interface Entrant {
  readonly name: string;
  readonly role: Role;
  readonly contestant: Pick<Contestant, 'carryOut'>;
}

export type Rounds = Pick<Depth, 'rounds' | 'warmUps'>;

/** The accounts of one order, one for each round, of everybody who carried it out. */
export type Results = readonly (Omit<Entrant, 'contestant'> & {
  readonly accounts: readonly Account[];
})[];

export const runtimeName = 'the runtime of models';

/** Everything that is compared over one model. The owner disposes of it. */
export class Field implements AsyncDisposable {
  readonly #entrants: readonly Entrant[];
  readonly #started: readonly Contestant[];

  private constructor(entrants: readonly Entrant[], started: readonly Contestant[]) {
    this.#entrants = entrants;
    this.#started = started;
  }

  /**
   * Starts the ways; llama.cpp takes part where somebody says where it is. Those that answer whole over HTTP
   * stay out where they have nothing to show: each is a process that works beside the others.
   */
  static async start({ path }: BenchModel, { hasHttp = true } = {}): Promise<Field> {
    const entrants: Entrant[] = [];
    const started: Contestant[] = [];
    for (const { way, name, role, isHttp } of ways) {
      if (isHttp && !hasHttp) continue;
      if (way === 'llama-server' && !llamaCppProgram(way)) continue;
      const contestant = await Contestant.start(way, path);
      started.push(contestant);
      entrants.push({ name, role, contestant });
    }
    const program = llamaCppProgram('llama-bench');
    if (program) {
      const contestant = new LlamaBench(program, path);
      entrants.push({ name: llamaBenchName, role: 'peer', contestant });
    }
    return new Field(entrants, started);
  }

  /** Lets all carry out an order in turns; answers the rounds that count. */
  async compare(order: Order, { rounds, warmUps }: Rounds): Promise<Results> {
    // That one knows no more than one sequence.
    const able = this.#entrants.filter(
      ({ name }) => order.parallel === 1 || name !== llamaBenchName,
    );
    const results = able.map((entrant) => ({ ...entrant, accounts: [] as Account[] }));
    const turns = results.map(({ name, contestant, accounts }) => ({
      name,
      measure: async () => {
        const account = await contestant.carryOut(order);
        accounts.push(account);
        return account.wallMs;
      },
    }));
    await runRounds(turns, { rounds, warmUps });
    return results.map((result) => ({ ...result, accounts: result.accounts.slice(warmUps) }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const contestant of this.#started) await contestant[Symbol.asyncDispose]();
  }
}

const llamaBenchName = 'llama-bench';

interface WayEntry extends Omit<Entrant, 'contestant'> {
  /** As `way-child.ts` knows it. */
  readonly way: string;
  readonly isHttp?: boolean;
}

const ways: readonly WayEntry[] = [
  { way: 'runtime', name: runtimeName, role: 'ours' },
  { way: 'bare', name: 'node-llama-cpp alone', role: 'limit' },
  { way: 'http', name: 'models behind HTTP', role: 'ours', isHttp: true },
  { way: 'llama-server', name: 'llama-server, HTTP', role: 'peer', isHttp: true },
];

interface FigureOptions {
  readonly unit: string;
  readonly figureOf: (account: Account) => number;
  /** Of the runtime. */
  readonly goal?: Goal;
}

/** A figure of everybody for whom it is known. */
export function figureOf(
  title: string,
  results: Results,
  { unit, figureOf: sampleOf, goal }: FigureOptions,
): Figure {
  const rows = results.map(({ name, role, accounts }) => ({
    name,
    role,
    unit,
    samples: accounts.map(sampleOf),
    ...(goal && name === runtimeName ? { goal } : {}),
  }));
  const note = llamaCppProgram('llama-bench') ? {} : { note: llamaCppMissing };
  return { title, rows: rows.filter(({ samples }) => !samples.some(Number.isNaN)), ...note };
}
