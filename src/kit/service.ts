import type { JWTVerifyGetKey } from 'jose';
import type { Bus } from './bus/bus.ts';
import type { Client } from './client.ts';
import type { ConfigOf, Settings } from './config.ts';
import type { Contract } from './contract.ts';
import type { Database } from './database/database.ts';
import type { Egress } from './egress/egress.ts';
import type { Envelope } from './envelope.ts';
import type { HttpServer } from './http/server.ts';
import type { Authenticator } from './identity/authenticator.ts';
import type { ServiceToken } from './identity/service-token.ts';
import type { RevocationList } from './identity/revocations.ts';
import type { Log } from './log.ts';
import type { Rate, RateLimiter } from './rate-limit.ts';
import type { Tracer } from './trace/trace.ts';

/** A member of the suite as the others must know it. */
export interface Peer {
  readonly name: string;
  /** Where it answers, without a slash at the end. */
  readonly url: string;
  /** What its own identity may do elsewhere. */
  readonly grants: readonly string[];
}

/** A service of the suite as the process sees it that was asked. */
export interface SuiteMember {
  readonly name: string;
  readonly version: string;
  /** Where it answers, without a slash at the end. */
  readonly url: string;
  /** `elsewhere`: another process hosts it, or none does. */
  readonly status: 'running' | 'stopped' | 'elsewhere';
  /** Stays up while the others are stopped. */
  readonly isLasting: boolean;
  /** Since when it has this status, Unix milliseconds; absent elsewhere. */
  readonly sinceMs?: number;
  /** Why its last start failed, of one that is stopped. */
  readonly failure?: string;
}

/** What came of starting or stopping services. */
export interface SuiteChange {
  /** In the order in which they were started or stopped; who already was so is not among them. */
  readonly changed: readonly string[];
  /** Which ones are not as was asked for, each with a sentence that says why. */
  readonly refused: readonly { readonly name: string; readonly reason: string }[];
}

/** Starts and stops the services of this process. Who asks while another change runs waits for it. */
export interface SuiteControl {
  /** All services of the suite, in the order of their ports. */
  services(): readonly SuiteMember[];
  /** Those that others call come first; one that fails leaves the others up. Rejects never. */
  start(names: readonly string[]): Promise<SuiteChange>;
  /** In reverse. Running requests have five seconds, all services together. Rejects never. */
  stop(names: readonly string[]): Promise<SuiteChange>;
}

/** All that a service gets from the process that hosts it; it has no other way to the world. */
export interface Host<Config> {
  readonly config: Config;
  /** Where this service is reached, without a slash at the end. */
  readonly url: string;
  readonly peers: readonly Peer[];
  /** The address on which servers of this process listen. */
  readonly address: string;
  /** The service's further ports, by name; 0 is any free one. */
  readonly ports: Readonly<Record<string, number>>;
  /** The suite's data folder, 0700. */
  readonly dataFolder: string;
  /** Where the API keys of service identities lie, one file a service. */
  readonly serviceKeysFolder: string;
  readonly database: Database;
  readonly bus: Bus;
  /** The only way to an address that a caller supplied. */
  readonly egress: Egress;
  /** How often an identity may call this service, as the environment has it. */
  readonly rate: Rate;
  /** Counts how often identities call this service; its doors beside HTTP share it with HTTP. */
  readonly limiter: Pick<RateLimiter, 'take'>;
  /** Serves the service's contract; it listens once `start` has returned. */
  readonly http: HttpServer;
  readonly tracer: Tracer;
  readonly log: Log;
  /** Tells whose a credential is, for servers beside HTTP. */
  readonly authenticator: Pick<Authenticator, 'identify'>;
  /** What this process refuses although it was signed. */
  readonly revocations: RevocationList;
  /** Tells the process the suite's keys, for auth; absent where nothing hosts it, as in tests of one service. */
  readonly serveKeys?: (find: JWTVerifyGetKey) => void;
  /** A typed client of another service that speaks with this service's own identity. */
  client<C extends Contract>(contract: C): Client<C>;
  /** This service's own access token, for calls that a typed client has no words for. */
  readonly ownToken: Pick<ServiceToken, 'get' | 'forget'>;
  /**
   * Milliseconds that are left, while the process stops, for all that runs in it; absent where nothing hosts it, as
   * in tests of one service.
   */
  readonly graceMs?: () => number;
  /** The services of the process; absent where nothing hosts them, as in tests of one service. */
  readonly suite?: SuiteControl;
  /** The fields that every health answer begins with, measured now. */
  health(): { status: string; version: string; uptime: number };
  /** Tells the operator something once, after the start: a first password, a recommendation. */
  announce(line: string): void;
}

/** What runs a service. */
export interface Program<Config> {
  /** Registers its routes and starts its work; the answer ends both. */
  start(host: Host<Config>): Promise<AsyncDisposable>;
}

/** A service as it is known before it runs: what it promises and what it needs. */
export interface Service<C extends Contract = Contract, S extends Settings = Settings> {
  readonly contract: C;
  readonly envelope: Envelope;
  /** The default rate limit; the environment may change it. */
  readonly rate: Rate;
  readonly settings: S;
  /** Ports besides its own, by name, as distances from the suite's port base. */
  readonly ports?: Readonly<Record<string, number>>;
  /** Folder of its numbered `.sql` files; absent when it keeps no tables. */
  readonly migrations?: URL;
  /** What its own identity may do on other services: as little as it can work with. */
  readonly grants: readonly string[];
  /** Loads what runs it: that takes longer than to know of it. */
  load(): Promise<Program<ConfigOf<S>>>;
}
