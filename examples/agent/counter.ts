/*
 * An agent that speaks gRPC alone: it registers, serves tasks and leaves by what `proto/mesh.proto`
 * says, as any client of gRPC can. Get its certificate, good for an hour, then start it:
 *
 *   npm run ennead -- certs issue --agent-id counter --out ./certs
 *   npx tsx examples/agent/counter.ts ./certs
 *
 * and, from anywhere else:
 *
 *   curl -X POST http://127.0.0.1:7401/api/v1/tasks/execute -H "Authorization: Bearer $MESH_TOKEN" \
 *     -H 'Content-Type: application/json' \
 *     -d '{"targetAgent":"counter","task":{"type":"count","input":{"text":"three short words"}}}'
 */
import {
  credentials,
  loadPackageDefinition,
  Server,
  ServerCredentials,
  status,
  type ServerUnaryCall,
  type sendUnaryData,
} from '@grpc/grpc-js';
import { load } from '@grpc/proto-loader';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv, env } from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

interface TaskRequest {
  readonly task?: {
    readonly input?: { readonly fields?: { readonly text?: { readonly stringValue?: string } } };
  };
}

const [, , folder = './certs'] = argv;
const read = (name: string) => readFileSync(join(folder, name));
const [ca, key, certificate] = [read('ca.pem'), read('key.pem'), read('cert.pem')];
const agentId = 'counter';

const proto = fileURLToPath(new URL('../../proto/mesh.proto', import.meta.url));
// What the loader makes of a file is known when it is read.
// oxlint-disable-next-line typescript/no-explicit-any
const { AgentCommunication } = (loadPackageDefinition(await load(proto)) as any).ennead.mesh.v1;

// Whoever has a certificate of the mesh can connect: tasks are the mesh's to give.
function executeTask(
  call: ServerUnaryCall<TaskRequest, object>,
  answer: sendUnaryData<object>,
): void {
  const caller = call.getAuthContext().sslPeerCertificate?.subjectaltname?.split(', ') ?? [];
  if (!caller.includes('URI:spiffe://ennead/mesh')) {
    return answer({ code: status.PERMISSION_DENIED, details: 'only the mesh gives tasks' });
  }
  const text = call.request.task?.input?.fields?.text?.stringValue ?? '';
  const words = { numberValue: text.split(/\s+/).filter(Boolean).length };
  answer(null, { status: 'completed', result: { structValue: { fields: { words } } } });
}

const server = new Server();
server.addService(AgentCommunication.service, { ExecuteTask: executeTask });
const pair = { private_key: key, cert_chain: certificate };
const port = await promisify(server.bindAsync.bind(server))(
  '127.0.0.1:0',
  ServerCredentials.createSsl(ca, [pair], true),
);

const mesh = new AgentCommunication(
  env['MESH_GRPC'] ?? 'localhost:7411',
  credentials.createSsl(ca, key, certificate),
);
const call = (method: string, request: object) => promisify(mesh[method].bind(mesh))(request);

// There is no heartbeat over gRPC: who registers again in time stays active.
async function register(): Promise<number> {
  const endpoints = { grpc: `127.0.0.1:${port}` };
  const answer = await call('RegisterAgent', { agentId, capabilities: ['count'], endpoints });
  return answer.heartbeatInterval;
}

async function leave(): Promise<void> {
  clearInterval(beats);
  await call('Deregister', { agentId });
  mesh.close();
  server.forceShutdown();
}

const beats = setInterval(() => void register().catch(() => {}), (await register()) * 1_000);
process.once('SIGINT', () => void leave());
