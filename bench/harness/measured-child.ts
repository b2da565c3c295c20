import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** A request to a child: run so many operations, then say how much CPU time was used. */
interface Order {
  readonly operations: number;
  /** Also collect garbage and say what memory is left in use. */
  readonly measuresMemory?: true;
}

interface Account {
  readonly cpuMicros: number;
  readonly memory?: Memory;
}

/** What a process holds right after its garbage was collected, in bytes. */
export interface Memory {
  readonly residentBytes: number;
  /** JavaScript objects of the main thread. */
  readonly heapBytes: number;
}

/** As the suite is started: see `start` in package.json. Limits and peers get the same. */
export const youngGeneration = '--max-semi-space-size=32';

/**
 * A process of its own in which something is measured, so that neither the load nor another contestant
 * shares its heap, its JIT or its account of CPU time. The owner disposes of it.
 */
export class MeasuredChild<Hello = unknown> implements AsyncDisposable {
  /** What the child said when it was ready. */
  readonly hello: Hello;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, hello: Hello) {
    this.#child = child;
    this.hello = hello;
  }

  /** Starts a module that calls `serveOrders`; rejects when it ends before it is ready. */
  static async start<Hello>(module: URL, args: readonly string[]): Promise<MeasuredChild<Hello>> {
    const child = fork(module, args, { execArgv: ['--no-warnings', youngGeneration] });
    // What a child says is typed by the module that was started.
    return new MeasuredChild(child, (await nextMessage(child)) as Hello);
  }

  /** CPU time (user and system, all threads) per operation, in microseconds, of so many in a row. */
  async cpuMicrosPerOperation(operations: number): Promise<number> {
    const before = await this.cpuMicros();
    return ((await this.cpuMicros(operations)) - before) / operations;
  }

  /** CPU time that the child has used since it began, in microseconds, after these operations. */
  async cpuMicros(operations = 0): Promise<number> {
    const answer = nextMessage(this.#child);
    this.#child.send({ operations } satisfies Order);
    return ((await answer) as Account).cpuMicros;
  }

  /** What the child holds once its garbage is collected. */
  async memory(): Promise<Memory> {
    const answer = nextMessage(this.#child);
    this.#child.send({ operations: 0, measuresMemory: true } satisfies Order);
    const { memory } = (await answer) as Account;
    if (!memory) throw new Error('a measured process did not say what it holds');
    return memory;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = this.#child.exitCode === null ? once(this.#child, 'exit') : undefined;
    this.#child.kill('SIGKILL');
    await exited;
  }
}

/** In the child: says hello, then does what it is told until it is killed or its parent has gone. */
export function serveOrders(hello: unknown, run: (operations: number) => unknown): void {
  const obey = async ({ operations, measuresMemory }: Order) => {
    if (operations > 0) await run(operations);
    const memory = measuresMemory ? { memory: readMemory() } : {};
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuMicros: user + system, ...memory } satisfies Account);
  };
  process.on('message', (order: Order) => void obey(order));
  process.on('disconnect', () => process.exit());
  process.send?.(hello);
}

/** Collects twice, because what the first run finalises is only freed by the second. */
function readMemory(): Memory {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  const { rss, heapUsed } = process.memoryUsage();
  return { residentBytes: rss, heapBytes: heapUsed };
}

function nextMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`a measured process ended (${code})`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message);
    });
  });
}
