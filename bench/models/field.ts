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

/** Everything that is compared over one model. The owner disposes of it. */
export class Field implements AsyncDisposable {
  readonly #entrants: readonly Entrant[];
  readonly #started: readonly Contestant[];

  private constructor(entrants: readonly Entrant[], started: readonly Contestant[]) {
    this.#entrants = entrants;
    this.#started = started;
  }

  /** Starts the ways; llama.cpp takes part where somebody says where it is, and then its server is the limit. */
  static async start({ path }: BenchModel): Promise<Field> {
    const entrants: Entrant[] = [];
    const started: Contestant[] = [];
    const limit = chosenLimit();
    for (const { way, name, role } of ways) {
      if (way === 'llama-server' && !llamaCppProgram(way)) continue;
      const contestant = await Contestant.start(way, path);
      started.push(contestant);
      entrants.push({ name, role: way === limit ? 'limit' : role, contestant });
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
}

const runtimeName = 'the runtime of models';
const serviceName = 'models behind HTTP';

const ways: readonly WayEntry[] = [
  { way: 'runtime', name: runtimeName, role: 'ours' },
  { way: 'bare', name: 'node-llama-cpp alone', role: 'peer' },
  { way: 'http', name: serviceName, role: 'ours' },
  { way: 'llama-server', name: 'llama-server, HTTP', role: 'peer' },
];

/** The way that ours is measured by. */
function chosenLimit(): 'llama-server' | 'bare' {
  return llamaCppProgram('llama-server') ? 'llama-server' : 'bare';
}

/** What is measured by the limit: like is compared with like. */
function judgedName(): string {
  return chosenLimit() === 'bare' ? runtimeName : serviceName;
}

interface FigureOptions {
  readonly unit: string;
  readonly figureOf: (account: Account) => number;
  /** Of ours, over HTTP where the limit is. */
  readonly goal?: Goal;
}

/** A figure of everybody for whom it is known. */
export function figureOf(
  title: string,
  results: Results,
  { unit, figureOf: sampleOf, goal }: FigureOptions,
): Figure {
  const judged = judgedName();
  const rows = results.map(({ name, role, accounts }) => ({
    name,
    role,
    unit,
    samples: accounts.map(sampleOf),
    ...(goal && name === judged ? { goal } : {}),
  }));
  const note = llamaCppProgram('llama-bench') ? {} : { note: llamaCppMissing };
  return { title, rows: rows.filter(({ samples }) => !samples.some(Number.isNaN)), ...note };
}
