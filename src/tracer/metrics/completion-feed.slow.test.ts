import { expect, test } from 'vitest';
import { openBus } from '../../kit/bus/open-bus.ts';
import { silentLog } from '../../kit/testing.ts';
import { baseMs, exportOf, newTraceId, startTracer, type Answer } from '../testing.ts';
import { openTracerDatabase } from '../series/testing.ts';

test('live metrics of a replica hold the traces of all that share a bus, each once', async () => {
  await using database = await openTracerDatabase();
  await using bus = await openBus({ log: silentLog });
  await using one = await startTracer({ database, bus });
  await using other = await startTracer({ database, bus });
  const traceId = newTraceId();
  // It ends after both have begun: its clock is ahead, so it counts at present.
  const from = Date.now() - baseMs;
  const root = { traceId, spanId: '1'.repeat(16), from, to: from + 600_000 };
  await one.send(exportOf('live-shop', [root]));
  const isCounted = ({ topAgents }: Answer) => topAgents.length > 0;
  const [here, there] = await Promise.all([
    one.until('/api/v1/metrics/live', isCounted),
    other.until('/api/v1/metrics/live', isCounted),
  ]);
  for (const { topAgents } of [here, there]) {
    expect(topAgents).toEqual([expect.objectContaining({ agentId: 'live-shop' })]);
  }
  const rateOf = async (tracer: typeof one) => {
    const { body } = await tracer.call('GET', '/api/v1/metrics/live');
    return body.metrics.requestsPerSecond;
  };
  expect(await rateOf(one)).toBeLessThanOrEqual(1);
  expect(await rateOf(other)).toBeLessThanOrEqual(1);
});
