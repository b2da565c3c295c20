import type { Log } from './log.ts';

type Closer = () => Promise<void> | void;

/** What was opened, to be closed in reverse order whatever happens half-way. */
export class Lifetime implements AsyncDisposable {
  readonly #closers: { readonly name: string; readonly close: Closer }[] = [];
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Remembers how to close something; the name is for the log when closing it fails. */
  defer(name: string, close: Closer): void {
    this.#closers.push({ name, close });
  }

  /** Remembers a disposable and gives it back. */
  own<T extends AsyncDisposable>(name: string, disposable: T): T {
    this.defer(name, async () => disposable[Symbol.asyncDispose]());
    return disposable;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { name, close } of this.#closers.splice(0).toReversed()) {
      try {
        await close();
      } catch (error) {
        this.#log.error({ err: error }, `closing ${name} failed`);
      }
    }
  }
}

/**
 * Opens what belongs together: disposing the answer ends what the lifetime was given, and so does a
 * rejection of `open`, which is passed on.
 */
export async function openTogether<T extends object>(
  log: Log,
  open: (lifetime: Lifetime) => Promise<T>,
): Promise<T & AsyncDisposable> {
  const lifetime = new Lifetime(log);
  try {
    const parts = await open(lifetime);
    return { ...parts, [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose]() };
  } catch (error) {
    await lifetime[Symbol.asyncDispose]();
    throw error;
  }
}

const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
type StopSignal = (typeof signals)[number];

/**
 * Listens for SIGTERM, SIGINT and SIGHUP from now on; resolves to the first. A second one ends the process
 * at once, and so does a stop that takes longer than the limit. A second SIGHUP does not: of a terminal
 * that closes, the kernel and the shell both tell.
 */
export function untilSignal(limitMs: number): Promise<StopSignal> {
  return new Promise((resolve) => {
    let isStopping = false;
    const stop = (signal: StopSignal) => {
      if (isStopping) {
        if (signal !== 'SIGHUP') process.exit(1);
        return;
      }
      isStopping = true;
      setTimeout(() => process.exit(1), limitMs).unref();
      resolve(signal);
    };
    for (const signal of signals) {
      process.removeAllListeners(signal).on(signal, () => stop(signal));
    }
  });
}

/**
 * Ends the process as SIGHUP does where nobody listens: an exit would ask the terminal for its settings,
 * and Node.js aborts when there is none any more.
 */
export function endHungUp(): void {
  process.removeAllListeners('SIGHUP');
  process.kill(process.pid, 'SIGHUP');
}
