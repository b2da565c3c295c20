import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import {
  makeComponent,
  makePlan,
  openEngineGround,
  openTestEngine,
  startOf,
  type EngineGround,
} from '../testing.ts';

let ground: EngineGround;

beforeAll(async () => {
  ground = await openEngineGround();
});
afterAll(() => ground[Symbol.asyncDispose]());

const loop = makeComponent('Loop', { control: 'loop', effect: 'none' });
const roundsOf = (count: number) => Array.from({ length: count }, (_, index) => index);

/** Two loops within each other around one node that only computes. */
function planNested(rounds: number, onRun: () => void = () => {}) {
  const node = makeComponent('Node', {
    effect: 'none',
    run: () => {
      onRun();
      return { kind: 'done', output: 1 };
    },
  });
  const each = { component: loop, data: { items: roundsOf(rounds) } };
  return makePlan({
    nodes: { outer: each, inner: each, node },
    edges: ['outer>inner', 'inner:done>outer', 'inner>node', 'node>inner'],
  });
}

it('a flow that only computes can be cancelled while it runs', async () => {
  const { engine } = await openTestEngine(ground);
  const total = 200 * 200;
  let count = 0;
  const onRun = () => {
    count += 1;
  };
  ground.plans.set('busy', planNested(200, onRun));
  const { id } = await engine.start(startOf('busy'));
  await vi.waitFor(() => expect(count).toBeGreaterThan(100));
  expect(await engine.cancel(id, 'usr_test')).toMatchObject({ status: 'cancelled' });
  expect(count).toBeLessThan(total);
  await engine[Symbol.asyncDispose]();
});

it('a flow whose loops run nothing can be cancelled while it is walked', async () => {
  const { engine } = await openTestEngine(ground, { nodeRunsMax: 10_000_000 });
  const each = { component: loop, data: { items: roundsOf(5_000) } };
  const never = { source: 'inner', target: 'node', isOpen: () => false };
  ground.plans.set(
    'idle',
    makePlan({
      nodes: { outer: each, inner: each, node: makeComponent('Node') },
      edges: ['outer>inner', 'inner:done>outer', never, 'node>inner'],
    }),
  );
  const { id } = await engine.start(startOf('idle'));
  expect(await engine.cancel(id, 'usr_test')).toMatchObject({ status: 'cancelled' });
  await engine[Symbol.asyncDispose]();
});

it('no more nodes run than the database keeps up with', async () => {
  let count = 0;
  let storedCount = 0;
  let gap = 0;
  const query: EngineGround['database']['query'] = async (text, parameters) => {
    const rows = await ground.database.query<never>(text, parameters);
    for (const value of parameters ?? []) {
      // Rows of the journal, each with the id of its node.
      if (typeof value === 'string') storedCount += value.split('"node_id"').length - 1;
    }
    return rows;
  };
  const onRun = () => {
    count += 1;
    gap = Math.max(gap, count - storedCount);
  };
  const { engine, run } = await openTestEngine({ ...ground, database: { query } });
  ground.plans.set('ahead', planNested(60, onRun));
  expect(await run('ahead')).toMatchObject({ status: 'completed' });
  expect(count).toBe(3_600);
  expect(gap).toBeLessThan(1_500);
  await engine[Symbol.asyncDispose]();
});

it('an execution that has as many nodes as it may fails with the next, in a later life too', async () => {
  const { engine, run } = await openTestEngine(ground, { nodeRunsMax: 21 });
  ground.plans.set('fits', planNested(4));
  ground.plans.set('many', planNested(5));
  // One outer loop, four inner ones, sixteen nodes.
  expect(await run('fits')).toMatchObject({ status: 'completed' });
  const failed = await run('many');
  const error = { code: 'TOO_MANY_NODE_RUNS' };
  expect(failed).toMatchObject({ status: 'failed', retryable: false, error });
  const resumed = await engine.resume(failed.id);
  const again = await engine.wait(resumed.id, { timeoutMs: 20_000 });
  expect(again).toMatchObject({ status: 'failed', error });
  await engine[Symbol.asyncDispose]();
});
