import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openBus } from '../../kit/bus/open-bus.ts';
import { openDatabase } from '../../kit/database/database.ts';
import { spawnModule } from '../../kit/database/testing.ts';
import { silentLog } from '../../kit/testing.ts';
import { makeComponent, makePlan, openTestEngine } from './testing.ts';

const count = 100;
const nodeIds = ['a', 'b', 'c', 'd', 'e'];
const edges = ['a>b', 'b>c', 'c>d', 'd>e'];

/** Starts executions of slow chains and says so; then it is killed. */
const doomed = `
  const [folder, count] = parameters;
  const { openDatabase } = await open('./database.ts');
  const { openBus } = await open('../bus/open-bus.ts');
  const { silentLog } = await open('../testing.ts');
  const engines = await open('../../workflow/engine/testing.ts');
  const database = await openDatabase({ folder });
  await database.migrate('workflow', new URL(parameters[2]));
  const slow = engines.makeComponent('Slow', {
    run: async () => {
      await new Promise((resolve) => setTimeout(resolve, 200 * Math.random()));
      return { kind: 'done', output: 'first life' };
    },
  });
  const nodes = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((id) => [id, slow]));
  const plans = new Map([['chain', engines.makePlan({ nodes, edges: ['a>b', 'b>c', 'c>d', 'd>e'] })]]);
  const bus = await openBus({ log: silentLog });
  const { engine } = await engines.openTestEngine({ database, bus, plans }, { isAlone: true });
  await Promise.all(Array.from({ length: Number(count) }, () => engine.start(engines.startOf('chain'))));
  print('started');
`;

it('executions of a process that was killed are finished by the next, and no finished node is repeated', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ennead-crash-'));
  const migrations = new URL('../migrations/', import.meta.url).href;
  const child = spawnModule(doomed, [folder, String(count), migrations]);
  let complaints = '';
  child.stderr.on('data', (text) => (complaints += String(text)));
  const [line] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  expect(String(line) + complaints).toContain('started');
  await new Promise((resolve) => setTimeout(resolve, 300));
  child.kill('SIGKILL');
  await once(child, 'exit');

  await using database = await openDatabase({ folder });
  await using bus = await openBus({ log: silentLog });
  const rows = await database.query<{ key: string }>(
    `select execution_id || ' ' || node_id as key from workflow.node_runs`,
  );
  const finished = new Set(rows.map(({ key }) => key));
  expect(finished.size).toBeGreaterThan(0);
  expect(finished.size).toBeLessThan(count * nodeIds.length);
  const repeated: string[] = [];
  const work = makeComponent('Slow', {
    run: (_data, { executionId, nodeId }) => {
      repeated.push(`${executionId} ${nodeId}`);
      return { kind: 'done', output: 'second life' };
    },
  });
  const nodes = Object.fromEntries(nodeIds.map((id) => [id, work]));
  const plans = new Map([['chain', makePlan({ nodes, edges })]]);
  const { engine } = await openTestEngine({ database, bus, plans }, { isAlone: true });
  try {
    const ids = await database.query<{ id: string }>('select id from workflow.executions');
    expect(ids).toHaveLength(count);
    for (const { id } of ids) {
      expect(await engine.wait(id, { timeoutMs: 15_000 })).toMatchObject({ status: 'completed' });
      const seqs: number[] = [];
      for await (const { seq } of engine.follow(id, 0, AbortSignal.timeout(5_000))) seqs.push(seq);
      expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    }
    expect(repeated.filter((key) => finished.has(key))).toEqual([]);
    expect(new Set([...repeated, ...finished]).size).toBe(count * nodeIds.length);
  } finally {
    await engine[Symbol.asyncDispose]();
  }
  await rm(folder, { recursive: true, force: true });
});
