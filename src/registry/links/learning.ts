import { isDeepStrictEqual } from 'node:util';
import { Fault } from '../../kit/errors.ts';
import type { Log } from '../../kit/log.ts';
import type {
  Connection,
  ConnectionNotes,
  Directory,
  Learned,
  Pins,
} from '../connections/connection.ts';
import type { EventSink } from '../events.ts';
import { toLinkFault } from './link-faults.ts';
import { listNames, unreadBecause, type ExchangeOptions, type Link, type Offer } from './link.ts';
import { digestsOf, findDrift, pinTools, type ToolDrift } from './pins.ts';
import type { LinkPool } from './pool.ts';

export interface LearningOptions {
  readonly links: Pick<LinkPool, 'open' | 'onOpened' | 'onOfferChanged'>;
  readonly directory: Pick<Directory, 'find'>;
  readonly notes: Pick<ConnectionNotes, 'noteLearned'>;
  readonly events: EventSink;
  /** Whether tools that differ from the agreed ones are kept from being called until accepted. */
  readonly isQuarantineOn: boolean;
  /** After how many seconds a server that told nothing is asked again; 60 unless told. */
  readonly relearnSeconds?: number | undefined;
  readonly log: Log;
}

const relearnSecondsDefault = 60;
/** Callers who ask for what a server has not make it be asked no oftener than this. */
const refreshMs = 5_000;
const rememberedMax = 50_000;

/** Keeps what is known of the servers' tools, prompts and resources, and watches them for changes. */
export class Learning implements Disposable {
  readonly #options: LearningOptions;
  readonly #running = new Map<string, Promise<void>>();
  readonly #again = new Set<string>();
  /** When the lists that are known were asked for; absent when they are known to be old. */
  readonly #learnedAtMs = new Map<string, number>();
  readonly #triedAtMs = new Map<string, number>();
  #stops: readonly (() => void)[] = [];

  constructor(options: LearningOptions) {
    this.#options = options;
  }

  /** From now on each new link, and each server that says that its lists changed, is learned. */
  start(): void {
    const { links } = this.#options;
    this.#stops = [
      links.onOpened((connectionId) => this.#learnSoon(connectionId)),
      links.onOfferChanged((connectionId) => this.#learnSoon(connectionId)),
    ];
  }

  /** Learns when that was never done, or so long ago that the server may have changed unheard. */
  async ensure(connectionId: string, options?: ExchangeOptions): Promise<void> {
    if (!this.#isFresh(connectionId)) await this.learn(connectionId, options);
  }

  /**
   * Before a call: with quarantine on the server is asked first, so that a tool which changed unheard
   * is found out. It has as long to answer as a health check gives it. Rejects as `Link` does.
   */
  async vet(connectionId: string, options: ExchangeOptions = {}): Promise<void> {
    if (!this.#options.isQuarantineOn) return;
    const { timeout } = this.#find(connectionId).healthCheck;
    const timeoutMs = Math.min(options.timeoutMs ?? timeout, timeout);
    await waitFor(this.learn(connectionId, { timeoutMs: timeout }), { ...options, timeoutMs });
    const offer = this.#options.directory.find(connectionId)?.offer;
    const reason = offer && unreadBecause(offer, 'tools');
    if (!reason) return;
    throw new Fault('upstream', 'the server does not say which tools it has now', { reason });
  }

  /** Learns unless that was tried moments ago: somebody asks for what is not known. */
  async refresh(connectionId: string, options?: ExchangeOptions): Promise<void> {
    const triedAtMs = this.#triedAtMs.get(connectionId) ?? 0;
    const isRecent = Date.now() - triedAtMs < refreshMs;
    if (isRecent && !this.#running.has(connectionId)) return;
    await waitFor(this.learn(connectionId), options);
  }

  /** Asks for all lists and stores them; those who ask meanwhile share it. Rejects as `Link` does. */
  learn(connectionId: string, options?: ExchangeOptions): Promise<void> {
    const running = this.#running.get(connectionId);
    if (running) return running;
    const learning = this.#learn(connectionId, options).finally(() => {
      this.#running.delete(connectionId);
      if (this.#again.delete(connectionId)) this.#learnSoon(connectionId);
    });
    this.#running.set(connectionId, learning);
    return learning;
  }

  /** What differs from what was agreed to; Fault `not_found` for an unknown connection. */
  drift(connectionId: string): { readonly pins?: Pins; readonly tools: readonly ToolDrift[] } {
    const connection = this.#find(connectionId);
    const { pins } = connection;
    return { ...(pins ? { pins } : {}), tools: findDrift(connection) };
  }

  /**
   * Somebody agrees to the tools as they are now, or to the named ones alone; answers which those are.
   * Faults `not_found`, and `conflict` (`not_learned`).
   */
  async accept(
    connectionId: string,
    by: string,
    names?: readonly string[],
  ): Promise<readonly string[]> {
    const connection = this.#find(connectionId);
    const { offer, pins, quarantined } = connection;
    if (!offer || !isToolsKnown(connection, offer)) {
      throw new Fault('conflict', 'the tools of the server are not known yet', {
        reason: 'not_learned',
        detail: { connectionId },
      });
    }
    const drift = findDrift(connection);
    const accepted = drift.filter(({ name }) => names?.includes(name) ?? true);
    const next: Record<string, string> = { ...pins?.tools };
    for (const { name, current } of accepted) {
      if (current === undefined) delete next[name];
      else next[name] = current;
    }
    const acceptedNames = accepted.map(({ name }) => name);
    const agreed = {
      pins: pins ? { tools: next, pinnedAtMs: Date.now() } : pinTools(offer.tools, Date.now()),
      quarantined: quarantined.filter((name) => !acceptedNames.includes(name)),
    };
    await this.#options.notes.noteLearned(connectionId, agreed, { by, tools: acceptedNames });
    return acceptedNames;
  }

  [Symbol.dispose](): void {
    for (const stop of this.#stops) stop();
    this.#again.clear();
  }

  #isFresh(connectionId: string): boolean {
    const { directory, relearnSeconds = relearnSecondsDefault } = this.#options;
    if (directory.find(connectionId)?.offer === undefined) return false;
    const learnedAtMs = this.#learnedAtMs.get(connectionId) ?? 0;
    return Date.now() - learnedAtMs < relearnSeconds * 1_000;
  }

  #find(connectionId: string): Connection {
    const connection = this.#options.directory.find(connectionId);
    if (connection) return connection;
    const options = { reason: 'connection_not_found', detail: { connectionId } };
    throw new Fault('not_found', 'there is no such connection', options);
  }

  #learnSoon(connectionId: string): void {
    this.#learnedAtMs.delete(connectionId);
    if (this.#running.has(connectionId)) {
      this.#again.add(connectionId);
      return;
    }
    this.learn(connectionId).catch((error: unknown) => {
      this.#options.log.debug({ err: error, connectionId }, 'a server could not be asked');
    });
  }

  async #learn(connectionId: string, options?: ExchangeOptions): Promise<void> {
    const { links, notes } = this.#options;
    if (this.#triedAtMs.size >= rememberedMax) this.#triedAtMs.clear();
    this.#triedAtMs.set(connectionId, Date.now());
    const link = await links.open(connectionId, options);
    const askedAtMs = Date.now();
    const read = await link.learn(options);
    const connection = this.#options.directory.find(connectionId);
    if (!connection || connection.status === 'disconnected') return;
    const offer = withKnown(read, connection.offer);
    const learned = this.#toLearned(connection, offer, link);
    if (!isKnown(connection, learned)) {
      await notes.noteLearned(connectionId, learned);
      this.#tellChanges(connection, offer);
    }
    this.#noteLearnedAt(connectionId, askedAtMs);
  }

  /** What the server said to have changed under the asking is asked for again first. */
  #noteLearnedAt(connectionId: string, askedAtMs: number): void {
    if (this.#again.has(connectionId)) return;
    if (this.#learnedAtMs.size >= rememberedMax) this.#learnedAtMs.clear();
    this.#learnedAtMs.set(connectionId, askedAtMs);
  }

  #toLearned(connection: Connection, offer: Offer, { server }: Link): Learned {
    // Nothing is agreed to before it was seen.
    if (!isToolsKnown(connection, offer)) return { offer, server, quarantined: [] };
    const pins = connection.pins ?? pinTools(offer.tools, Date.now());
    // A tool that came later was not agreed to: it is held like one that changed.
    const held = findDrift({ pins, offer }).filter(({ change }) => change !== 'removed');
    const quarantined = this.#options.isQuarantineOn ? held.map(({ name }) => name) : [];
    return { offer, server, pins, quarantined };
  }

  #tellChanges(connection: Connection, offer: Offer): void {
    const { flaws } = offer;
    if (flaws && !isDeepStrictEqual(flaws, connection.offer?.flaws)) {
      const connectionId = connection.id;
      this.#options.log.warn({ connectionId, flaws }, 'not all lists of a server could be read');
    }
    if (!connection.offer) return;
    const before = digestsOf(connection.offer.tools);
    const drift = findDrift({ pins: { tools: before, pinnedAtMs: 0 }, offer });
    if (drift.length === 0) return;
    this.#options.events.tell({
      type: 'connection-status',
      connectionId: connection.id,
      status: connection.status,
      timestamp: new Date().toISOString(),
      change: 'tools-changed',
      tools: drift.map(({ name }) => name),
    });
  }
}

/** One caller waits no longer than told; the asking, which others share, goes on. */
async function waitFor(
  work: Promise<void>,
  { signal, timeoutMs = 60_000 }: ExchangeOptions = {},
): Promise<void> {
  const late = AbortSignal.timeout(timeoutMs);
  const end = signal ? AbortSignal.any([signal, late]) : late;
  const ended = new AbortController();
  const givenUp = new Promise<never>((_resolve, reject) => {
    const stop = () => reject(toLinkFault(end.reason, end));
    end.addEventListener('abort', stop, { once: true, signal: ended.signal });
    if (end.aborted) stop();
  });
  try {
    await Promise.race([work, givenUp]);
  } finally {
    ended.abort();
  }
}

/** What was read, and in place of a list that could not be read what was known of it before. */
function withKnown(read: Offer, known: Offer | undefined): Offer {
  if (!known || !read.flaws) return read;
  const kept = listNames.filter((list) => unreadBecause(read, list));
  return { ...read, ...Object.fromEntries(kept.map((list) => [list, known[list]])) };
}

/** Whether the server ever said which tools it has. */
function isToolsKnown({ pins }: Connection, offer: Offer): boolean {
  return pins !== undefined || !unreadBecause(offer, 'tools');
}

/** Whether storing it would change nothing but the time of asking. */
function isKnown({ offer, server, pins, quarantined }: Connection, learned: Learned): boolean {
  const timeless = { ...learned.server, eraFoundAtMs: server?.eraFoundAtMs };
  const known = [offer, server, pins, quarantined];
  const found = [learned.offer, timeless, learned.pins, learned.quarantined];
  return known.every((one, at) => isDeepStrictEqual(one, found[at]));
}
