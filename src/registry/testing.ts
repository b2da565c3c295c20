import type { Environment } from '../kit/config.ts';
import type { Database } from '../kit/database/database.ts';
import { openTestTables } from '../kit/database/testing.ts';
import { callerWith } from '../kit/http/testing.ts';
import { Lifetime } from '../kit/lifecycle.ts';
import { listenAnywhere, silentLog, startService } from '../kit/testing.ts';
import { registry } from './service.ts';

/** What a caller in tests may do unless told otherwise: everything but run commands. */
export const callerPermissions = ['registry:write', 'registry:call'];

export interface RegistryOptions {
  readonly environment?: Environment;
  /** Of another registry that goes on with its tables; the caller closes it. */
  readonly database?: Database;
}

/** The whole registry on a port of its own, reached as clients would. */
export async function startRegistry({ environment = {}, database }: RegistryOptions = {}) {
  const lifetime = new Lifetime(silentLog);
  const tables =
    database ?? lifetime.own('the database', await openTestTables('registry', registry.migrations));
  const running = await startService(registry, { database: tables, environment });
  const url = await listenAnywhere(running.host.http);
  lifetime.own('the registry', running);
  const tokenOf = (subject: string, permissions: readonly string[] = callerPermissions) =>
    running.issuer.sign({ sub: subject, permissions });
  /** A caller with a subject's token. */
  const callAs = async (subject: string, permissions?: readonly string[]) =>
    callerWith(url, await tokenOf(subject, permissions));
  return {
    ...running,
    url,
    database: tables,
    tokenOf,
    callAs,
    [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose](),
  };
}
