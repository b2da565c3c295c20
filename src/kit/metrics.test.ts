import { expect, test } from 'vitest';
import type { Contract } from './contract.ts';
import { plainEnvelope } from './envelope.ts';
import { Metrics, metricsRoute } from './metrics.ts';
import { createTestServer } from './testing.ts';

test('a counter cannot go down', () => {
  const count = new Metrics().counter({ name: 'things_total', help: 'Things.' }).of();
  for (const by of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(() => count.inc(by)).toThrow(RangeError);
  }
});

test('label values that would break a line are escaped', async () => {
  const metrics = new Metrics();
  const things = metrics.counter({ name: 'things_total', help: 'A\\B\nC', labels: ['kind'] });
  things.of('a"b\\c\nd').inc();
  expect(await metrics.text()).toBe(
    [
      '# HELP things_total A\\\\B\\nC',
      '# TYPE things_total counter',
      'things_total{kind="a\\"b\\\\c\\nd"} 1',
      '',
    ].join('\n'),
  );
});

test('a family that gets too many label values counts the rest together', async () => {
  const metrics = new Metrics();
  const things = metrics.counter({ name: 'things_total', help: 'Things.', labels: ['a', 'b'] });
  for (let at = 0; at < 5_002; at += 1) things.of('x', String(at)).inc();
  things.of('x', '0').inc();
  const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('things'));
  expect(lines).toHaveLength(5_001);
  expect(lines[0]).toBe('things_total{a="x",b="0"} 2');
  expect(lines.at(-1)).toBe('things_total{a="other",b="other"} 2');
});

test('two instances count for themselves', async () => {
  const options = { name: 'things_total', help: 'Things.' };
  const [one, other] = [new Metrics(), new Metrics()];
  one.counter(options).of().inc(2.5);
  other.counter(options).of().inc();
  expect(await one.text()).toContain('things_total 2.5\n');
  expect(await other.text()).toContain('things_total 1\n');
});

test('a histogram counts each bucket with all below it', async () => {
  const metrics = new Metrics();
  const options = { name: 'wait_seconds', help: 'Waiting.', labels: ['at'], buckets: [0.5, 2] };
  const wait = metrics.histogram(options).of('door');
  for (const seconds of [0.1, 0.5, 1, 7]) wait.observe(seconds);
  const lines = (await metrics.text()).trim().split('\n');
  expect(lines.slice(1)).toEqual([
    '# TYPE wait_seconds histogram',
    'wait_seconds_bucket{le="0.5",at="door"} 2',
    'wait_seconds_bucket{le="2",at="door"} 3',
    'wait_seconds_bucket{le="+Inf",at="door"} 4',
    'wait_seconds_sum{at="door"} 8.6',
    'wait_seconds_count{at="door"} 4',
  ]);
});

test('a gauge is read anew each time, and what is gone is not shown', async () => {
  const metrics = new Metrics();
  let open = ['a', 'b'];
  metrics.gauge({ name: 'open', help: 'Open.', labels: ['door'] }, (set) => {
    for (const door of open) set(1, door);
  });
  expect(await metrics.text()).toContain('open{door="a"} 1\nopen{door="b"} 1\n');
  open = ['b'];
  expect(await metrics.text()).not.toContain('door="a"');
});

test('the route answers the text format to this machine, and to others for a token', async () => {
  const contract = {
    name: 'things',
    title: 'Things',
    version: '1.0.0',
    description: 'Things for tests.',
    error: plainEnvelope.schema,
    routes: { metrics: metricsRoute('/api/v1/metrics') },
  } as const satisfies Contract;
  const { http, issuer } = await createTestServer(contract);
  const metrics = new Metrics();
  metrics.counter({ name: 'things_total', help: 'Things.' }).of().inc();
  http.serve(contract, { metrics: () => metrics.answer() });
  const far = { url: '/api/v1/metrics', remoteAddress: '10.0.0.1' };
  expect((await http.app.inject(far)).statusCode).toBe(401);
  const authorization = `Bearer ${await issuer.sign()}`;
  expect((await http.app.inject({ ...far, headers: { authorization } })).statusCode).toBe(200);
  const answer = await http.app.inject('/metrics');
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(answer.headers['x-ratelimit-limit']).toBeUndefined();
  expect(answer.payload).toContain('things_total 1\n');
  await http.close(0);
});
