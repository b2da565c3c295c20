import type { Bus } from '../kit/bus/bus.ts';
import { createClient } from '../kit/client.ts';
import type { Environment } from '../kit/config.ts';
import type { Database } from '../kit/database/database.ts';
import { openTestTables } from '../kit/database/testing.ts';
import { Lifetime } from '../kit/lifecycle.ts';
import type { Host, Peer } from '../kit/service.ts';
import {
  createTestIssuer,
  listenAnywhere,
  silentLog,
  startService,
  type TestIssuer,
} from '../kit/testing.ts';
import { Tracer } from '../kit/trace/trace.ts';
import { studio } from './service.ts';

export interface StudioOptions {
  readonly environment?: Environment;
  /** What replicas share; each of its own when absent. */
  readonly database?: Database;
  readonly bus?: Bus;
  readonly issuer?: TestIssuer;
  /** That of an earlier start on the same database. */
  readonly dataFolder?: string;
  /** Where other services answer, by name. */
  readonly peers?: Readonly<Record<string, string>>;
  /** Stands in for the clients of other services; calls the peers as the studio when absent. */
  readonly client?: Host<never>['client'];
}

/** What somebody who works in the studio holds at the authentication service. */
export const worker = ['agent:read', 'agent:execute'];

/** The whole studio on a port of its own, reached as clients would. */
export async function startStudio({ database, peers = {}, ...options }: StudioOptions = {}) {
  const lifetime = new Lifetime(silentLog);
  const tables =
    database ?? lifetime.own('the database', await openTestTables('studio', studio.migrations));
  const named: Peer[] = Object.entries(peers).map(([name, url]) => ({ name, url, grants: [] }));
  const issuer = options.issuer ?? (await createTestIssuer());
  const client = options.client ?? clientsOf(peers, issuer);
  const shared = { database: tables, peers: named, issuer, client };
  const running = await startService(studio, { ...options, ...shared });
  lifetime.own('the studio', running);
  const url = await listenAnywhere(running.host.http);
  const tokenOf = (subject: string, permissions: readonly string[] = worker) =>
    running.issuer.sign({ sub: subject, permissions: [...permissions] });
  /** A caller with a subject's token. */
  const callAs = async (subject: string, permissions?: readonly string[]) =>
    caller(url, await tokenOf(subject, permissions));
  return {
    ...running,
    url,
    database: tables,
    tokenOf,
    callAs,
    [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose](),
  };
}

/** Sends JSON, unless there is none, with a token or as nobody. */
export function caller(url: string, bearer?: string) {
  return async (method: string, path: string, body?: unknown) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    // Tests read whatever they expect; a wrong expectation fails them.
    // oxlint-disable-next-line typescript/no-explicit-any
    const answer: any = await response.json();
    return { status: response.status, headers: response.headers, body: answer };
  };
}

/** Clients of the peers with the studio's own identity; a peer that is not there answers nothing. */
function clientsOf(
  peers: Readonly<Record<string, string>>,
  issuer: TestIssuer,
): Host<never>['client'] {
  const token = () =>
    issuer.sign({ sub: 'studio', user: undefined, permissions: [...studio.grants, 'suite:peer'] });
  return (contract) =>
    createClient(contract, {
      baseUrl: peers[contract.name] ?? 'http://127.0.0.1:9',
      token,
      tracer: new Tracer(() => {}),
    });
}
