import { afterAll, beforeAll, expect, test } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import { chainOf, openDefinitions, openGround } from './testing.ts';

type Ground = Awaited<ReturnType<typeof openGround>>;
type Replica = Awaited<ReturnType<typeof openDefinitions>>;

let ground: Ground;
let replica: Replica;
let other: Replica;

beforeAll(async () => {
  ground = await openGround();
  replica = await openDefinitions(ground);
  other = await openDefinitions(ground);
});

afterAll(() => ground[Symbol.asyncDispose]());

const ada = { id: 'usr_ada', isAdmin: false };
const bob = { id: 'usr_bob', isAdmin: false };
const root = { id: 'usr_root', isAdmin: true };

const labels = { name: 'Chain', description: 'A chain', category: 'general', tags: ['a', 'a'] };

function create(flow: unknown = chainOf(2), isPublished = true) {
  return replica.definitions.create({ ...labels, flow, isPublished }, ada.id);
}

/** The Fault that some work ends with. */
async function faultOf(work: Promise<unknown>): Promise<Fault> {
  const outcome = await work.then(
    () => new Error('it went well'),
    (error: unknown) => error,
  );
  if (outcome instanceof Fault) return outcome;
  throw outcome;
}

test('a flow that does not hold is refused with all its faults, and nothing is stored', async () => {
  const before = await replica.definitions.list({}, { limit: 1, offset: 0 });
  const flow = {
    nodes: [
      { id: 'a', type: 'Nothing', data: {} },
      { id: 'b', type: 'Merge', data: {} },
      { id: 'b', type: 'Merge', data: {} },
    ],
    edges: [
      { source: 'a', target: 'c' },
      { source: 'b', target: 'b' },
    ],
  };
  const fault = await faultOf(create(flow));
  expect(fault).toMatchObject({ code: 'invalid', reason: 'invalid_flow' });
  const codes = (fault.detail['faults'] as { code: string }[]).map(({ code }) => code);
  expect(codes).toEqual(
    expect.arrayContaining(['UNKNOWN_COMPONENT', 'DUPLICATE_NODE', 'DANGLING_EDGE', 'CYCLE']),
  );
  const after = await replica.definitions.list({}, { limit: 1, offset: 0 });
  expect(after.total).toBe(before.total);
});

test('faults of the shape hide no others, however many there are', async () => {
  const nodes = Array.from({ length: 20 }, (_, index) => ({
    id: `n${index}`,
    type: index === 0 ? 'Nothing' : 'Merge',
    retry: { backoff: 'never' },
  }));
  const edges = [
    { source: 'n1', target: 'n1', condition: 5 },
    { source: 'n1', target: 'lost' },
  ];
  const fault = await faultOf(create({ nodes, edges, settings: { timeout: 0 } }));
  const found = fault.detail['faults'] as { code: string; path?: string; edge?: number }[];
  const shapes = found.filter(({ code }) => code === 'BAD_SHAPE').map(({ path }) => path);
  expect(new Set(shapes)).toEqual(
    new Set([
      '/edges/0/condition',
      '/settings/timeout',
      ...nodes.map((_, index) => `/nodes/${index}/retry/backoff`),
    ]),
  );
  const others = found.filter(({ code }) => code !== 'BAD_SHAPE').map(({ code }) => code);
  expect(others.toSorted()).toEqual(['CYCLE', 'DANGLING_EDGE', 'UNKNOWN_COMPONENT']);
});

test.each([[undefined], [null], ['flow'], [{}], [{ nodes: {} }], [{ nodes: [{ id: 1 }] }]])(
  'what is no flow is refused: %j',
  async (flow) => {
    const fault = await faultOf(create(flow ?? null));
    expect(fault.detail['faults']).toEqual(
      expect.arrayContaining([expect.objectContaining({ code: 'BAD_SHAPE' })]),
    );
  },
);

test('ten thousand nodes are refused quickly, with the reason', async () => {
  const startMs = performance.now();
  const fault = await faultOf(create(chainOf(10_000)));
  expect(performance.now() - startMs).toBeLessThan(2_000);
  expect(fault.detail['faults']).toEqual(
    expect.arrayContaining([expect.objectContaining({ code: 'TOO_LARGE' })]),
  );
});

test('a draft is not run until it is published', async () => {
  const draft = await create(chainOf(1), false);
  expect(draft).toMatchObject({ status: 'draft', version: undefined, latest: 1 });
  await expect(other.plans.load(draft.id)).rejects.toMatchObject({
    code: 'conflict',
    reason: 'workflow_not_active',
  });
  await replica.definitions.publish(draft.id, undefined, ada);
  await expect.poll(() => other.plans.load(draft.id)).toMatchObject({ version: 1 });
});

test('a new flow is a new version, which other replicas run at once', async () => {
  const { id } = await create(chainOf(2));
  expect((await other.plans.load(id)).plan.nodes.size).toBe(2);
  const changed = await replica.definitions.change(
    id,
    { flow: chainOf(3), isPublished: true },
    ada,
  );
  expect(changed).toMatchObject({ version: 2, latest: 2, revision: 2, components: 3 });
  const loaded = await other.plans.load(id);
  expect([loaded.version, loaded.plan.nodes.size]).toEqual([2, 3]);
  expect((await other.plans.load(id, 1)).plan.nodes.size).toBe(2);
});

test('a draft beside a published version changes in place, and runs once it is published', async () => {
  const { id } = await create(chainOf(1));
  for (const length of [2, 3]) {
    const change = { flow: chainOf(length), isPublished: false };
    const drafted = await replica.definitions.change(id, change, ada);
    expect(drafted).toMatchObject({ version: 1, latest: 2, components: 1 });
    expect((await replica.plans.load(id, 2)).plan.nodes.size).toBe(length);
    expect((await other.plans.load(id, 2)).plan.nodes.size).toBe(length);
  }
  expect((await other.plans.load(id)).version).toBe(1);
  const published = await replica.definitions.publish(id, undefined, ada);
  expect(published).toMatchObject({ version: 2, latest: 2, components: 3 });
  const { latest } = await replica.definitions.change(
    id,
    { flow: chainOf(4), isPublished: false },
    ada,
  );
  expect(latest).toBe(3);
});

test('a published version is run again after a roll back, a draft never', async () => {
  const { id } = await create(chainOf(1));
  await replica.definitions.change(id, { flow: chainOf(2), isPublished: true }, ada);
  await replica.definitions.change(id, { flow: chainOf(3), isPublished: false }, ada);
  await expect(replica.definitions.rollBack(id, 3, ada)).rejects.toMatchObject({
    reason: 'version_not_published',
  });
  await expect(replica.definitions.rollBack(id, 9, ada)).rejects.toMatchObject({
    code: 'not_found',
  });
  expect(await replica.definitions.rollBack(id, 1, ada)).toMatchObject({ version: 1, latest: 3 });
  expect((await other.plans.load(id)).version).toBe(1);
});

test('of two editors the slower one is told', async () => {
  const { id } = await create();
  const work = (name: string) =>
    replica.definitions.change(id, { name, isPublished: true, expectedRevision: 1 }, ada);
  const outcomes = await Promise.allSettled([work('one'), work('two'), work('three')]);
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  await expect(work('four')).rejects.toMatchObject({ reason: 'workflow_changed' });
  const late = { flow: chainOf(1), isPublished: true, expectedVersion: 7 };
  await expect(replica.definitions.change(id, late, ada)).rejects.toMatchObject({
    code: 'conflict',
  });
});

test('changes that name no version are all kept, each as a version of its own', async () => {
  const { id } = await create();
  const lengths = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
  await Promise.all(
    lengths.map((length, place) =>
      (place % 2 ? replica : other).definitions.change(
        id,
        { flow: chainOf(length), isPublished: true },
        ada,
      ),
    ),
  );
  const { versions, total } = await replica.definitions.versions(id, {
    limit: 20,
    offset: 0,
    isWhole: true,
  });
  expect(total).toBe(11);
  expect(versions.map(({ version }) => version)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  expect(
    versions
      .slice(0, lengths.length)
      .map(({ components }) => components)
      .toSorted((a, b) => a - b),
  ).toEqual(lengths);
});

test('an archived workflow starts no more, keeps its versions, and comes back when published', async () => {
  const { id } = await create();
  await other.plans.load(id);
  expect(await replica.definitions.archive(id, ada)).toMatchObject({ status: 'archived' });
  await expect(other.plans.load(id)).rejects.toMatchObject({ reason: 'workflow_not_active' });
  expect((await other.plans.load(id, 1)).version).toBe(1);
  const change = { name: 'again', isPublished: true };
  await expect(replica.definitions.change(id, change, ada)).rejects.toMatchObject({
    reason: 'workflow_archived',
  });
  await expect(replica.definitions.requireStartable(id, 1, ada)).rejects.toMatchObject({
    reason: 'workflow_archived',
  });
  const { workflows } = await replica.definitions.list({}, { limit: 100, offset: 0 });
  expect(workflows.some((one) => one.id === id)).toBe(false);
  await replica.definitions.publish(id, undefined, ada);
  expect((await other.plans.load(id)).version).toBe(1);
});

test('only the owner and administrators change a workflow; drafts are theirs to try', async () => {
  const { id } = await create(chainOf(1), false);
  const change = { name: 'mine', isPublished: true };
  const refusal = { code: 'forbidden', reason: 'not_the_owner' };
  await expect(replica.definitions.change(id, change, bob)).rejects.toMatchObject(refusal);
  await expect(replica.definitions.archive(id, bob)).rejects.toMatchObject(refusal);
  await expect(replica.definitions.publish(id, 1, bob)).rejects.toMatchObject(refusal);
  await expect(replica.definitions.requireStartable(id, 1, bob)).rejects.toMatchObject({
    reason: 'workflow_not_found',
  });
  await replica.definitions.requireStartable(id, 1, ada);
  expect(await replica.definitions.change(id, change, root)).toMatchObject({ name: 'mine' });
});

test('nothing is known of a workflow that is not there', async () => {
  const refusal = { code: 'not_found', reason: 'workflow_not_found' };
  await expect(replica.definitions.read('wfl_none')).rejects.toMatchObject(refusal);
  await expect(replica.plans.load('wfl_none')).rejects.toMatchObject(refusal);
  await expect(replica.plans.load('wfl_none', 1)).rejects.toMatchObject(refusal);
  await expect(replica.definitions.archive('wfl_none', root)).rejects.toMatchObject(refusal);
  await expect(replica.secrets.read('wfl_none')).rejects.toMatchObject(refusal);
});

test('a difference names the nodes, the settings and the edges, and no moved node', async () => {
  const { id } = await create(chainOf(3));
  const { nodes, edges } = chainOf(2);
  const [first, second] = nodes;
  const flow = {
    nodes: [
      { ...first, position: { x: 500, y: 5 } },
      { ...second, data: { inputs: { id: 'other' } }, timeout: 5_000 },
      { id: 'new', type: 'Merge', data: {} },
    ],
    edges: [...edges, { source: 'n1', target: 'new' }],
  };
  await replica.definitions.change(id, { flow, isPublished: true }, ada);
  expect(await replica.definitions.diff(id, 1, 2)).toEqual({
    nodes: {
      added: ['new'],
      removed: ['n2'],
      changed: [{ nodeId: 'n1', fields: ['timeout', 'data.inputs'] }],
    },
    edges: {
      added: [{ source: 'n1', target: 'new' }],
      removed: [{ source: 'n1', target: 'n2' }],
    },
    isSettingsChanged: false,
  });
});

test('every workflow has a secret of its own', async () => {
  const [one, two] = await Promise.all([create(), create()]);
  const secret = await replica.secrets.read(one.id);
  expect(secret).toMatch(/^[\w-]{43}$/);
  expect(await other.secrets.read(one.id)).toBe(secret);
  expect(await replica.secrets.read(two.id)).not.toBe(secret);
});

test('a listing is filtered by what is given, in any mixture', async () => {
  const special = { ...labels, category: 'special', tags: ['rare', 'odd'], name: 'Über Größe' };
  const { id } = await replica.definitions.create(
    { ...special, flow: chainOf(1), isPublished: false },
    bob.id,
  );
  const page = { limit: 10, offset: 0 };
  const find = async (filter: Parameters<Replica['definitions']['list']>[0]) =>
    (await replica.definitions.list(filter, page)).workflows.map((one) => one.id);
  expect(await find({ category: 'special' })).toEqual([id]);
  expect(await find({ tag: 'odd', ownerId: bob.id, q: 'über gr' })).toEqual([id]);
  expect(await find({ category: 'special', status: 'active' })).toEqual([]);
  expect(await find({ q: '%' })).toEqual([]);
  expect(await find({ ownerId: bob.id, complexity: 'simple', status: 'draft' })).toEqual([id]);
});
