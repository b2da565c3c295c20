import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { agentStatuses } from './agent.ts';
import type { AgentRow } from './agent-row.ts';
import { Directory } from './directory.ts';

function row(agentId: string, revision: number, rest: Partial<AgentRow> = {}): AgentRow {
  return {
    agentId,
    registrationId: `reg_${agentId}`,
    ownerId: 'usr',
    epoch: 1,
    revision,
    capabilities: ['a'],
    metadata: {},
    endpoints: {},
    isIdempotent: false,
    status: 'active',
    load: 0,
    heartbeatInterval: 30,
    registeredAtMs: 0,
    lastSeenMs: 0,
    publicKey: null,
    voteKey: null,
    cardKeys: null,
    card: null,
    ...rest,
  };
}

const idsOf = (agents: readonly { readonly agentId: string }[]) =>
  agents.map(({ agentId }) => agentId);

const capability = fc.constantFrom('a', 'b', 'c');
const change = fc.record({
  id: fc.constantFrom('1', '2', '3', '4'),
  kind: fc.constantFrom('put', 'state', 'remove'),
  capabilities: fc.uniqueArray(capability),
  status: fc.constantFrom(...agentStatuses),
  epoch: fc.constantFrom(1, 2),
  metadata: fc.constantFrom({}, { region: 'eu' }, { region: 'us' }),
});
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

function play(directory: Directory, { id, kind, ...said }: Change, revision: number): void {
  if (kind === 'put') directory.put(row(id, revision, said));
  else if (kind === 'remove') directory.remove({ agentId: id, revision });
  else {
    const { status, epoch } = said;
    const rest = { registrationId: 'reg', load: 0, lastSeenMs: 0, publicKey: null };
    directory.apply({ agentId: id, revision, status, epoch, ...rest });
  }
}

test('whatever happened, discovery finds what a look at every agent finds', () => {
  fc.assert(
    fc.property(
      fc.array(change, { maxLength: 60 }),
      fc.uniqueArray(capability),
      fc.option(fc.constantFrom(...agentStatuses), { nil: undefined }),
      fc.constantFrom(undefined, 'eu', 'us', 'nowhere'),
      (changes, capabilities, status, region) => {
        const directory = new Directory();
        for (const [at, one] of changes.entries()) play(directory, one, at + 1);
        const expected = directory
          .sorted()
          .filter((agent) => capabilities.every((one) => agent.capabilitySet.has(one)))
          .filter((agent) => region === undefined || agent.metadata['region'] === region)
          .filter((agent) => (status ? agent.status === status : agent.status !== 'offline'));
        const found = directory.discover({ capabilities, status, region }, 100);
        expect(idsOf(found.agents).toSorted()).toEqual(idsOf(expected));
        expect(found.totalFound).toBe(expected.length);
        const ranks = found.agents.map((agent) => agentStatuses.indexOf(agent.status));
        expect(ranks).toEqual(ranks.toSorted((one, other) => one - other));
      },
    ),
  );
});

test('the order in which registrations and removals are heard of makes no difference', () => {
  const settled = change.filter(({ kind }) => kind !== 'state');
  fc.assert(
    fc.property(
      fc.array(settled, { maxLength: 12 }).chain((changes) => {
        const numbered = changes.map((one, at) => [one, at + 1] as const);
        return fc.tuple(
          fc.constant(numbered),
          fc.shuffledSubarray(numbered, { minLength: numbered.length }),
        );
      }),
      ([inOrder, shuffled]) => {
        const [one, other] = [inOrder, shuffled].map((changes) => {
          const directory = new Directory();
          for (const [entry, revision] of changes) play(directory, entry, revision);
          return directory.sorted().map((agent) => agent.current());
        });
        expect(other).toEqual(one);
      },
    ),
  );
});

test('the index of a query grows with every change of its answer', () => {
  fc.assert(
    fc.property(
      fc.array(change, { maxLength: 40 }),
      fc.uniqueArray(capability),
      (changes, capabilities) => {
        const directory = new Directory();
        const look = () =>
          directory
            .discover({ capabilities }, 100)
            .agents.map(({ agentId, status, epoch }) => `${agentId} ${status} ${epoch}`)
            .toSorted();
        for (const [at, one] of changes.entries()) {
          const before = { found: look(), index: directory.indexOf(capabilities) };
          play(directory, one, at + 2);
          const index = directory.indexOf(capabilities);
          expect(index).toBeGreaterThanOrEqual(before.index);
          if (look().join() !== before.found.join()) expect(index).toBeGreaterThan(before.index);
        }
      },
    ),
  );
});

test('of two random agents the less loaded one comes first', () => {
  const directory = new Directory();
  for (let load = 0; load < 10; load += 1) {
    directory.put(row(String(load), load + 1, { load: load / 10 }));
  }
  const first = new Map<string, number>();
  for (let round = 0; round < 2_000; round += 1) {
    const [best] = directory.candidates(['a']);
    first.set(best?.agentId ?? '', (first.get(best?.agentId ?? '') ?? 0) + 1);
  }
  // The most loaded of all loses against any other; the least loaded wins a fifth of the time.
  expect(first.get('9')).toBeUndefined();
  expect(first.get('0') ?? 0).toBeGreaterThan(300);
  expect(first.get('5') ?? 0).toBeGreaterThan(50);
});

test('an agent whose calls fail comes later, until that is long ago', () => {
  let nowMs = 0;
  const directory = new Directory({ now: () => nowMs });
  directory.put(row('well', 1, { load: 0.5 }));
  directory.put(row('ill', 2, { load: 0.4 }));
  expect(directory.candidates(['a'])[0]?.agentId).toBe('ill');
  for (let call = 0; call < 5; call += 1) {
    directory.observe('ill', { isFailure: true });
  }
  expect(directory.candidates(['a'])[0]?.agentId).toBe('well');
  nowMs += 300_000;
  expect(directory.candidates(['a'])[0]?.agentId).toBe('ill');
});

test('an agent that reports no load has one by the tasks that it is doing', () => {
  const directory = new Directory();
  directory.put(row('silent', 1, { load: null }));
  directory.put(row('idle', 2, { load: null }));
  directory.put(row('telling', 3, { load: 0.9 }));
  for (const agentId of ['silent', 'telling', 'nobody']) directory.occupy(agentId, 0.5);
  expect(directory.find('silent')?.load).toBe(0.5);
  expect(directory.find('telling')?.load).toBe(0.9);
  expect(directory.find('silent')?.json).toContain('"load":0.5');
  expect(directory.candidates(['a'])[0]?.agentId).not.toBe('telling');
  directory.occupy('silent', 0);
  expect(directory.find('silent')?.load).toBe(0);
});
