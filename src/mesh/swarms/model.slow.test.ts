import { expect, test } from 'vitest';
import { voteValues } from './ballot.ts';
import { liarsMax, safeQuorum, toleranceOf } from './quorum.ts';
import { castVote, decisionOf, faultToleranceOf, type Swarm } from './swarm.ts';
import { bareSwarm, voteOf } from './testing.ts';

interface Model {
  /** Who votes: the honest first, then the liars. */
  readonly voters: number;
  readonly liars: number;
  /** Of how many members the code believes the swarm to be, which makes its quorum. */
  readonly believed?: number;
  readonly threshold?: number;
}

interface Verdict {
  readonly states: number;
  readonly decided: number;
  /** Two observers that saw different decisions, or two that can be proven. */
  readonly violation: string | undefined;
}

/**
 * Walks every interleaving of one round as two observers see it, who may be shown different votes by
 * a mesh that lies: an honest agent casts one vote, which reaches either, both or none, at any time; a
 * liar casts any vote to any of them. Honest agents differ in nothing but their votes, and so do
 * liars: of states that only swap them one is walked.
 */
function explore({ voters, liars, believed = voters, threshold = 1 }: Model): Verdict {
  const start = bareSwarm(believed, { threshold });
  const { quorum } = faultToleranceOf(start);
  const agents = Array.from({ length: voters }, (_, at) => `v${at}`);
  const cast = { honest: agents.slice(0, voters - liars), lying: agents.slice(voters - liars) };
  const first: readonly Swarm[] = [start, start];
  const seen = new Set<string>();
  const open = [first];
  let decided = 0;
  for (let state = open.pop(); state; state = open.pop()) {
    const key = keyOf(state, cast);
    if (seen.has(key)) continue;
    seen.add(key);
    const decisions = new Set(state.map(decisionOf).filter((decision) => decision !== undefined));
    const provable = (['approve', 'reject'] as const).filter(
      (value) => honestVotes(state, cast.honest, value) + liars >= quorum,
    );
    if (decisions.size > 0) decided += 1;
    if (decisions.size > 1 || provable.length > 1) {
      return { states: seen.size, decided, violation: key };
    }
    open.push(...nextStates(state, cast));
  }
  return { states: seen.size, decided, violation: undefined };
}

interface Cast {
  readonly honest: readonly string[];
  readonly lying: readonly string[];
}

/** What can happen next: any vote that its agent may cast reaches any of the observers. */
function nextStates(state: readonly Swarm[], { honest, lying }: Cast): (readonly Swarm[])[] {
  const next: (readonly Swarm[])[] = [];
  const all = state.flatMap(({ votes }) => votes);
  for (const [observer, swarm] of state.entries()) {
    for (const agentId of [...honest, ...lying]) {
      const said = lying.includes(agentId) ? undefined : all.find((v) => v.agentId === agentId);
      for (const value of said ? [said.vote] : voteValues) {
        const after = castVote(swarm, voteOf(agentId, value), 0).swarm;
        if (after !== swarm) next.push(state.with(observer, after));
      }
    }
  }
  return next;
}

function honestVotes(state: readonly Swarm[], honest: readonly string[], value: string): number {
  return honest.filter((agentId) =>
    state.some(({ votes }) => votes.some((v) => v.agentId === agentId && v.vote === value)),
  ).length;
}

/** What can make a difference later: counted votes, what honest agents have said, who has ended. */
function keyOf(state: readonly Swarm[], { honest, lying }: Cast): string {
  const slotsOf = (agentId: string) =>
    state.map(({ votes }) => votes.find((vote) => vote.agentId === agentId));
  const said = honest.map((agentId) =>
    slotsOf(agentId)
      .map((vote) => `${vote?.kind} ${vote?.vote}`)
      .join('|'),
  );
  const lies = lying.map((agentId) =>
    slotsOf(agentId)
      .map((vote) => (vote?.kind === 'counted' ? vote.vote : ''))
      .join('|'),
  );
  const ends = state.map(({ status }) => status);
  return [...said.toSorted(), '/', ...lies.toSorted(), ...ends].join(' ');
}

test.each([1, 2, 3, 4, 5])('%i members never decide two ways with f liars among them', (voters) => {
  const { violation, decided } = explore({ voters, liars: liarsMax(voters) });
  expect(violation).toBeUndefined();
  expect(decided).toBeGreaterThan(0);
});

test('a threshold above the quorum withstands more liars, one below changes nothing', () => {
  expect(explore({ voters: 4, liars: 2, threshold: 4 }).violation).toBeUndefined();
  expect(explore({ voters: 4, liars: 1, threshold: 2 }).violation).toBeUndefined();
});

test('the model finds two decisions where the quorum is too small', () => {
  // Three of five is 2f + 1, the textbook's; two of four and two of three are no better.
  expect(toleranceOf(4, 1).quorum).toBe(3);
  expect(explore({ voters: 5, liars: 1, believed: 4 }).violation).toBeDefined();
  expect(explore({ voters: 4, liars: 1, believed: 2 }).violation).toBeDefined();
  expect(explore({ voters: 4, liars: 0, believed: 2 }).violation).toBeDefined();
});

test('the model finds two decisions where more than f members lie', () => {
  expect(explore({ voters: 4, liars: 2 }).violation).toBeDefined();
  expect(explore({ voters: 3, liars: 1 }).violation).toBeDefined();
  expect(explore({ voters: 5, liars: 3 }).violation).toBeDefined();
});

test('the quorum is the least at which two quorums share an honest member', () => {
  for (let n = 1; n <= 256; n += 1) {
    const f = liarsMax(n);
    const q = safeQuorum(n);
    expect(2 * q - n).toBeGreaterThan(f);
    expect(2 * (q - 1) - n).toBeLessThanOrEqual(f);
    // The honest alone can decide.
    expect(n - f).toBeGreaterThanOrEqual(q);
  }
});
