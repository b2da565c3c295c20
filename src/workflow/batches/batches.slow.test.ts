import { expect, test, vi } from 'vitest';
import { openGround } from './testing.ts';

const owner = { subject: 'usr_a', isAdmin: false };
const count = 10_000;

test('ten thousand items run, each once, in memory that does not grow with them', async () => {
  await using ground = await openGround();
  await using batches = ground.openBatches();
  await batches.start();
  const text = 'x'.repeat(1_000);
  const inputs = Array.from({ length: count }, (_, n) => ({ n, text }));
  const request = { workflowId: 'wfl_1', ownerId: owner.subject, inputs, concurrency: 50 };
  const { id } = await batches.create({ ...request, failureMode: 'continue' });
  let mostRead = 0;
  const query = ground.database.query.bind(ground.database);
  // What the service holds of the items is what it reads of them at once.
  ground.database.query = async <Row>(sql: string, parameters?: readonly unknown[]) => {
    const rows = await query<Row>(sql, parameters);
    if (sql.includes('taken as')) {
      const [row] = rows as { readonly next?: readonly unknown[] | null }[];
      mostRead = Math.max(mostRead, row?.next?.length ?? 0);
    }
    return rows;
  };
  await vi.waitFor(async () => expect((await batches.read(id, owner)).status).toBe('completed'), {
    timeout: 120_000,
    interval: 200,
  });
  expect(await batches.read(id, owner)).toMatchObject({ completed: count, lastSeq: count + 1 });
  expect(new Set(ground.engine.starts.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(
    count,
  );
  expect(ground.engine.mostRunning).toBe(50);
  expect(mostRead).toBeGreaterThan(0);
  expect(mostRead).toBeLessThanOrEqual(50);
}, 180_000);
