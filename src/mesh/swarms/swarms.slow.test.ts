import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../kit/database/database.ts';
import { Fault } from '../../kit/errors.ts';
import { toStatus } from './answers.ts';
import { voteValues } from './ballot.ts';
import { verifyCertificate } from './certificate.ts';
import type { SwarmSql } from './swarm-store.ts';
import type { Swarms } from './swarms.ts';
import { openSwarmDatabase, SwarmGround } from './testing.ts';

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
const task = { type: 'deploy', input: { build: 7, note: 'ünïcode 😀' } };
const ownerOf = (agentId: string) => ({ subject: `owner of ${agentId}` });

function createOf(swarms: Swarms, agents: readonly string[], over: object = {}) {
  return swarms.create({ name: 'release', agents, task, timeoutMs: 60_000, ...over }, creator);
}

const cast = (
  swarms: Swarms,
  swarmId: string,
  [agentId, vote]: readonly [string, 'approve' | 'reject' | 'abstain'],
) => swarms.vote(swarmId, { agentId, vote }, ownerOf(agentId));

const refusal = (reason: string) => expect.objectContaining({ reason });

test('signed votes of a quorum give a decision that verifies without the mesh', async () => {
  await using swarms = ground.open(database);
  const swarm = await createOf(swarms, ground.addAgents(4));
  for (const agentId of ['a1', 'a2', 'a3']) {
    const signature = ground.sign(swarm, agentId, 'approve');
    const request = { agentId, vote: 'approve', confidence: 0.5, signature } as const;
    await swarms.vote(swarm.swarmId, request, ownerOf(agentId));
  }
  const status = toStatus(await swarms.read(swarm.swarmId));
  expect(status).toMatchObject({
    status: 'consensus-reached',
    consensusReached: true,
    finalDecision: 'approve',
    confidence: 0.5,
    certified: true,
    faultTolerance: { byzantine: 1, quorum: 3 },
    livenessFaults: 1,
    evidence: [],
  });
  const { certificate, members } = status;
  const proposal = { name: 'release', task };
  expect(verifyCertificate(certificate!, { members, proposal })).toEqual({
    isValid: true,
    signers: ['a1', 'a2', 'a3'],
  });
});

test('without enough signatures a decision is the mesh’s word, and its answer says so', async () => {
  await using swarms = ground.open(database);
  const swarm = await createOf(swarms, ground.addAgents(2));
  const signature = ground.sign(swarm, 'a1', 'reject');
  await swarms.vote(swarm.swarmId, { agentId: 'a1', vote: 'reject', signature }, ownerOf('a1'));
  await cast(swarms, swarm.swarmId, ['a2', 'reject']);
  const status = toStatus(await swarms.read(swarm.swarmId));
  expect(status).toMatchObject({ status: 'rejected', finalDecision: 'reject', certified: false });
  expect(status.certificate).toBeUndefined();
});

test('only its owner, or the agent itself while it is its owner’s, votes for an agent', async () => {
  await using swarms = ground.open(database);
  const { swarmId } = await createOf(swarms, ground.addAgents(3));
  const request = { agentId: 'a1', vote: 'approve' } as const;
  // A certificate speaks for its agent alone, whoever owns both.
  const sibling = { agentId: 'a2', ...ownerOf('a1') };
  for (const voter of [creator, ownerOf('a2'), { agentId: 'a2' }, sibling, {}]) {
    await expect(swarms.vote(swarmId, request, voter)).rejects.toEqual(refusal('not_agent_owner'));
  }
  const stranger = { agentId: 'a9', vote: 'approve' } as const;
  await expect(swarms.vote(swarmId, stranger, creator)).rejects.toEqual(refusal('not_a_member'));
  ground.directory.add('a1', { ownerId: 'usr_thief' });
  const stale = { agentId: 'a1', subject: 'usr_thief' };
  for (const voter of [{ subject: 'usr_thief' }, { agentId: 'a1' }, stale]) {
    await expect(swarms.vote(swarmId, request, voter)).rejects.toEqual(refusal('not_agent_owner'));
  }
  expect((await swarms.read(swarmId)).votes).toEqual([]);
  await swarms.vote(swarmId, { agentId: 'a2', vote: 'approve' }, { agentId: 'a2' });
  await swarms.vote(swarmId, request, ownerOf('a1'));
});

test('a signature of another vote, swarm, key or agent is refused', async () => {
  await using swarms = ground.open(database);
  const swarm = await createOf(swarms, ground.addAgents(3));
  const other = await createOf(swarms, ['a1', 'a2', 'a3']);
  const forgeries = [
    ground.sign(swarm, 'a1', 'reject'),
    ground.sign(other, 'a1', 'approve'),
    ground.sign(swarm, 'a2', 'approve'),
    'A'.repeat(86),
  ];
  for (const signature of forgeries) {
    const request = { agentId: 'a1', vote: 'approve', signature } as const;
    const vote = swarms.vote(swarm.swarmId, request, ownerOf('a1'));
    await expect(vote).rejects.toEqual(refusal('invalid_signature'));
  }
  expect((await swarms.read(swarm.swarmId)).votes).toEqual([]);
});

test('a second, different vote is refused, kept as evidence and told once', async () => {
  await using swarms = ground.open(database);
  const swarm = await createOf(swarms, ground.addAgents(4));
  const { swarmId } = swarm;
  for (const vote of ['approve', 'reject', 'reject'] as const) {
    const signature = ground.sign(swarm, 'a1', vote);
    const voting = swarms.vote(swarmId, { agentId: 'a1', vote, signature }, ownerOf('a1'));
    if (vote === 'approve') await voting;
    else await expect(voting).rejects.toEqual(refusal('vote_conflict'));
  }
  const { evidence, agentVotes } = toStatus(await swarms.read(swarmId));
  expect(agentVotes).toMatchObject([{ agentId: 'a1', vote: 'approve' }]);
  expect(evidence).toMatchObject([
    {
      agentId: 'a1',
      first: { agentId: 'a1', vote: 'approve' },
      second: { agentId: 'a1', vote: 'reject' },
      transferable: true,
    },
  ]);
  expect(ground.activity.told.map(({ type }) => type)).toEqual([
    'swarm-created',
    'vote-cast',
    'vote-conflict',
  ]);
});

test('a vote after the end is refused and kept; the decision and its certificate stay', async () => {
  await using swarms = ground.open(database);
  const swarm = await createOf(swarms, ground.addAgents(4));
  const sign = (agentId: string, vote: 'approve' | 'reject') =>
    swarms.vote(
      swarm.swarmId,
      { agentId, vote, signature: ground.sign(swarm, agentId, vote) },
      ownerOf(agentId),
    );
  for (const agentId of ['a1', 'a2', 'a3']) await sign(agentId, 'approve');
  const before = toStatus(await swarms.read(swarm.swarmId));
  await expect(sign('a4', 'reject')).rejects.toEqual(refusal('swarm_ended'));
  const { lateVotes, ...after } = toStatus(await swarms.read(swarm.swarmId));
  expect(after).toEqual({ ...before, lateVotes: undefined });
  expect(lateVotes).toMatchObject([{ agentId: 'a4', vote: 'reject' }]);
  await expect(swarms.cancel(swarm.swarmId, creator)).rejects.toEqual(refusal('swarm_ended'));
});

test('a vote whose answer was lost is counted, and is answered when it is cast again', async () => {
  let isLost = true;
  const lossy: SwarmSql = {
    query: async (text, parameters) => {
      const rows = await database.query(text, parameters);
      if (isLost && text.includes('swarm_votes (')) throw new Fault('unavailable', 'killed');
      return rows as never;
    },
  };
  const { swarmId } = await createOf(ground.open(lossy), ground.addAgents(1));
  const dying = ground.open(lossy);
  await expect(cast(dying, swarmId, ['a1', 'approve'])).rejects.toMatchObject({
    code: 'unavailable',
  });
  isLost = false;
  await using restarted = ground.open(database);
  const { swarm, outcome } = await cast(restarted, swarmId, ['a1', 'approve']);
  expect([swarm.status, outcome]).toEqual(['consensus-reached', 'repeated']);
  await expect(cast(restarted, swarmId, ['a1', 'reject'])).rejects.toEqual(
    refusal('vote_conflict'),
  );
});

test('of replicas that vote at the same time exactly one decides', async () => {
  await using one = ground.open(database);
  await using two = ground.open(database);
  await using three = ground.open(database);
  const agents = ground.addAgents(16);
  const { swarmId } = await createOf(one, agents);
  const replicas = [one, two, three];
  const voting = agents.flatMap((agentId, at) =>
    [0, 1].map((again) => cast(replicas[(at + again) % 3]!, swarmId, [agentId, 'approve'])),
  );
  const outcomes = await Promise.allSettled(voting);
  const swarm = await one.read(swarmId);
  expect(swarm.status).toBe('consensus-reached');
  expect(swarm.votes.filter(({ kind }) => kind === 'counted')).toHaveLength(11);
  expect(swarm.votes).toHaveLength(16);
  const told = ground.activity.told.map(({ type }) => type);
  expect(told.filter((type) => type === 'swarm-decided')).toHaveLength(1);
  expect(told.filter((type) => type === 'vote-cast')).toHaveLength(11);
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(22);
});

test('a swarm whose replica died times out on another, once', async () => {
  const dead = ground.open(database);
  const { swarmId } = await createOf(dead, ground.addAgents(4), { timeoutMs: 1_000 });
  await cast(dead, swarmId, ['a1', 'approve']);
  ground.nowMs += 1_000;
  await using one = ground.open(database);
  await using two = ground.open(database);
  await Promise.all([one.start(), two.start()]);
  const told = () => ground.activity.told.filter(({ type }) => type === 'swarm-decided');
  await expect.poll(() => told().length).toBe(1);
  const status = toStatus(await one.read(swarmId));
  expect(status).toMatchObject({ status: 'timed-out', tally: { approve: 1 }, certified: false });
  expect(status.finalDecision).toBeUndefined();
  expect(status.endedAt).toBe(status.expiresAt);
  expect(told()).toHaveLength(1);
});

test('a timeout ends a swarm by itself, and is seen at once by whoever reads', async () => {
  await using swarms = ground.open(database);
  const { swarmId } = await createOf(swarms, ground.addAgents(2), { timeoutMs: 1_000 });
  ground.nowMs += 999;
  expect((await swarms.read(swarmId)).status).toBe('active');
  ground.nowMs += 1;
  expect((await swarms.read(swarmId)).status).toBe('timed-out');
  await swarms.start();
  const next = await createOf(swarms, ['a1', 'a2'], { timeoutMs: 30 });
  ground.nowMs += 30;
  const decided = () => ground.activity.told.filter(({ type }) => type === 'swarm-decided');
  await expect.poll(() => decided().at(-1)?.data['swarmId']).toBe(next.swarmId);
});

test('a deadline of before a restart passes by itself after it', async () => {
  const dead = ground.open(database);
  const { swarmId } = await createOf(dead, ground.addAgents(2), { timeoutMs: 20 });
  await using swarms = ground.open(database);
  await swarms.start();
  // The clock stands still meanwhile: looking too early must not be the last look.
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(ground.activity.told.map(({ type }) => type)).toEqual(['swarm-created']);
  ground.nowMs += 20;
  await expect
    .poll(() => ground.activity.told.at(-1))
    .toMatchObject({ type: 'swarm-decided', data: { swarmId, status: 'timed-out' } });
});

test('a swarm can be read for ninety days after its end', async () => {
  const dayMs = 24 * 60 * 60_000;
  await using early = ground.open(database);
  const { swarmId } = await createOf(early, ground.addAgents(1));
  const active = await createOf(early, ['a1'], { timeoutMs: 30 * dayMs });
  await cast(early, swarmId, ['a1', 'approve']);
  ground.nowMs += 89 * dayMs;
  await early.start();
  await expect
    .poll(async () => (await early.list({ status: 'timed-out', limit: 1, offset: 0 })).total)
    .toBe(1);
  expect((await early.read(swarmId)).status).toBe('consensus-reached');
  ground.nowMs += 2 * dayMs;
  await using late = ground.open(database);
  await late.start();
  await expect.poll(async () => (await late.list({ limit: 1, offset: 0 })).total).toBe(1);
  expect((await late.read(active.swarmId)).status).toBe('timed-out');
});

test('what agents cannot be members is refused', async () => {
  await using swarms = ground.open(database);
  ground.addAgents(3);
  const bad = (agents: string[], over: object = {}) => createOf(swarms, agents, over);
  await expect(bad(['a1', 'a1'])).rejects.toEqual(refusal('validation_error'));
  await expect(bad([])).rejects.toEqual(refusal('validation_error'));
  await expect(bad(['a1', 'a2'], { threshold: 3 })).rejects.toEqual(refusal('validation_error'));
  for (const over of [{ threshold: 0 }, { threshold: 1.5 }, { timeoutMs: 0 }, { name: '\0' }]) {
    await expect(bad(['a1', 'a2'], over)).rejects.toEqual(refusal('validation_error'));
  }
  await expect(bad(['a1', 'a7'])).rejects.toMatchObject({
    code: 'not_found',
    reason: 'agent_not_found',
    detail: { agentId: 'a7' },
  });
  const torn = { task: { type: 'deploy', input: { note: 'half \ud83d' } } };
  await expect(bad(['a1'], torn)).rejects.toMatchObject({ code: 'invalid' });
  await expect(swarms.read('swm_none')).rejects.toEqual(refusal('swarm_not_found'));
  await expect(
    swarms.vote('swm_none', { agentId: 'a1', vote: 'approve' }, creator),
  ).rejects.toEqual(refusal('swarm_not_found'));
  expect(await swarms.countActive()).toBe(0);
});

test('a swarm is joined by its members, and grows by its owner only', async () => {
  await using swarms = ground.open(database);
  const swarm = await createOf(swarms, ground.addAgents(3));
  const { swarmId } = swarm;
  ground.directory.add('mine', { ownerId: 'usr_1' });
  ground.directory.add('sybil');
  await expect(swarms.join(swarmId, 'sybil', ownerOf('sybil'))).rejects.toEqual(
    refusal('not_agent_owner'),
  );
  await expect(swarms.join(swarmId, 'a1', ownerOf('a2'))).rejects.toEqual(
    refusal('not_agent_owner'),
  );
  await swarms.join(swarmId, 'a1', { agentId: 'a1' });
  const grown = await swarms.join(swarmId, 'mine', { agentId: 'mine' });
  expect(toStatus(grown)).toMatchObject({
    agents: ['a1', 'a2', 'a3', 'mine'],
    faultTolerance: { byzantine: 1, quorum: 3 },
  });
  const signature = ground.sign(swarm, 'a2', 'approve');
  const stale = { agentId: 'a2', vote: 'approve', signature } as const;
  await expect(swarms.vote(swarmId, stale, ownerOf('a2'))).rejects.toEqual(
    refusal('invalid_signature'),
  );
  await cast(swarms, swarmId, ['a2', 'approve']);
  await expect(swarms.join(swarmId, 'sybil', creator)).rejects.toEqual(refusal('voting_began'));
});

test('an owner cancels its swarm, and nobody else does', async () => {
  await using swarms = ground.open(database);
  const { swarmId } = await createOf(swarms, ground.addAgents(3));
  await expect(swarms.cancel(swarmId, ownerOf('a1'))).rejects.toEqual(refusal('not_swarm_owner'));
  expect((await swarms.cancel(swarmId, creator)).status).toBe('cancelled');
  await expect(cast(swarms, swarmId, ['a1', 'approve'])).rejects.toEqual(refusal('swarm_ended'));
  const byAgent = await swarms.create(
    { name: 'n', agents: ['a1'], task: { type: 't', input: {} } },
    { agentId: 'a1' },
  );
  expect((await swarms.cancel(byAgent.swarmId, ownerOf('a1'))).status).toBe('cancelled');
});

test('an owner has two hundred active swarms at most', async () => {
  await using swarms = ground.open(database);
  ground.addAgents(1);
  const two = ground.open(database);
  for (let count = 0; count < 200; count += 1) await createOf(two, ['a1']);
  await expect(createOf(swarms, ['a1'])).rejects.toEqual(refusal('too_many_swarms'));
  const page = await swarms.list({ limit: 100, offset: 150, status: 'active' });
  expect([page.swarms.length, page.total]).toEqual([50, 200]);
  await two[Symbol.asyncDispose]();
});

test('a mesh that restarts after every step is the same as one that never does', async () => {
  const agent = fc.nat(4);
  const steps = fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({ agent, vote: fc.constantFrom(...voteValues), isSigned: fc.boolean() }),
    },
    { weight: 1, arbitrary: fc.constant('wait' as const) },
    { weight: 1, arbitrary: fc.constant('join' as const) },
    { weight: 1, arbitrary: fc.constant('cancel' as const) },
  );
  const run = async (
    plan: readonly (typeof steps extends fc.Arbitrary<infer T> ? T : never)[],
    restarts: boolean,
  ) => {
    const own = new SwarmGround();
    // Both runs have the same keys.
    for (const [name, keys] of ground.directory.keys) own.directory.keys.set(name, keys);
    const agents = own.addAgents(5).slice(0, 4);
    let swarms = own.open(database);
    const created = await createOf(swarms, agents, { timeoutMs: 5_000 });
    const { swarmId } = created;
    const outcomes: string[] = [];
    for (const step of plan) {
      if (restarts) swarms = own.open(database);
      own.nowMs += 1;
      const doing = async () => {
        if (step === 'wait') own.nowMs += 2_000;
        else if (step === 'join') await swarms.join(swarmId, 'a5', creator);
        else if (step === 'cancel') await swarms.cancel(swarmId, creator);
        else {
          const { vote, isSigned } = step;
          const agentId = `a${step.agent + 1}`;
          const signature = isSigned ? own.sign(created, agentId, vote) : undefined;
          await swarms.vote(swarmId, { agentId, vote, signature }, ownerOf(agentId));
        }
        return 'done';
      };
      outcomes.push(await doing().catch((error: Fault) => error.reason ?? error.message));
    }
    const {
      swarmId: _swarmId,
      ballot: _ballot,
      certificate,
      ...status
    } = toStatus(await swarms.read(swarmId));
    const text = JSON.stringify({ outcomes, ...status, isCertified: certificate !== undefined });
    return text.replaceAll(/"signature":"[^"]*"/g, '"signature":""');
  };
  ground.addAgents(5);
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { maxLength: 12 }), async (plan) => {
      expect(await run(plan, true)).toBe(await run(plan, false));
      await database.query('truncate mesh.swarms cascade');
    }),
    { numRuns: 60 },
  );
});
