import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { openTestDatabase } from '../../kit/database/testing.ts';
import { aggregate } from '../metrics/aggregation.ts';
import { foldLog } from './fold.ts';
import { binOf } from './histogram.ts';
import { seriesIdOf } from './series-id.ts';
import { readStats } from './stats.ts';
import { addSamples, duration, preparePartitions } from './testing.ts';

const migrations = new URL('../migrations/', import.meta.url);
const nowMs = Date.parse('2026-11-21T10:30:20Z');
const nowMinute = Math.floor(nowMs / 60_000);

/** The migrations up to the one that is tried. */
async function copyFormer(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ennead-migrations-'));
  for (const name of await readdir(migrations)) {
    if (name < '005') await cp(new URL(name, migrations), join(folder, name));
  }
  return folder;
}

test('what was counted in rows of single cells is counted in blocks', async () => {
  await using database = await openTestDatabase();
  await database.query('drop schema if exists tracer cascade');
  const folder = await copyFormer();
  await database.migrate('tracer', pathToFileURL(`${folder}/`));
  await rm(folder, { recursive: true });
  const today = Math.floor(nowMinute / 1_440);
  const id = seriesIdOf('traceName', ['a']);
  await database.query(`insert into tracer.series values ($1, 'traceName', '{a}')`, [id]);
  const otherId = seriesIdOf('traceAgent', ['a']);
  const thirdId = seriesIdOf('traceAgent', ['b']);
  await database.query(
    `insert into tracer.series values ($1, 'traceAgent', '{a}'), ($2, 'traceAgent', '{b}')`,
    [otherId, thirdId],
  );
  for (const [level, days, bucket] of [
    ['minute', 1, nowMinute],
    ['hour', 5, nowMinute - (nowMinute % 60)],
    ['day', 30, nowMinute - (nowMinute % 1_440)],
  ] as const) {
    const first = today - (today % days);
    await database.query('select tracer.open_partitions($1, $2, $3, $4, $5)', [
      `cell_${level}`,
      [`cell_${level}_${first}`],
      [first * 1_440],
      days * 1_440,
      '',
    ]);
    await database.query(
      `insert into tracer.cell_${level} values ($1, $2, 3, 1, 9000.5, $3, '{2,1}')`,
      [id, bucket, [binOf(1_000), binOf(7_000)]],
    );
    for (const agentId of [otherId, thirdId]) {
      await database.query(
        `insert into tracer.cell_${level} values ($1, $2, 2, 0, 8000, $3, '{2}')`,
        [agentId, bucket, [binOf(4_000)]],
      );
    }
  }

  await database.migrate('tracer', migrations);
  await preparePartitions(database, nowMs);
  await addSamples(database, [duration('traceName', ['a'], { atMs: nowMs, us: 1_000 })], { nowMs });
  const expected = {
    key: 'a',
    metrics: {
      totalRequests: 4,
      errorRate: 0.25,
      averageDuration: 2.5,
      p50Duration: expect.closeTo(1, 1),
      p99Duration: expect.closeTo(7, 0),
    },
  };
  const all = async () => {
    for (const timeRange of ['1h', '24h', '7d', '30d'] as const) {
      const query = { timeRange, groupBy: 'operation', metric: 'throughput', limit: 9 } as const;
      expect((await aggregate(database, query, nowMs)).aggregations).toMatchObject([expected]);
    }
  };
  await all();
  const day = { level: 'day', from: nowMinute - (nowMinute % 1_440), to: nowMinute } as const;
  for (const agent of ['a', 'b']) {
    const one = { kind: 'traceAgent', segments: [day], labels: [agent], limit: 9 } as const;
    expect(await readStats(database, one)).toMatchObject([
      { labels: [agent], count: 2, sum: 8000 },
    ]);
  }
  expect(await foldLog(database, nowMs)).toBe(false);
  await all();
});
