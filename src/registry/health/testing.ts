import { Fault } from '../../kit/errors.ts';
import { silentLog } from '../../kit/testing.ts';
import type { Connection, ConnectionNotes, HealthNote } from '../connections/connection.ts';
import { ConnectionDirectory } from '../connections/directory.ts';
import type { EventSink, RegistryEvent } from '../events.ts';
import type { Link, Links } from '../links/link.ts';
import { HealthChecker, type CheckerOptions } from './checker.ts';
import { HealthLedger } from './ledger.ts';

/** What a server does when it is asked. */
export type Conduct =
  | 'answers'
  | 'is unreachable'
  | 'hangs at the door'
  | 'hangs'
  | 'knows no ping'
  | 'limits its callers'
  | 'needs approval';

/** A connection to an HTTP server that was never checked; fields given here replace its own. */
export function connectionOf(id: string, over: Partial<Connection> = {}): Connection {
  const connection = {
    id,
    name: id,
    type: 'server',
    protocol: 'http',
    endpoint: { url: `http://${id}.test/mcp` },
    status: 'active',
    ownerId: 'usr_owner',
    declared: [],
    quarantined: [],
    metadata: {},
    healthCheck: { enabled: true, interval: 30, timeout: 50 },
    health: { status: 'initializing', checksPerformed: 0, failedChecks: 0, failuresInRow: 0 },
    createdAtMs: 0,
    lastActiveAtMs: 0,
    revision: 1,
    ...over,
  };
  // Its protocol and its endpoint are the test's to match.
  return connection as Connection;
}

const unused = () => Promise.reject(new Error('a check calls nothing'));

const era = { name: 's', version: '1', protocolVersion: '2026-07-28', era: 'modern' } as const;

/** Servers that do as they are told. */
export class ConductedLinks implements Links {
  readonly conducts = new Map<string, Conduct>();
  readonly asked: string[] = [];
  openCount = 0;
  readonly #broken = new Set<(connectionId: string, error: unknown) => void>();

  async open(connectionId: string): Promise<Link> {
    this.asked.push(connectionId);
    const conduct = this.#conductOf(connectionId);
    if (conduct === 'hangs at the door') await new Promise(() => {});
    if (conduct === 'is unreachable') {
      throw new Fault('unavailable', 'connect ECONNREFUSED 10.0.0.7:22', { reason: 'unreachable' });
    }
    if (conduct === 'needs approval') {
      throw new Fault('forbidden', 'no', { reason: 'approval_required' });
    }
    return this.#linkOf(connectionId);
  }

  peek(connectionId: string): Link | undefined {
    return this.#conductOf(connectionId) === 'answers' ? this.#linkOf(connectionId) : undefined;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  onOfferChanged(): () => void {
    return () => {};
  }

  onBroken(listener: (connectionId: string, error: unknown) => void): () => void {
    this.#broken.add(listener);
    return () => this.#broken.delete(listener);
  }

  breakLink(connectionId: string): void {
    for (const listener of this.#broken) listener(connectionId, new Error('broken'));
  }

  #conductOf(connectionId: string): Conduct {
    return this.conducts.get(connectionId) ?? 'answers';
  }

  #linkOf(connectionId: string): Link {
    return {
      server: era,
      activeCount: 0,
      probe: () => this.#probe(connectionId),
      learn: unused,
      callTool: unused,
      readResource: unused,
      getPrompt: unused,
      complete: unused,
    };
  }

  async #probe(connectionId: string): Promise<void> {
    const conduct = this.#conductOf(connectionId);
    if (conduct === 'hangs') await new Promise(() => {});
    if (conduct === 'limits its callers') {
      throw new Fault('upstream', 'no', { reason: 'http_status', detail: { status: 429 } });
    }
    if (conduct !== 'knows no ping') return;
    throw new Fault('upstream', 'no', { reason: 'server_error', detail: { code: -32_601 } });
  }
}

/** Connections, servers and what is written of them, in memory; the clock stands. */
export class HealthGround {
  readonly directory = new ConnectionDirectory((error) => {
    throw error;
  });
  readonly links = new ConductedLinks();
  readonly events: RegistryEvent[] = [];
  /** How many notes each statement had. */
  readonly statements: number[] = [];
  nowMs = 1_000_000;
  /** Says no when the table does not take anything. */
  isTableAway = false;
  readonly ledger: HealthLedger;
  readonly checker: HealthChecker;
  #revision = 1;

  constructor(options: Partial<CheckerOptions> = {}) {
    const events: EventSink = { tell: (event) => this.events.push(event) };
    const { links } = this;
    const { directory, now } = this;
    const notes = this.#notes();
    this.ledger = new HealthLedger({ directory, notes, log: silentLog, now });
    const { ledger } = this;
    this.checker = new HealthChecker({
      links,
      directory,
      ledger,
      events,
      log: silentLog,
      now,
      ...options,
    });
  }

  readonly now = (): number => this.nowMs;

  add(id: string, over: Partial<Connection> = {}): Connection {
    this.directory.put(connectionOf(id, { ...over, revision: ++this.#revision }));
    return this.get(id);
  }

  /** As somebody changes it. */
  change(id: string, over: Partial<Connection>): void {
    const connection = { ...this.get(id), ...over, revision: ++this.#revision };
    // Protocol and endpoint stay as they belong together.
    this.directory.put(connection as Connection);
  }

  get(id: string): Connection {
    const connection = this.directory.find(id);
    if (!connection) throw new Error(`there is no ${id}`);
    return connection;
  }

  #notes(): Pick<ConnectionNotes, 'noteHealth'> {
    return {
      noteHealth: async (notes) => {
        if (this.isTableAway) throw new Fault('unavailable', 'away');
        this.statements.push(notes.length);
        for (const note of notes) this.#apply(note);
      },
    };
  }

  #apply({ id, status, health }: HealthNote): void {
    const { lastActiveAtMs } = this.get(id);
    const revision = ++this.#revision;
    const state = { id, status, health, lastActiveAtMs, disconnectedAtMs: null, revision };
    this.directory.apply(state);
  }
}
