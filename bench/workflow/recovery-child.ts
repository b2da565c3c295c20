// Runs executions of five steps that all come to a stand at the fourth, or finishes what such a process
// left when it was killed.
import { openDatabase } from '../../src/kit/database/database.ts';
import { makeComponent, makePlan, startOf } from '../../src/workflow/engine/testing.ts';
import { serveOrders } from '../harness/measured-child.ts';
import type { RecoveryHello } from './recovery.ts';
import { chainIds, chainOf, openBenchEngine } from './ways.ts';

const [mode, count = '0', place = ''] = process.argv.slice(2);
const database = await openDatabase(place.includes('://') ? { url: place } : { folder: place });
const openedMs = performance.now();
let openGate = (): void => {};
const gate = new Promise<void>((resolve) => {
  openGate = resolve;
});
const step = makeComponent('Step', {
  run: async (_data, { nodeId }) => {
    if (nodeId === 'n3' && mode === 'stand') await gate;
    return { kind: 'done', output: { isDone: true } };
  },
});
const engine = await openBenchEngine(database, makePlan(chainOf(chainIds(5), step)), {
  keepsTables: mode === 'finish',
  concurrency: Number(count),
});

const countRows = async (condition: string) => {
  const [row] = await database.query<{ count: number }>(
    `select count(*)::integer as count from workflow.${condition}`,
  );
  return row?.count;
};
const until = async (condition: string, reached: number) => {
  while ((await countRows(condition)) !== reached) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};
const allEnded = () => until(`executions where status = 'completed'`, Number(count));

if (mode === 'stand') {
  const starts = Array.from({ length: Number(count) }, () => engine.start(startOf('chain')));
  await Promise.all(starts);
  await until(`node_runs where node_id = 'n2'`, Number(count));
} else {
  await allEnded();
}
const hello: RecoveryHello = { openedMs, finishedMs: performance.now() };
serveOrders(hello, async () => {
  openGate();
  await allEnded();
});
