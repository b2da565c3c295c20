import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openBus } from '../../kit/bus/open-bus.ts';
import { spawnModule } from '../../kit/database/testing.ts';
import { silentLog } from '../../kit/testing.ts';
import { openGatewayDatabase } from '../cache/testing.ts';
import { startMoney } from './testing.ts';

/** A replica whose database never answers: whatever it settles is in its journal only. */
const replica = `
  const [folder, count] = parameters;
  const { startMoney, spendOf } = await open('../../gateway/money/testing.ts');
  const { openBus } = await open('../bus/open-bus.ts');
  const { silentLog } = await open('../testing.ts');
  const never = new Promise(() => {});
  const sql = {
    query: (text) => (text.includes('gateway.budgets') ? Promise.resolve([]) : never),
  };
  const bus = await openBus({ log: silentLog });
  const topic = bus.topic('gateway.budgets');
  const money = await startMoney({ sql, topic, dataFolder: folder });
  const settle = async () => {
    const reservation = money.purse.reserve({ subject: 'usr_1' }, { tokens: 1, dollars: 1 });
    await reservation.settle(spendOf('usr_1'));
  };
  // As answers come: some in one turn of the event loop, the others each in a turn of its own.
  await Promise.all(Array.from({ length: Number(count) / 2 }, settle));
  for (let at = 0; at < Number(count) / 2; at += 1) await settle();
  print('settled');
  setInterval(() => {}, 1000);
`;

test('nothing that was settled is lost when replicas are killed before they moved it', async () => {
  const dataFolder = await mkdtemp(join(tmpdir(), 'ennead-killed-'));
  const counts = [2, 700, 6_000];
  const children = counts.map((count) => spawnModule(replica, [dataFolder, String(count)]));
  await Promise.all(children.map(({ stdout }) => once(stdout, 'data')));
  const ends = children.map((child) => once(child, 'close'));
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(ends);

  await using database = await openGatewayDatabase();
  await using bus = await openBus({ log: silentLog });
  {
    const topic = bus.topic<{ subject: string }>('gateway.budgets');
    await using money = await startMoney({ sql: database, topic, dataFolder });
    const { totals } = await money.ledger.report({
      from: '2000-01-01',
      to: '2999-12-31',
      groupBy: 'day',
      subject: 'usr_1',
      limit: 10,
      offset: 0,
    });
    expect(totals).toMatchObject({ requests: 6_702, dollars: 67.02 });
  }
  const left = await readdir(join(dataFolder, 'gateway'));
  expect(left.filter((name) => name.endsWith('.journal'))).toEqual([]);
  await rm(dataFolder, { recursive: true });
});
