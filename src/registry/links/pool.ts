import type { PriorDiscovery } from '@modelcontextprotocol/client';
import { Fault } from '../../kit/errors.ts';
import type { Connection, ConnectionChange, Directory } from '../connections/connection.ts';
import type { Dial } from './dialling.ts';
import { isNeverSent, isOfOtherEra, linkClosed } from './link-faults.ts';
import type { ExchangeOptions, Link, Links } from './link.ts';
import type { McpLink } from './mcp-link.ts';
import { Opening } from './opening.ts';
import { isUnderstood } from './plain-question.ts';
import { PooledLink, type FailedExchange } from './pooled-link.ts';

export interface LinkPoolOptions {
  readonly directory: Pick<Directory, 'find' | 'onChange'>;
  readonly dial: Dial;
  /** After how many seconds without an exchange a link is closed; 600 unless told. */
  readonly idleSeconds?: number;
  /** Open at once, 1,000 unless told; the one that was idle longest makes room. */
  readonly linksMax?: number;
}

interface Entry {
  readonly opening: Opening<McpLink>;
  link?: McpLink;
}

interface Verdict {
  readonly prior: PriorDiscovery;
  readonly foundAtMs: number;
}

const defaultTimeoutMs = 60_000;
/** A server that was upgraded still answers as a legacy one. */
const legacyVerdictMs = 24 * 3_600_000;

/** One link for each connection, shared by all who call it. */
export class LinkPool implements Links, AsyncDisposable {
  readonly #options: LinkPoolOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #verdicts = new Map<string, Verdict>();
  readonly #closing = new Set<Promise<void>>();
  readonly #retiring = new Set<McpLink>();
  readonly #offerListeners = new Set<(connectionId: string) => void>();
  readonly #openedListeners = new Set<(connectionId: string, link: Link) => void>();
  readonly #brokenListeners = new Set<(connectionId: string, error: unknown) => void>();
  readonly #stopWatching: () => void;
  readonly #sweeps: NodeJS.Timeout;
  #isDisposed = false;

  constructor(options: LinkPoolOptions) {
    this.#options = options;
    this.#stopWatching = options.directory.onChange((change) => this.#onChange(change));
    const idleMs = this.#idleMs;
    this.#sweeps = setInterval(() => this.closeIdle(), Math.min(30_000, idleMs / 4));
    this.#sweeps.unref();
  }

  /** Links that are open or being opened. */
  get size(): number {
    return this.#entries.size;
  }

  async open(connectionId: string, options?: ExchangeOptions): Promise<Link> {
    return this.#pooled(connectionId, await this.#acquire(connectionId, options));
  }

  peek(connectionId: string): Link | undefined {
    const link = this.#entries.get(connectionId)?.link;
    return link && !link.isClosed ? this.#pooled(connectionId, link) : undefined;
  }

  async close(connectionId: string): Promise<void> {
    const entry = this.#entries.get(connectionId);
    if (!entry) return;
    this.#entries.delete(connectionId);
    await this.#end(entry);
  }

  /** Closes it and asks the server anew who it is: its address or our credentials have changed. */
  async forget(connectionId: string): Promise<void> {
    this.#verdicts.delete(connectionId);
    await this.close(connectionId);
  }

  onOfferChanged(listener: (connectionId: string) => void): () => void {
    this.#offerListeners.add(listener);
    return () => this.#offerListeners.delete(listener);
  }

  /** Called for each link that was opened anew. */
  onOpened(listener: (connectionId: string, link: Link) => void): () => void {
    this.#openedListeners.add(listener);
    return () => this.#openedListeners.delete(listener);
  }

  onBroken(listener: (connectionId: string, error: unknown) => void): () => void {
    this.#brokenListeners.add(listener);
    return () => this.#brokenListeners.delete(listener);
  }

  /** Closes the links that nobody has used for long; the timer calls it. */
  closeIdle(nowMs = Date.now()): void {
    for (const [id, { link }] of this.#entries) {
      if (!link || link.activeCount > 0) continue;
      if (nowMs - link.lastUsedMs >= this.#idleMs) void this.close(id);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    this.#stopWatching();
    clearInterval(this.#sweeps);
    await Promise.all(Array.from(this.#entries.keys(), (id) => this.close(id)));
    await Promise.all(Array.from(this.#retiring, (link) => link.close().catch(() => {})));
    await Promise.all(this.#closing);
  }

  get #idleMs(): number {
    return (this.#options.idleSeconds ?? 600) * 1000;
  }

  #pooled(connectionId: string, link: McpLink): Link {
    return new PooledLink(link, async (failed, options) => {
      if (isNeverSent(failed.error)) return this.#replace(connectionId, failed.link, options);
      return this.#inOtherEra(connectionId, failed, options);
    });
  }

  /** The link that stands in place of one that broke: opened here or by somebody else. */
  #replace(connectionId: string, broken: McpLink, options?: ExchangeOptions): Promise<McpLink> {
    const entry = this.#entries.get(connectionId);
    if (entry?.link === broken) {
      this.#entries.delete(connectionId);
      void this.#retire(broken);
    }
    return this.#acquire(connectionId, options);
  }

  /** Others may wait for answers over it: each learns for itself whether one comes. */
  async #retire(link: McpLink): Promise<void> {
    this.#retiring.add(link);
    await link.retire().catch(() => {});
    this.#retiring.delete(link);
  }

  /** A link to a server that has changed its protocol era behind an open one; it is asked anew. */
  async #inOtherEra(
    connectionId: string,
    failed: FailedExchange,
    options?: ExchangeOptions,
  ): Promise<McpLink | undefined> {
    const { link, error } = failed;
    const { era } = link.server;
    // Of the others one process or socket has but one, which was agreed when it was opened.
    if (this.#options.directory.find(connectionId)?.protocol !== 'http') return undefined;
    if (!isOfOtherEra(error, { era, isProbe: failed.isProbe })) return undefined;
    // Of all who fail at once the first replaces it.
    const isStanding = () => this.#entries.get(connectionId)?.link === link;
    if (isStanding()) {
      // The server may refuse this one thing alone.
      const isFine = !failed.isProbe && (await isUnderstood(link, options));
      if (isStanding() && isFine) return undefined;
      if (isStanding()) this.#verdicts.delete(connectionId);
    }
    const next = await this.#replace(connectionId, link, options).catch(() => undefined);
    return next?.server.era === era ? undefined : next;
  }

  async #acquire(connectionId: string, options: ExchangeOptions = {}): Promise<McpLink> {
    if (this.#isDisposed) throw linkClosed();
    const entry = this.#entries.get(connectionId);
    if (entry?.link && !entry.link.isClosed) return entry.link;
    const { signal, timeoutMs = defaultTimeoutMs } = options;
    const isOpening = entry && !entry.link && !entry.opening.isGivenUp;
    const { opening } = isOpening ? entry : this.#begin(connectionId);
    return opening.wait(signal, timeoutMs);
  }

  #begin(connectionId: string): Entry {
    const connection = this.#callable(connectionId);
    this.#makeRoom();
    const opening = new Opening((signal) => this.#dial(connection, { signal, entry }));
    const entry: Entry = { opening };
    this.#entries.set(connectionId, entry);
    opening.start(
      (link) => this.#opened(connectionId, entry, link),
      () => this.#remove(connectionId, entry),
    );
    return entry;
  }

  #callable(connectionId: string): Connection {
    const connection = this.#options.directory.find(connectionId);
    if (!connection) {
      const options = { reason: 'connection_not_found', detail: { connectionId } };
      throw new Fault('not_found', 'there is no such connection', options);
    }
    const isDisconnected = connection.status === 'disconnected';
    // A client that registered itself may have left its endpoint out.
    const endpoint: unknown = connection.endpoint;
    if (!isDisconnected && typeof endpoint === 'object' && endpoint !== null) return connection;
    const message = isDisconnected ? 'the connection is disconnected' : 'it has no endpoint';
    throw new Fault('conflict', message, { reason: 'not_callable', detail: { connectionId } });
  }

  async #dial(
    connection: Connection,
    { signal, entry }: { readonly signal: AbortSignal; readonly entry: Entry },
  ): Promise<McpLink> {
    const { id } = connection;
    const { link, verdict } = await this.#options.dial(connection, {
      signal,
      timeoutMs: defaultTimeoutMs,
      prior: this.#priorOf(connection),
      onOfferChanged: () => tellAll(this.#offerListeners, (listener) => listener(id)),
      onClosed: (failure) => this.#onClosed(id, entry, failure),
    });
    const known = this.#verdicts.get(id);
    const isRepeated = known?.prior.kind === verdict.kind;
    const foundAtMs = isRepeated ? known.foundAtMs : link.server.eraFoundAtMs;
    this.#verdicts.set(id, { prior: verdict, foundAtMs: foundAtMs ?? Date.now() });
    return link;
  }

  #priorOf({ id, server }: Connection): PriorDiscovery | undefined {
    const { prior, foundAtMs } = this.#verdicts.get(id) ?? {
      prior: server?.era === 'legacy' ? ({ kind: 'legacy' } as const) : undefined,
      foundAtMs: server?.eraFoundAtMs ?? 0,
    };
    const isOld = prior?.kind === 'legacy' && Date.now() - foundAtMs > legacyVerdictMs;
    if (isOld) this.#verdicts.delete(id);
    return isOld ? undefined : prior;
  }

  #opened(connectionId: string, entry: Entry, link: McpLink): void {
    if (this.#entries.get(connectionId) !== entry) return;
    entry.link = link;
    const pooled = this.#pooled(connectionId, link);
    tellAll(this.#openedListeners, (listener) => listener(connectionId, pooled));
  }

  #onClosed(connectionId: string, entry: Entry, failure: Fault | undefined): void {
    if (!this.#remove(connectionId, entry) || !entry.link) return;
    const error = failure ?? linkClosed();
    tellAll(this.#brokenListeners, (listener) => listener(connectionId, error));
  }

  /** False when it was removed already, because we closed it. */
  #remove(connectionId: string, entry: Entry): boolean {
    if (this.#entries.get(connectionId) !== entry) return false;
    // What was believed of the server may be why it failed.
    if (!entry.link) this.#verdicts.delete(connectionId);
    return this.#entries.delete(connectionId);
  }

  #makeRoom(): void {
    const { linksMax = 1_000 } = this.#options;
    if (this.#entries.size < linksMax) return;
    let oldest: { readonly id: string; readonly usedMs: number } | undefined;
    for (const [id, { link }] of this.#entries) {
      if (!link || link.activeCount > 0) continue;
      if (!oldest || link.lastUsedMs < oldest.usedMs) oldest = { id, usedMs: link.lastUsedMs };
    }
    if (oldest) return void this.close(oldest.id);
    throw new Fault('unavailable', 'too many servers are being called', {
      reason: 'too_many_links',
      retryAfter: 1,
    });
  }

  #end({ opening, link }: Entry): Promise<void> {
    const ending = (async () => {
      opening.abort(linkClosed());
      // What is still being opened ends by the abort; a link that broke has nothing to close.
      await (link ?? (await opening.settled()))?.close().catch(() => {});
    })();
    this.#closing.add(ending);
    return ending.finally(() => this.#closing.delete(ending));
  }

  #onChange({ before, after }: ConnectionChange): void {
    if (after.status === 'disconnected' || isElsewhere(before, after)) void this.forget(after.id);
  }
}

function isElsewhere(before: Connection | undefined, after: Connection): boolean {
  if (!before || before.endpoint === after.endpoint) return false;
  const isSameProtocol = before.protocol === after.protocol;
  return !isSameProtocol || JSON.stringify(before.endpoint) !== JSON.stringify(after.endpoint);
}

function tellAll<T>(listeners: ReadonlySet<T>, tell: (listener: T) => void): void {
  for (const listener of listeners) tell(listener);
}
