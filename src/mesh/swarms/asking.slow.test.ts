import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../kit/database/database.ts';
import { Fault } from '../../kit/errors.ts';
import { toStatus } from './answers.ts';
import { signBallot, type Ballot } from './ballot.ts';
import { verifyCertificate } from './certificate.ts';
import type { Swarms } from './swarms.ts';
import { openSwarmDatabase, SwarmGround, type AskedTask } from './testing.ts';

let database: Database;
let ground: SwarmGround;

beforeAll(async () => {
  database = await openSwarmDatabase();
});

beforeEach(async () => {
  await database.query('truncate mesh.swarms cascade');
  ground = new SwarmGround();
});

afterAll(async () => {
  await database[Symbol.asyncDispose]();
});

const creator = { subject: 'usr_1' };
const task = { type: 'deploy', input: { build: 7 } };
const createOf = (swarms: Swarms, agents: readonly string[]) =>
  swarms.create({ name: 'release', agents, task, timeoutMs: 60_000 }, creator);

/** Answers as an agent that signs what it was asked. */
const signing = (vote: 'approve' | 'reject') => (asked: AskedTask) => {
  const ballot = asked.task.input['ballot'] as Ballot;
  const { privateKey } = ground.directory.keys.get(asked.agentId)!;
  const signature = signBallot({ ...ballot, vote }, privateKey);
  return Promise.resolve({ vote, confidence: 0.9, signature });
};

const askedOf = (agentId: string) => ground.runner.asked.filter((one) => one.agentId === agentId);
const statusOf = async (swarms: Swarms, swarmId: string) => toStatus(await swarms.read(swarmId));

test('members are asked by a task, and their signed answers decide', async () => {
  await using swarms = ground.open(database);
  const agents = ground.addAgents(4);
  for (const agentId of agents) ground.runner.answers.set(agentId, signing('approve'));
  const { swarmId } = await createOf(swarms, agents);
  await expect.poll(async () => (await swarms.read(swarmId)).status).toBe('consensus-reached');
  const { certificate, members, confidence } = await statusOf(swarms, swarmId);
  expect(verifyCertificate(certificate!, { members }).isValid).toBe(true);
  expect(confidence).toBe(0.9);
  expect(askedOf('a1')).toMatchObject([
    {
      task: { type: 'vote', input: { swarmId, task }, timeoutMs: 60_000, priority: 'high' },
      options: { askedBy: 'usr_1' },
    },
  ]);
});

test('an answer that is no vote, or whose signature does not hold, counts for nothing', async () => {
  await using swarms = ground.open(database);
  const agents = ground.addAgents(7);
  const answers = [
    'approve',
    { vote: 'yes' },
    { vote: 'approve', confidence: 7 },
    { vote: 'approve', signature: 'A'.repeat(86) },
    { vote: 'approve', signature: {} },
    null,
  ];
  for (const [at, answer] of answers.entries()) {
    ground.runner.answers.set(agents[at]!, () => Promise.resolve(answer));
  }
  ground.directory.add('a7', { voteKey: undefined });
  ground.runner.answers.set('a7', () => Promise.resolve({ vote: 'approve' }));
  const { swarmId } = await createOf(swarms, agents);
  await expect.poll(async () => (await swarms.read(swarmId)).votes.length).toBe(1);
  await swarms[Symbol.asyncDispose]();
  const { agentVotes } = await statusOf(swarms, swarmId);
  expect(agentVotes).toMatchObject([{ agentId: 'a7', vote: 'approve', confidence: 1 }]);
});

test('who has voted is asked no longer, and nobody is once the swarm has ended', async () => {
  await using swarms = ground.open(database);
  const { swarmId } = await createOf(swarms, ground.addAgents(4));
  const signalOf = (agentId: string) => askedOf(agentId)[0]?.options.signal;
  await swarms.vote(swarmId, { agentId: 'a1', vote: 'approve' }, { agentId: 'a1' });
  expect([signalOf('a1')?.aborted, signalOf('a2')?.aborted]).toEqual([true, false]);
  await swarms.cancel(swarmId, creator);
  for (const agentId of ['a2', 'a3', 'a4']) expect(signalOf(agentId)?.aborted).toBe(true);
});

test('a replica stops asking for a swarm that another has ended', async () => {
  await using asking = ground.open(database);
  await using other = ground.open(database);
  const { swarmId } = await createOf(asking, ground.addAgents(2));
  await other.cancel(swarmId, creator);
  expect(askedOf('a1')[0]?.options.signal?.aborted).toBe(false);
  await asking.start();
  await expect.poll(() => askedOf('a1')[0]?.options.signal?.aborted).toBe(true);
});

test('after a restart those who have not voted are asked again, with the same key', async () => {
  const dead = ground.open(database);
  const { swarmId } = await createOf(dead, ground.addAgents(3));
  await dead.vote(swarmId, { agentId: 'a1', vote: 'approve' }, { agentId: 'a1' });
  await using swarms = ground.open(database);
  await swarms.start();
  await expect.poll(() => askedOf('a3').length).toBe(2);
  expect(askedOf('a1')).toHaveLength(1);
  const [one, other] = askedOf('a2').map(({ options }) => options.fingerprint);
  expect([one, other]).toEqual([one, one]);
  expect(one).toBeDefined();
  const [first, second] = askedOf('a2').map(({ options }) => options.idempotencyKey);
  expect(second).toBe(first);
  expect(first).not.toBe(askedOf('a3')[0]?.options.idempotencyKey);
});

test('a member that was busy is asked again, one that refused is not', async () => {
  await using swarms = ground.open(database);
  const agents = ground.addAgents(2);
  ground.directory.add('a1', { voteKey: undefined });
  ground.runner.answers.set('a1', () => {
    const isFirst = askedOf('a1').length === 1;
    return isFirst
      ? Promise.reject(new Fault('exhausted', 'busy'))
      : Promise.resolve({ vote: 'abstain' });
  });
  ground.runner.answers.set('a2', () => Promise.reject(new Fault('invalid', 'no such task')));
  const { swarmId } = await createOf(swarms, agents);
  await expect.poll(async () => (await swarms.read(swarmId)).votes.length).toBe(1);
  expect(askedOf('a2')).toHaveLength(1);
});

test('an id that somebody else has now is not asked', async () => {
  const dead = ground.open(database);
  const { swarmId } = await createOf(dead, ground.addAgents(2));
  ground.directory.add('a1', { ownerId: 'usr_thief' });
  ground.runner.asked.length = 0;
  await using swarms = ground.open(database);
  await swarms.start();
  await expect.poll(() => askedOf('a2').length).toBe(1);
  expect(askedOf('a1')).toEqual([]);
  expect((await swarms.read(swarmId)).status).toBe('active');
});

test('what the id’s next owner answers is not the member’s vote', async () => {
  await using swarms = ground.open(database);
  const agents = ground.addAgents(2);
  ground.directory.add('a1', { voteKey: undefined });
  ground.runner.answers.set('a1', () => {
    ground.directory.add('a1', { ownerId: 'usr_thief', voteKey: undefined });
    return Promise.resolve({ vote: 'approve' });
  });
  ground.runner.answers.set('a2', signing('reject'));
  const { swarmId } = await createOf(swarms, agents);
  await expect
    .poll(async () => (await swarms.read(swarmId)).votes.map(({ agentId }) => agentId))
    .toEqual(['a2']);
});

test('a member with a vote key is not counted by an answer without a signature', async () => {
  await using swarms = ground.open(database);
  const agents = ground.addAgents(2);
  ground.runner.answers.set('a1', () => Promise.resolve({ vote: 'approve' }));
  ground.runner.answers.set('a2', signing('reject'));
  const { swarmId } = await createOf(swarms, agents);
  await expect
    .poll(async () => (await swarms.read(swarmId)).votes.map(({ agentId }) => agentId))
    .toEqual(['a2']);
});

test('when a swarm grows, its members are asked to sign for the larger one', async () => {
  await using swarms = ground.open(database);
  const { swarmId } = await createOf(swarms, ground.addAgents(3));
  ground.directory.add('a4');
  for (const agentId of ['a1', 'a2', 'a3', 'a4']) {
    ground.runner.answers.set(agentId, signing('reject'));
  }
  await swarms.join(swarmId, 'a4', creator);
  await expect.poll(async () => (await swarms.read(swarmId)).status).toBe('rejected');
  expect(askedOf('a1')[0]?.options.signal?.aborted).toBe(true);
  expect((await statusOf(swarms, swarmId)).certified).toBe(true);
});
