import { callerWith } from '../kit/http/testing.ts';
import { Lifetime } from '../kit/lifecycle.ts';
import type { Environment } from '../kit/config.ts';
import { openTestTables } from '../kit/database/testing.ts';
import { findFreePort, listenAnywhere, silentLog, startService } from '../kit/testing.ts';
import type { Rate } from '../kit/rate-limit.ts';
import { meshGrpc } from './events.ts';
import { mesh } from './service.ts';

export interface MeshOptions {
  readonly environment?: Environment;
  readonly rate?: Rate;
}

/** The whole mesh on ports of its own, reached as clients would; without its own agent. */
export async function startMesh({ environment = {}, rate }: MeshOptions = {}) {
  const lifetime = new Lifetime(silentLog);
  const tables = await openTestTables('mesh', mesh.migrations);
  const database = lifetime.own('the database', tables);
  const grpcPort = await findFreePort();
  const running = await startService(mesh, {
    database,
    ports: { [meshGrpc]: grpcPort },
    environment: { MESH_ASSISTANT: 'off', ...environment },
    rate,
  });
  const url = await listenAnywhere(running.host.http);
  lifetime.own('the mesh', running);
  const tokenOf = (subject: string) =>
    running.issuer.sign({ sub: subject, permissions: ['mesh:communicate'] });
  /** A caller with a subject's token. */
  const callAs = async (subject: string) => callerWith(url, await tokenOf(subject));
  return {
    ...running,
    url,
    grpcPort,
    tokenOf,
    callAs,
    [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose](),
  };
}
