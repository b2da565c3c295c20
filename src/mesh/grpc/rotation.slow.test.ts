import { status } from '@grpc/grpc-js';
import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RenewedIdentity } from '../certificates/renewed-identity.ts';
import { issueFor } from '../certificates/testing.ts';
import { loadDefinition, type MeshDefinition } from './definition.ts';
import { fixedCredentials, rotatingCredentials, startMeshGrpc, TestClient } from './testing.ts';

type Mesh = Awaited<ReturnType<typeof startMeshGrpc>>;

let mesh: Mesh;
let definition: MeshDefinition;
let identity: RenewedIdentity;
const renewalFailures: unknown[] = [];

beforeAll(async () => {
  definition = await loadDefinition();
  mesh = await startMeshGrpc({
    // Connections end all the time, so that new ones begin in every phase.
    connectionMsMax: 300,
    authority: { leafLifeMs: 4_000, skewMs: 100 },
  });
  identity = await RenewedIdentity.open({
    issue: () => issueFor(mesh.authority, 'a1', 'usr_1'),
    onFailure: (error) => renewalFailures.push(error),
  });
});

afterAll(async () => {
  identity[Symbol.dispose]();
  await mesh[Symbol.asyncDispose]();
});

/** Calls until it is told to stop; answers what failed and how many did not. */
function traffic(open: () => TestClient, callsPerClient: number) {
  const failures: string[] = [];
  const stop = new AbortController();
  let count = 0;
  const running = (async () => {
    while (!stop.signal.aborted) {
      using client = open();
      for (let calls = 0; calls < callsPerClient && !stop.signal.aborted; calls += 1) {
        const request = { agentId: 'a1', capabilities: ['chat'] };
        const answer = await client.call('AgentCommunication', 'RegisterAgent', { request });
        if (answer.code === status.OK) count += 1;
        else failures.push(`${answer.code} ${answer.details}`);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    }
  })();
  return async () => {
    stop.abort();
    await running;
    return { failures, count };
  };
}

const rootCount = () => mesh.authority.bundle.split('BEGIN CERTIFICATE').length - 1;
const serialOf = (certificate: string) => new X509Certificate(certificate).serialNumber;

test('leaves and the root are rolled under live traffic, and no call fails', async () => {
  const open = () => new TestClient(definition, mesh.target, rotatingCredentials(identity));
  const before = await issueFor(mesh.authority, 'a1', 'usr_1');
  const oldRoot = mesh.authority.bundle;
  const serials = new Set([serialOf(identity.current.certificate)]);
  const ownSerials = new Set([serialOf(mesh.identity.current.certificate)]);
  identity.onRenewal(({ certificate }) => serials.add(serialOf(certificate)));
  mesh.identity.onRenewal(({ certificate }) => ownSerials.add(serialOf(certificate)));
  const stops = [
    traffic(open, Number.POSITIVE_INFINITY),
    traffic(open, Number.POSITIVE_INFINITY),
    traffic(open, 5),
  ];

  await expect.poll(() => serials.size > 2 && ownSerials.size > 2).toBe(true);
  await mesh.authority.roll();
  expect(rootCount()).toBe(2);
  expect(mesh.authority.bundle.startsWith(oldRoot)).toBe(true);
  const signsNew = () => !mesh.authority.bundle.startsWith(oldRoot);
  await expect.poll(signsNew).toBe(true);
  await expect.poll(rootCount).toBe(1);
  await mesh.identity.renew();
  await new Promise((resolve) => setTimeout(resolve, 500));

  const results = await Promise.all(stops.map((stop) => stop()));
  expect(results.flatMap(({ failures }) => failures)).toEqual([]);
  for (const { count } of results) expect(count).toBeGreaterThan(100);
  expect(renewalFailures).toEqual([]);
  expect(mesh.authority.bundle).not.toContain(oldRoot.trim());

  const refused = new TestClient(definition, mesh.target, fixedCredentials(before));
  const request = { agentId: 'a1', capabilities: [] };
  const answer = await refused.call('AgentCommunication', 'RegisterAgent', { request });
  refused[Symbol.dispose]();
  expect(answer.code).toBe(status.UNAVAILABLE);
});

test('after an urgent roll a leaf of the old root is good only as long as it lives', async () => {
  const old = await issueFor(mesh.authority, 'a1', 'usr_1');
  await mesh.authority.roll({ isUrgent: true });
  await mesh.identity.renew();
  const fresh = await issueFor(mesh.authority, 'a1', 'usr_1');
  for (const issued of [{ ...old, ca: fresh.ca }, fresh]) {
    using client = new TestClient(definition, mesh.target, fixedCredentials(issued));
    const request = { agentId: 'a1', capabilities: [] };
    const answer = await client.call('AgentCommunication', 'RegisterAgent', { request });
    expect(answer.code).toBe(status.OK);
  }
});
