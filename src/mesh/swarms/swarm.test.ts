import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { signBallot, voteValues, type VoteValue } from './ballot.ts';
import { verifyCertificate } from './certificate.ts';
import { trimmedMean } from './confidence.ts';
import { certificateOf, confidenceOf, evidenceOf } from './findings.ts';
import { liarsMax, safeQuorum } from './quorum.ts';
import {
  cancel,
  castVote,
  countedVotes,
  decisionOf,
  expire,
  join,
  scopeOf,
  tallyOf,
  type Swarm,
} from './swarm.ts';
import { bareSwarm, makeVoteKeys, voteOf } from './testing.ts';

type Cast = readonly [agent: number, vote: VoteValue];

const value = fc.constantFrom(...voteValues);
const sizes = fc.integer({ min: 1, max: 13 });
const casts = fc.array(fc.tuple(fc.nat(12), value), { maxLength: 40 });

const play = (start: Swarm, votes: readonly Cast[], nowMs = 1): Swarm =>
  votes.reduce((swarm, [agent, vote]) => {
    const agentId = start.members[agent % start.members.length]?.agentId ?? '';
    return castVote(swarm, voteOf(agentId, vote), nowMs).swarm;
  }, start);

const decided = (swarm: Swarm) => ({ status: swarm.status, decision: decisionOf(swarm) });

/** Everything that is final once a swarm has ended. */
const finalOf = (swarm: Swarm) => ({
  ...decided(swarm),
  endedAtMs: swarm.endedAtMs,
  counted: countedVotes(swarm),
  certificate: certificateOf(swarm),
  confidence: confidenceOf(swarm),
});

test('the order in which members vote decides nothing', () => {
  const orders = sizes.chain((n) => {
    const votes = fc.array(value, { minLength: n, maxLength: n });
    return votes.chain((values) => {
      const all = values.map((vote, agent): Cast => [agent, vote]);
      return fc.tuple(fc.constant(n), fc.constant(all), fc.shuffledSubarray(all, { minLength: n }));
    });
  });
  fc.assert(
    fc.property(orders, ([n, all, shuffled]) => {
      expect(decided(play(bareSwarm(n), shuffled))).toEqual(decided(play(bareSwarm(n), all)));
    }),
    { numRuns: 500 },
  );
});

test('a decision stands on q members that voted for it first, and no member counts twice', () => {
  fc.assert(
    fc.property(sizes, casts, (n, votes) => {
      const swarm = play(bareSwarm(n), votes);
      const counted = countedVotes(swarm);
      expect(new Set(counted.map(({ agentId }) => agentId)).size).toBe(counted.length);
      const decision = decisionOf(swarm);
      if (decision) expect(tallyOf(swarm)[decision]).toBe(safeQuorum(n));
      for (const { agentId, vote } of counted) {
        const first = votes.find(([agent]) => `a${(agent % n) + 1}` === agentId);
        expect(vote).toBe(first?.[1]);
      }
    }),
    { numRuns: 500 },
  );
});

test('however liars order their contradictions, two observers decide alike', () => {
  let both = 0;
  const play2 = fc.record({
    n: sizes,
    honest: fc.array(value, { minLength: 13, maxLength: 13 }),
    first: fc.array(fc.tuple(fc.nat(12), value), { maxLength: 40 }),
    second: fc.array(fc.tuple(fc.nat(12), value), { maxLength: 40 }),
  });
  fc.assert(
    fc.property(play2, ({ n, honest, first, second }) => {
      const liars = liarsMax(n);
      // The first f members say what they like, the others always the same.
      const shown = (votes: readonly Cast[]) =>
        votes.map(([agent, vote]): Cast => {
          const at = agent % n;
          return at < liars ? [at, vote] : [at, honest[at] ?? vote];
        });
      const [one, other] = [first, second].map((votes) =>
        decisionOf(play(bareSwarm(n), shown(votes))),
      );
      if (one && other) both += 1;
      expect(one === undefined || other === undefined || one === other).toBe(true);
    }),
    { numRuns: 1_000 },
  );
  expect(both).toBeGreaterThan(0);
});

test('votes that are sent again change nothing', () => {
  fc.assert(
    fc.property(sizes, casts, fc.array(fc.nat(39)), (n, votes, again) => {
      const once = play(bareSwarm(n), votes);
      const replayed = again.map((at) => votes[at]).filter((vote) => vote !== undefined);
      expect(play(once, replayed, 2)).toBe(once);
    }),
    { numRuns: 500 },
  );
});

test('what has ended stays as it ended, whatever comes', () => {
  const ends = fc.constantFrom('votes', 'timeout', 'cancel');
  fc.assert(
    fc.property(sizes, casts, casts, ends, (n, votes, later, how) => {
      let swarm = play(bareSwarm(n), votes);
      if (how === 'timeout') swarm = expire(swarm, 1_000);
      if (how === 'cancel') swarm = cancel(swarm, 5).swarm;
      if (swarm.status === 'active') return;
      const end = finalOf(swarm);
      const after = cancel(expire(play(swarm, later, 9), 5_000), 6_000);
      expect(finalOf(after.swarm)).toEqual(end);
      expect(after.outcome).toBe(false);
      const newcomer = { agentId: 'b', ownerId: 'u', voteKey: undefined, joinedAtMs: undefined };
      expect(join(swarm, newcomer, 9).outcome).toBe('ended');
    }),
    { numRuns: 500 },
  );
});

test('a member that contradicts itself is kept as evidence once for each other vote', () => {
  const swarm = play(bareSwarm(4), [
    [0, 'approve'],
    [0, 'reject'],
    [0, 'reject'],
    [0, 'abstain'],
    [0, 'approve'],
  ]);
  expect(tallyOf(swarm)).toEqual({ approve: 1, reject: 0, abstain: 0 });
  expect(evidenceOf(swarm).map(({ first, second }) => [first.vote, second.vote])).toEqual([
    ['approve', 'reject'],
    ['approve', 'abstain'],
  ]);
});

test('a vote after the end is kept and not counted, and contradicting it is evidence too', () => {
  const start = expire(bareSwarm(4), 1_000);
  const late = castVote(start, voteOf('a1', 'approve'), 2_000);
  expect(late.outcome).toBe('late');
  expect(castVote(late.swarm, voteOf('a1', 'approve'), 2_001)).toEqual({
    swarm: late.swarm,
    outcome: 'late',
  });
  const { swarm, outcome } = castVote(late.swarm, voteOf('a1', 'reject'), 2_002);
  expect(outcome).toBe('conflict');
  expect(evidenceOf(swarm)).toHaveLength(1);
  expect(countedVotes(swarm)).toEqual([]);
});

test('a vote at the very end of the time is too late', () => {
  expect(castVote(bareSwarm(1), voteOf('a1', 'approve'), 999).outcome).toBe('counted');
  const { swarm, outcome } = castVote(bareSwarm(1), voteOf('a1', 'approve'), 1_000);
  expect([outcome, swarm.status, swarm.endedAtMs]).toEqual(['late', 'timed-out', 1_000]);
});

test('a split in which all have voted ends at once, one in which some have not does not', () => {
  const three: Cast[] = [
    [0, 'approve'],
    [1, 'reject'],
    [2, 'abstain'],
  ];
  expect(play(bareSwarm(4), three).status).toBe('active');
  expect(play(bareSwarm(4), [...three, [3, 'approve']])).toMatchObject({
    status: 'timed-out',
    endedAtMs: 1,
  });
});

test('a further member raises the quorum, but not once a vote was cast', () => {
  const newcomer = { agentId: 'b', ownerId: 'u', voteKey: undefined, joinedAtMs: undefined };
  const start = bareSwarm(4);
  const { swarm } = join(start, newcomer, 1);
  expect(swarm.members).toHaveLength(5);
  expect(scopeOf(swarm).configHash).not.toBe(scopeOf(start).configHash);
  expect(join(play(start, [[0, 'approve']]), newcomer, 1).outcome).toBe('voting');
  const full = bareSwarm(256);
  expect(join(full, newcomer, 1).outcome).toBe('full');
  expect(join(swarm, newcomer, 2).swarm).toBe(swarm);
});

test('a signature that comes later makes a certificate while the swarm is active, not after', () => {
  const keys = makeVoteKeys();
  const base = bareSwarm(2);
  const members = base.members.map((member) => ({ ...member, voteKey: keys.voteKey }));
  const start = { ...base, members };
  const cast = (agentId: string) => {
    const ballot = { ...scopeOf(start), agentId, vote: 'approve' } as const;
    return voteOf(agentId, 'approve', { signature: signBallot(ballot, keys.privateKey) });
  };
  const unsigned = play(start, [[0, 'approve']]);
  const signed = castVote(unsigned, cast('a1'), 2);
  expect(signed.outcome).toBe('repeated');
  const done = castVote(signed.swarm, cast('a2'), 3).swarm;
  const certificate = certificateOf(done);
  expect(certificate && verifyCertificate(certificate, { members }).isValid).toBe(true);
  const bare = play(unsigned, [[1, 'approve']]);
  expect(castVote(bare, cast('a1'), 4).swarm).toBe(bare);
  expect(certificateOf(bare)).toBeUndefined();
});

test('f liars cannot move the confidence out of the range of the others', () => {
  const figure = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(
      fc.array(figure, { minLength: 3, maxLength: 13 }),
      fc.infiniteStream(figure),
      (honest, lies) => {
        const liars = Math.floor((honest.length - 1) / 2);
        const mean = trimmedMean([...honest, ...lies.take(liars)], liars) ?? -1;
        expect(mean).toBeGreaterThanOrEqual(Math.min(...honest));
        expect(mean).toBeLessThanOrEqual(Math.max(...honest));
      },
    ),
    { numRuns: 500 },
  );
  expect(trimmedMean([0.2, 0.4], 0)).toBeCloseTo(0.3);
  expect(trimmedMean([1, 1], 1)).toBeUndefined();
});
