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
  // Neither is answered to its end; what the second one took is told again, then settled.
  const held = () => money.purse.reserve({ subject: 'usr_2' }, { tokens: 1, dollars: 1 });
  const [first, second] = [held(), held()];
  for (const dollars of [0.5, 0.25]) {
    for (const one of [first, second]) one.keep(spendOf('usr_2', { dollars }));
  }
  await second.settle(spendOf('usr_2'));
  // As answers come: some in one turn of the event loop, the others each in a turn of its own.
  await Promise.all(Array.from({ length: Number(count) / 2 }, settle));
  for (let at = 0; at < Number(count) / 2; at += 1) await settle();
  print('settled');
  setInterval(() => {}, 1000);
`;

test('nothing that was settled, or told of, is lost when replicas are killed before they moved it', async () => {
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
    const totalsOf = async (subject: string) => {
      const days = { from: '2000-01-01', to: '2999-12-31', groupBy: 'day' } as const;
      return (await money.ledger.report({ ...days, subject, limit: 10, offset: 0 })).totals;
    };
    expect(await totalsOf('usr_1')).toMatchObject({ requests: 6_702, dollars: 67.02 });
    // Of each replica what it had settled, and what it had told last of the answer that it gave.
    expect(await totalsOf('usr_2')).toMatchObject({ requests: 6, dollars: 0.78 });
  }
  const left = await readdir(join(dataFolder, 'gateway'));
  expect(left.filter((name) => /\.(journal|unfinished)$/.test(name))).toEqual([]);
  await rm(dataFolder, { recursive: true });
});
