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

const signals = ['SIGTERM', 'SIGINT'] as const;

/**
 * Listens for SIGTERM and SIGINT from now on; resolves at the first. A second one ends the process at
 * once, and so does a stop that takes longer than the limit.
 */
export function untilSignal(limitMs: number): Promise<void> {
  return new Promise((resolve) => {
    let isStopping = false;
    const stop = () => {
      if (isStopping) process.exit(1);
      isStopping = true;
      setTimeout(() => process.exit(1), limitMs).unref();
      resolve();
    };
    for (const signal of signals) process.removeAllListeners(signal).on(signal, stop);
  });
}
