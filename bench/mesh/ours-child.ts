// The whole mesh on a PGlite folder, its limits far away, its metrics and spans on (the spans are made
// and dropped). A second gRPC server, of the same parts, has no limit of calls, which is fixed otherwise.
import { join } from 'node:path';
import { RateLimiter } from '../../src/kit/rate-limit.ts';
import { openDatabase } from '../../src/kit/database/database.ts';
import type { Host } from '../../src/kit/service.ts';
import { listenAnywhere, silentLog, startService } from '../../src/kit/testing.ts';
import { issueFor } from '../../src/mesh/certificates/testing.ts';
import type { MeshConfig } from '../../src/mesh/config.ts';
import { meshContract } from '../../src/mesh/contract.ts';
import { MeshGrpcServer } from '../../src/mesh/grpc/mesh-server.ts';
import { meshOperations } from '../../src/mesh/grpc/operations.ts';
import { openOwnIdentity } from '../../src/mesh/grpc/testing.ts';
import { openParts, type MeshParts } from '../../src/mesh/parts.ts';
import { activitySocketHandlers } from '../../src/mesh/routes/activity.ts';
import { meshHandlers } from '../../src/mesh/routes/routes.ts';
import { mesh } from '../../src/mesh/service.ts';
import { serveOrders } from '../harness/measured-child.ts';
import { agentCount, registrationOf } from './agents.ts';
import type { OursHello } from './contestant.ts';
import { echoAgent, ownerId, taskResult } from './exchange.ts';

const subjects = 64;
const boundless = { perMinute: 1e12, burst: 1e12 };
const forgetSpansMs = 100;

async function startMesh(folder: string) {
  const started: MeshParts[] = [];
  const service = {
    ...mesh,
    load: async () => ({
      start: async (host: Host<MeshConfig>) => {
        const parts = await openParts(host);
        host.http.serve(meshContract, meshHandlers(parts));
        host.http.serveSockets(meshContract, activitySocketHandlers(parts.activity));
        started.push(parts);
        return parts;
      },
    }),
  };
  // Its other files go with the folder too: this process is killed and tidies nothing.
  process.env['TMPDIR'] = folder;
  const database = await openDatabase({ folder: join(folder, 'database') });
  const running = await startService(service, {
    database,
    environment: { MESH_ASSISTANT: 'off', MESH_AGENTS_MAX: '1000000' },
  });
  setInterval(() => running.spans.splice(0), forgetSpansMs);
  const [parts] = started;
  if (!parts) throw new Error('the mesh has not started');
  return { running, parts };
}

async function register({ registry, tasks }: MeshParts, count: number): Promise<void> {
  const echo = { agentId: echoAgent, capabilities: ['echo'] };
  await registry.register(ownerId, echo);
  tasks.local.host(echoAgent, async () => taskResult);
  const numbers = Array.from({ length: count }, (_, at) => at);
  await Promise.all(
    numbers.map((at) => registry.register(ownerId, registrationOf(`agent-${at}`, at))),
  );
}

async function openGrpc(parts: MeshParts) {
  const { host, registry, tasks, swarms, attestation, authority, metrics } = parts;
  return MeshGrpcServer.open({
    address: '127.0.0.1',
    port: 0,
    identity: await openOwnIdentity(authority),
    operations: meshOperations({ registry, tasks, swarms, attestation, metrics }),
    limiter: new RateLimiter(boundless),
    ownerOf: (agentId) => registry.ownerOf(agentId),
    onCall: (operation, code) => metrics.grpcCall(operation, code),
    revocations: host.revocations,
    log: silentLog,
  });
}

async function start(folder: string, isFull: boolean): Promise<OursHello> {
  const { running, parts } = await startMesh(folder);
  await register(parts, isFull ? agentCount : 0);
  const grpc = await openGrpc(parts);
  const signed = Array.from({ length: subjects }, (_, at) =>
    running.issuer.sign({
      sub: at === 0 ? ownerId : `usr_${at}`,
      permissions: ['mesh:communicate'],
    }),
  );
  return {
    url: await listenAnywhere(running.host.http),
    tokens: await Promise.all(signed),
    grpcPort: grpc.port,
    server: await parts.authority.issueOwn(),
    client: await issueFor(parts.authority, echoAgent, ownerId),
  };
}

const [folder = '', isFull] = process.argv.slice(2);
serveOrders(await start(folder, isFull === 'full'), () => {});
