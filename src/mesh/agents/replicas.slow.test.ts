import { afterAll, beforeAll, expect, test } from 'vitest';
import { LocalBus } from '../../kit/bus/local-bus.ts';
import { asShared } from '../../kit/database/testing.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { silentLog } from '../../kit/testing.ts';
import { openGround, startAgents } from './testing.ts';

/** Longer than the few seconds that a change may take. */
const soon = { timeout: 8_000 };

const lifetime = new Lifetime(silentLog);
let one: Awaited<ReturnType<typeof startAgents>>;
let other: Awaited<ReturnType<typeof startAgents>>;

beforeAll(async () => {
  const ground = lifetime.own('the ground', await openGround());
  const database = asShared(ground.database);
  const start = async () => {
    const bus = lifetime.own('a bus of its own', new LocalBus({ log: silentLog }));
    return lifetime.own('a replica', await startAgents({ ...ground, database, bus }));
  };
  one = await start();
  other = await start();
});

afterAll(() => lifetime[Symbol.asyncDispose]());

test('replicas that no bus connects know the agents of the others, as they change and go', async () => {
  const agent = { agentId: 'shared', endpoints: { rest: 'http://localhost:8080' } };
  const register = (capability: string) =>
    one.call('POST', '/api/v1/agents/register', { ...agent, capabilities: [capability] });
  const found = async (capability: string) => {
    const wanted = { capabilities: [capability] };
    return (await other.call('POST', '/api/v1/agents/discover', wanted)).body.totalFound;
  };
  await register('read');
  await expect.poll(() => found('read'), soon).toBe(1);
  await register('write');
  await expect.poll(() => found('write'), soon).toBe(1);
  expect(await found('read')).toBe(0);
  await one.call('DELETE', '/api/v1/agents/shared');
  await expect.poll(() => found('write'), soon).toBe(0);
});

test('replicas that no bus connects know a key that another has taken, by the next beat too', async () => {
  const keyOf = (digit: string) => `0x${digit.repeat(64)}`;
  const proof = (commitment: string) => ({ commitment, challenge: '0x01', response: '0x01' });
  const known = async () => (await other.call('GET', '/api/v1/agents/keyed')).body.publicKey;
  const agent = { agentId: 'keyed', capabilities: ['sign'] };
  const setKey = (publicKey: string, commitment: string) =>
    one.call('PUT', '/api/v1/agents/keyed/key', { publicKey, keyProof: proof(commitment) });
  await one.call('POST', '/api/v1/agents/register', agent);
  expect(await known()).toBeUndefined();
  await setKey(keyOf('a'), '0x01');
  await expect.poll(known, soon).toBe(keyOf('a'));
  await setKey(keyOf('b'), '0x02');
  const beat = { status: 'active', load: 0 };
  expect((await other.call('POST', '/api/v1/agents/keyed/heartbeat', beat)).status).toBe(200);
  expect(await known()).toBe(keyOf('b'));
});
