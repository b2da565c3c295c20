import type { AddressBook } from './addresses.ts';
import { Fault } from './kit/errors.ts';
import type { Log } from './kit/log.ts';
import type { Service, SuiteChange, SuiteControl, SuiteMember } from './kit/service.ts';
import { lasting, services } from './services.ts';

export interface RunningServicesOptions {
  /** Those of this process, in the order in which they start. */
  readonly hosted: readonly Service[];
  readonly addresses: AddressBook;
  /** Starts one; disposing its answer stops it. */
  readonly open: (service: Service) => Promise<AsyncDisposable>;
  /** Told when one listens. */
  readonly onStarted: (service: Service) => void;
  /** Waited for before one is stopped. */
  readonly onStopping: (service: Service) => Promise<void>;
  readonly log: Log;
}

/** How a service of this process is. */
interface Standing {
  readonly running?: AsyncDisposable;
  readonly sinceMs: number;
  readonly failure?: string;
}

type Refusal = SuiteChange['refused'][number];

const closeGraceMs = 5_000;

/**
 * The services that a process hosts: which of them run, and how they are started and stopped, one
 * change at a time. Disposing it stops all in reverse, and starts none any more.
 */
export class RunningServices implements SuiteControl, AsyncDisposable {
  readonly #options: RunningServicesOptions;
  readonly #standings = new Map<string, Standing>();
  #changing: Promise<unknown> = Promise.resolve();
  #isClosing = false;
  /** When running requests of what is being stopped are aborted; Unix milliseconds. */
  #abortAt = 0;

  constructor(options: RunningServicesOptions) {
    this.#options = options;
    for (const { contract } of options.hosted) {
      this.#standings.set(contract.name, { sinceMs: Date.now() });
    }
  }

  /** Milliseconds that running requests of a service that is being stopped still have. */
  graceMs(): number {
    return Math.max(0, this.#abortAt - Date.now());
  }

  /** Starts one unless it runs; rejects with the reason when it cannot. */
  launch(service: Service): Promise<void> {
    return this.#queue(async () => {
      if (!this.#isRunning(service)) await this.#start(service);
    });
  }

  services(): readonly SuiteMember[] {
    return services.map((service) => {
      const { name, version } = service.contract;
      const url = this.#options.addresses.urlOf(name);
      const member = { name, version, url, isLasting: lasting.includes(service) };
      const standing = this.#standings.get(name);
      if (!standing) return { ...member, status: 'elsewhere' };
      const { running, sinceMs, failure } = standing;
      const status = running ? 'running' : 'stopped';
      return { ...member, status, sinceMs, ...(failure === undefined ? {} : { failure }) };
    });
  }

  start(names: readonly string[]): Promise<SuiteChange> {
    return this.#queue(async () => {
      const changed: string[] = [];
      const refused = this.#strangers(names);
      for (const service of this.#among(names)) {
        if (this.#isRunning(service)) continue;
        const reason = await this.#tryStart(service);
        const { name } = service.contract;
        if (reason === undefined) changed.push(name);
        else refused.push({ name, reason });
      }
      return { changed, refused };
    });
  }

  stop(names: readonly string[]): Promise<SuiteChange> {
    return this.#queue(async () => {
      this.#abortAt = Date.now() + closeGraceMs;
      const changed: string[] = [];
      const refused = this.#strangers(names);
      for (const service of this.#among(names).toReversed()) {
        const { name } = service.contract;
        if (lasting.includes(service)) refused.push({ name, reason: 'it never stops by itself' });
        else if (await this.#stop(service)) changed.push(name);
      }
      return { changed, refused };
    });
  }

  /** Running requests have five seconds in all, then they are aborted. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    const abortAt = Date.now() + closeGraceMs;
    await this.#queue(async () => {
      this.#abortAt = abortAt;
      for (const service of this.#options.hosted.toReversed()) await this.#stop(service);
    });
  }

  /** Works one change after the other, whatever came of the one before. */
  #queue<T>(change: () => Promise<T>): Promise<T> {
    const done = this.#changing.then(change);
    this.#changing = done.catch(() => {});
    return done;
  }

  /** In the order in which they start. */
  #among(names: readonly string[]): readonly Service[] {
    return this.#options.hosted.filter(({ contract }) => names.includes(contract.name));
  }

  #strangers(names: readonly string[]): Refusal[] {
    const elsewhere = names.filter((name) => !this.#standings.has(name));
    return elsewhere.map((name) => ({ name, reason: 'it is not hosted by this process' }));
  }

  #isRunning({ contract }: Service): boolean {
    return this.#standings.get(contract.name)?.running !== undefined;
  }

  /** Why it could not be started; undefined when it runs. */
  async #tryStart(service: Service): Promise<string | undefined> {
    const { name } = service.contract;
    try {
      await this.#start(service);
      return undefined;
    } catch (error) {
      const fault = Fault.from(error);
      const isOurs = fault.code === 'internal';
      this.#options.log.error({ err: isOurs ? fault.cause : fault }, `${name} did not start`);
      const failure = isOurs ? 'it failed for a reason that the log tells' : fault.message;
      this.#standings.set(name, { sinceMs: Date.now(), failure });
      return failure;
    }
  }

  async #start(service: Service): Promise<void> {
    if (this.#isClosing) throw new Fault('unavailable', 'the process is stopping');
    const running = await this.#options.open(service);
    this.#standings.set(service.contract.name, { running, sinceMs: Date.now() });
    this.#options.onStarted(service);
  }

  /** False when it did not run. */
  async #stop(service: Service): Promise<boolean> {
    const { name } = service.contract;
    const { running } = this.#standings.get(name) ?? {};
    if (!running) return false;
    await this.#options.onStopping(service);
    await running[Symbol.asyncDispose]();
    this.#standings.set(name, { sinceMs: Date.now() });
    return true;
  }
}
