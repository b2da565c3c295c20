import { createPublicKey } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAgentKeys, joinMesh, type JoinOptions, type VoteDecision } from '../agent.ts';
import { publicKeyOf } from '../attestation/schnorr.ts';
import { isBallotSigned, proposalIdOf, type BallotScope } from '../swarms/ballot.ts';
import { startMesh } from './testing.ts';

let mesh: Awaited<ReturnType<typeof startMesh>>;

beforeAll(async () => {
  mesh = await startMesh();
});
afterAll(async () => {
  await mesh?.[Symbol.asyncDispose]();
});

const join = (agentId: string, given: Partial<JoinOptions> = {}) =>
  joinMesh({
    url: mesh.url,
    token: () => mesh.tokenOf('usr_owner'),
    agentId,
    capabilities: ['greet'],
    onTask: ({ input }) => ({ text: `Hello ${String(input['name'])}` }),
    ...given,
  });
const run = (agentId: string, over: Record<string, unknown> = {}) =>
  mesh.tasks.run(
    { agentId },
    { type: 'greet', input: { name: 'Ada' }, timeoutMs: 5_000, priority: 'normal', ...over },
  );

test('joining is refused in the mesh’s own words', async () => {
  await using _ = await join('taken');
  const refused = join('taken', { token: () => mesh.tokenOf('usr_other') });
  await expect(refused).rejects.toMatchObject({ code: 'conflict' });
  const anonymous = join('nobody', { token: 'e30.e30.e30' });
  await expect(anonymous).rejects.toMatchObject({ code: 'unauthenticated' });
  const away = join('late', { url: 'http://127.0.0.1:1', joinTimeoutMs: 0 });
  await expect(away).rejects.toMatchObject({ code: 'unavailable' });
});

test('an agent that cannot listen does tasks, and is gone when it leaves', async () => {
  const agent = await join('quiet');
  expect(await run('quiet')).toMatchObject({ result: { text: 'Hello Ada' }, executedBy: 'quiet' });
  await agent.leave();
  await expect(run('quiet')).rejects.toMatchObject({ reason: 'agent_not_found' });
});

test('an agent that listens does tasks, and nobody but the mesh knows where', async () => {
  await using _ = await join('loud', { listen: {} });
  const { rest = '' } = mesh.registry.directory.find('loud')?.endpoints ?? {};
  expect(await run('loud')).toMatchObject({ result: { text: 'Hello Ada' } });
  const origin = new URL(rest).origin;
  expect((await fetch(`${origin}/tasks`, { method: 'POST', body: '{}' })).status).toBe(404);
});

test('a task is done once though it comes twice', async () => {
  let count = 0;
  await using _ = await join('once', { listen: {}, onTask: () => (count += 1) });
  const { rest = '' } = mesh.registry.directory.find('once')?.endpoints ?? {};
  const body = JSON.stringify({
    taskId: 't1',
    type: 'x',
    input: {},
    timeout: 1_000,
    priority: 'low',
  });
  const ask = () => fetch(`${rest}/tasks`, { method: 'POST', body });
  const first = await ask();
  const second = await ask();
  expect([first.status, second.status]).toEqual([200, 409]);
  expect([await first.json(), await second.json()]).toEqual([{ result: 1 }, { result: 1 }]);
});

test.each(['inbox', 'http'])('what an agent throws is told as its failure: %s', async (way) => {
  const agentId = `broken-${way}`;
  const onTask = () => {
    throw new Error('out of ink');
  };
  await using _ = await join(agentId, { onTask, ...(way === 'http' && { listen: {} }) });
  await expect(run(agentId)).rejects.toMatchObject({
    code: 'upstream',
    detail: { agentId, agentError: 'out of ink' },
  });
});

test.each([
  ['inbox', 'a figure too large for JSON', { onTask: () => ({ a: 1n }) }, /serialize a BigInt/],
  ['http', 'a figure too large for JSON', { onTask: () => ({ a: 1n }) }, /serialize a BigInt/],
  ['inbox', 'a thrown text', { onTask: () => Promise.reject('no ink') }, /no ink/],
  ['http', 'a thrown text', { onTask: () => Promise.reject('no ink') }, /no ink/],
])('what cannot be an answer is told as a failure: %s, %s', async (way, what, given, message) => {
  const agentId = `odd-${way}-${what.length}`;
  await using _ = await join(agentId, { ...given, ...(way === 'http' && { listen: {} }) });
  await expect(run(agentId)).rejects.toMatchObject({
    code: 'upstream',
    detail: { agentError: expect.stringMatching(message) },
  });
});

test('an answer that the mesh cannot take fails the task, which does not wait for its end', async () => {
  await using _ = await join('binary', { onTask: () => 'a\0b' });
  await expect(run('binary')).rejects.toMatchObject({
    code: 'upstream',
    detail: { agentError: expect.stringContaining('the mesh refused the agent’s answer') },
  });
});

test('a task that is called off is called off at the agent', async () => {
  let ended: unknown;
  const onTask: JoinOptions['onTask'] = (_, { signal }) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        ended = signal.reason;
        reject(signal.reason as Error);
      });
    });
  await using _ = await join('slow', { listen: {}, onTask });
  await expect(run('slow', { timeoutMs: 300 })).rejects.toMatchObject({ code: 'deadline' });
  await expect.poll(() => ended).toBeInstanceOf(Error);
});

test('a task from the inbox is called off at the agent too', async () => {
  let ended: unknown;
  let begin: (taskId: string) => void;
  const begun = new Promise<string>((resolve) => (begin = resolve));
  const onTask: JoinOptions['onTask'] = ({ taskId }, { signal }) =>
    new Promise((_resolve, reject) => {
      begin(taskId);
      signal.addEventListener('abort', () => {
        ended = signal.reason;
        reject(signal.reason as Error);
      });
    });
  await using _ = await join('patient', { onTask });
  const outcome = run('patient', { timeoutMs: 60_000 });
  outcome.catch(() => {});
  await mesh.tasks.cancel(await begun);
  await expect(outcome).rejects.toMatchObject({ code: 'cancelled' });
  await expect.poll(() => ended).toMatchObject({ code: 'cancelled' });
});

test('an instance that leaves does not take away the one in its place', async () => {
  const older = await join('rolling', { onTask: () => 'older' });
  await using _ = await join('rolling', { onTask: () => 'newer' });
  await older.leave();
  expect(await run('rolling')).toMatchObject({ result: 'newer' });
});

test('a busy agent says so, and is found again when it is not', async () => {
  await using agent = await join('worker', { capabilities: ['work'] });
  const ask = () =>
    mesh.tasks.run(
      { capability: 'work' },
      { type: 'work', input: {}, timeoutMs: 5_000, priority: 'low' },
    );
  await agent.setStatus('busy');
  await expect(ask()).rejects.toMatchObject({ reason: 'no_agent_free' });
  await agent.setStatus('active');
  expect(await ask()).toMatchObject({ executedBy: 'worker' });
});

test('the agent’s keys are registered with proof that it holds them', async () => {
  const keys = createAgentKeys();
  await using _ = await join('keyed', keys);
  expect(mesh.registry.directory.find('keyed')).toMatchObject({
    publicKey: publicKeyOf(keys.attestationKey),
    voteKey: createPublicKey(keys.voteKey).export({ format: 'jwk' }).x,
  });
});

test('an agent signs one vote a swarm, and only about the task that it was shown', async () => {
  const keys = createAgentKeys();
  const votes = ['approve', 'reject'] as const;
  let asked = 0;
  const onVote = (): VoteDecision => ({ vote: votes[asked++ % 2] ?? 'abstain', confidence: 0.5 });
  await using _ = await join('voter', { ...keys, onVote });
  const task = { type: 'release', input: { version: 2 } };
  const proposalId = proposalIdOf({ name: 'ship it', task });
  const scope: BallotScope = { meshId: 'm', swarmId: 's', configHash: 'c', proposalId };
  const ballot = { ...scope, agentId: 'voter', name: 'ship it' };
  const ask = (input: Record<string, unknown>) => run('voter', { type: 'vote', input });
  const { result } = await ask({ swarmId: 's', task, ballot });
  expect(result).toMatchObject({ vote: 'approve', confidence: 0.5 });
  const { signature } = result as { signature: string };
  const { x = '' } = createPublicKey(keys.voteKey).export({ format: 'jwk' });
  const signed = { ...scope, agentId: 'voter', vote: 'approve' } as const;
  expect(isBallotSigned(signed, x, signature)).toBe(true);
  expect((await ask({ swarmId: 's', task, ballot })).result).toMatchObject({ vote: 'approve' });
  const other = { type: 'release', input: { version: 3 } };
  const swapped = ask({ swarmId: 's2', task: other, ballot: { ...ballot, swarmId: 's2' } });
  await expect(swapped).rejects.toMatchObject({ code: 'upstream' });
});
