import { createClient, type Client } from '../kit/client.ts';
import type { Environment } from '../kit/config.ts';
import type { Contract } from '../kit/contract.ts';
import type { Database } from '../kit/database/database.ts';
import { openTestTables } from '../kit/database/testing.ts';
import { callJson, type JsonAnswer } from '../kit/http/testing.ts';
import { Lifetime } from '../kit/lifecycle.ts';
import { listenAnywhere, silentLog, startService } from '../kit/testing.ts';
import { Tracer } from '../kit/trace/trace.ts';
import { workflow } from './service.ts';

export interface WorkflowOptions {
  readonly environment?: Environment;
  /** One of its own when absent. */
  readonly database?: Database;
  /** Where its key file lies: that of an earlier start on the same database. */
  readonly dataFolder?: string;
  /** Where other services answer, by name; those that are not there refuse connections. */
  readonly peers?: Readonly<Record<string, string>>;
  /** What the service shows to others as its own. */
  readonly token?: () => Promise<string>;
}

/** Nobody listens there. */
const nowhere = 'http://127.0.0.1:9';

/** All that somebody may hold of workflows. */
export const everything = ['workflow:create', 'workflow:execute', 'workflow:read'];

/** The whole service on a port of its own, reached as clients would. */
export async function startWorkflow(options: WorkflowOptions = {}) {
  const { environment = {}, peers = {}, token, dataFolder } = options;
  const lifetime = new Lifetime(silentLog);
  const database =
    options.database ??
    lifetime.own('the database', await openTestTables('workflow', workflow.migrations));
  const client = <C extends Contract>(contract: C): Client<C> =>
    createClient(contract, {
      baseUrl: peers[contract.name] ?? nowhere,
      tracer: new Tracer(() => {}),
      ...(token ? { token } : {}),
    });
  const running = await startService(workflow, {
    database,
    environment,
    client,
    ...(dataFolder === undefined ? {} : { dataFolder }),
  });
  const url = await listenAnywhere(running.host.http);
  lifetime.own('the workflows', running);
  const tokenOf = (subject: string, permissions: readonly string[] = everything) =>
    running.issuer.sign({ sub: subject, permissions: [...permissions] });
  /** A caller with a subject's token. */
  const callAs = async (subject: string, permissions?: readonly string[]) => {
    const bearer = await tokenOf(subject, permissions);
    return caller(url, bearer);
  };
  return {
    ...running,
    url,
    database,
    tokenOf,
    callAs,
    [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose](),
  };
}

export interface Sent {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a JSON body, unless there is none. */
export type Caller = (method: string, path: string, sent?: Sent) => Promise<JsonAnswer>;

/** Calls the service, with a token or as nobody. */
export function caller(url: string, bearer?: string): Caller {
  return (method, path, sent = {}) => callJson(url + path, { method, bearer, ...sent });
}
