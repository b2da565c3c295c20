import { status } from '@grpc/grpc-js';
import type { JWTPayload } from 'jose';
import { expect, test } from 'vitest';
import { callerWith } from '../../kit/http/testing.ts';
import { startMesh } from '../testing.ts';
import { certifiedClient, type TestClient } from './testing.ts';

const query = { capabilities: ['sum'] };
const discover = (client: TestClient) =>
  client.call('AgentCommunication', 'DiscoverAgents', { request: query });

// Users count as one however often they log in, services by the API key that they use.
test.each<[string, JWTPayload, JWTPayload]>([
  ['a user', {}, { sub: 'usr_2' }],
  ['a service', { user: undefined, sid: 'key_1' }, { user: undefined, sid: 'key_2' }],
])('%s has one allowance over REST and gRPC, and calls count alike', async (_, own, others) => {
  const burst = 6;
  await using mesh = await startMesh({ rate: { perMinute: 1, burst } });
  const callAs = async (claims: JWTPayload) => {
    const permissions = ['mesh:communicate'];
    return callerWith(mesh.url, await mesh.issuer.sign({ sub: 'usr_1', permissions, ...claims }));
  };
  const call = await callAs(own);
  const port = mesh.grpcPort;
  using client = await certifiedClient(call, { agentId: 'a1', port });
  using other = await certifiedClient(await callAs(others), { agentId: 'a2', port });
  const overRest = () => call('POST', '/api/v1/agents/discover', query);
  // The certificate was the first call.
  for (let spent = 1; spent < burst - 1; spent += 2) {
    expect((await discover(client)).code).toBe(status.OK);
    expect((await overRest()).status).toBe(200);
  }
  expect((await discover(client)).code).toBe(status.OK);
  expect((await overRest()).status).toBe(429);
  expect((await discover(client)).code).toBe(status.RESOURCE_EXHAUSTED);
  expect((await discover(other)).code).toBe(status.OK);

  const { body } = await (await mesh.callAs('usr_3'))('GET', '/metrics');
  expect(body).toContain('agent_mesh_messages_total{kind="discovery"} 6');
  expect(body).toContain('agent_mesh_grpc_calls_total{operation="discover",code="ok"} 4');
  expect(body).toContain('agent_mesh_grpc_calls_total{operation="discover",code="exhausted"} 1');
});
