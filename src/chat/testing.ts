import type { Bus } from '../kit/bus/bus.ts';
import { openBus } from '../kit/bus/open-bus.ts';
import { createClient, type Client } from '../kit/client.ts';
import type { Environment } from '../kit/config.ts';
import type { Contract } from '../kit/contract.ts';
import type { Database } from '../kit/database/database.ts';
import { openTestTables } from '../kit/database/testing.ts';
import { parseJson, type JsonAnswer } from '../kit/http/testing.ts';
import { Lifetime } from '../kit/lifecycle.ts';
import {
  createTestIssuer,
  listenAnywhere,
  silentLog,
  startService,
  type TestIssuer,
} from '../kit/testing.ts';
import { Tracer } from '../kit/trace/trace.ts';
import { chat } from './service.ts';

export {
  calls,
  says,
  saysThen,
  startScriptedGateway,
  type ScriptedGateway,
} from './gateway-testing.ts';

/** What replicas of one chat share. */
export interface ChatGround extends AsyncDisposable {
  readonly database: Database;
  readonly bus: Bus;
  readonly issuer: TestIssuer;
}

/** Empty tables, a bus and an issuer; whoever opens it closes it after the replicas. */
export async function openChatGround(): Promise<ChatGround> {
  const lifetime = new Lifetime(silentLog);
  const database = lifetime.own('the database', await openTestTables('chat', chat.migrations));
  const bus = lifetime.own('the bus', await openBus({ log: silentLog }));
  const issuer = await createTestIssuer();
  return { database, bus, issuer, [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose]() };
}

export interface ChatOptions {
  readonly environment?: Environment;
  /** What it shares with others; its own when absent. */
  readonly ground?: ChatGround;
  /** Where other services answer, by name; those that are not there refuse connections. */
  readonly peers?: Readonly<Record<string, string>>;
}

/** Nobody listens there. */
const nowhere = 'http://127.0.0.1:9';
const otherServices = [
  'mesh',
  'auth',
  'gateway',
  'registry',
  'tracer',
  'workflow',
  'models',
  'studio',
];

/** A running chat, reached through its own surface. */
export type RunningChat = Awaited<ReturnType<typeof startChat>>;

/** The whole service on a port of its own, reached as clients would. */
export async function startChat({ environment = {}, peers = {}, ground }: ChatOptions = {}) {
  const lifetime = new Lifetime(silentLog);
  const shared = ground ?? lifetime.own('the ground', await openChatGround());
  const { issuer } = shared;
  const client = <C extends Contract>(contract: C): Client<C> =>
    createClient(contract, {
      baseUrl: peers[contract.name] ?? nowhere,
      token: () => issuer.sign({ sub: 'svc_chat', permissions: [...chat.grants] }),
      tracer: new Tracer(() => {}),
    });
  const running = await startService(chat, {
    ...shared,
    environment,
    client,
    peers: otherServices.map((name) => ({ name, url: peers[name] ?? nowhere, grants: [] })),
  });
  lifetime.own('chat', running);
  const url = await listenAnywhere(running.host.http);
  const tokenOf = (subject: string, permissions: readonly string[] = []) =>
    issuer.sign({ sub: subject, permissions: [...permissions] });
  /** A caller with a subject's token. */
  const callAs = async (subject: string, permissions?: readonly string[]) =>
    caller(url, await tokenOf(subject, permissions));
  return {
    ...running,
    ground: shared,
    url,
    tokenOf,
    callAs,
    [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose](),
  };
}

export interface Answer extends JsonAnswer {
  /** As it came. */
  readonly text: string;
}

export interface Sent {
  /** As JSON; a text as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Caller = (method: string, path: string, sent?: Sent) => Promise<Answer>;

/** Calls the service, with a token or as nobody. */
export function caller(url: string, bearer?: string): Caller {
  return async (method, path, { body, headers = {} } = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: text }),
    });
    const answer = await response.text();
    const { status } = response;
    return { status, headers: response.headers, text: answer, body: parseJson(answer) };
  };
}
