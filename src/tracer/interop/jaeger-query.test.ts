import { expect, test } from 'vitest';
import { readDuration, readJaegerQuery, readTraceId } from './jaeger-query.ts';

const now = 1_700_000_000_000;

test.each([
  [{ start: 'yesterday' }, 'start must be a whole number'],
  [{ end: '1e3' }, 'end must be a whole number'],
  [{ limit: '0' }, 'limit must be a whole number above 0'],
  [{ limit: '2.5' }, 'limit must be'],
  [{ minDuration: '5' }, 'minDuration must be a duration'],
  [{ maxDuration: '1 s' }, 'maxDuration must be a duration'],
  [{ minDuration: `${'9'.repeat(30)}w` }, 'minDuration must be below 285 years'],
  [{ lookback: '15000w' }, 'lookback must be below 285 years'],
  [{ lookback: 'long' }, 'lookback must be a duration'],
  [{ tag: 'novalue' }, 'tag must be <key>:<value>'],
  [{ tag: ':value' }, 'tag must be <key>:<value>'],
  [{ tags: '{' }, 'tags must be a JSON object'],
  [{ tags: '[]' }, 'tags must be a JSON object'],
  [{ tags: '{"a":{}}' }, 'tags must hold texts, also at a'],
  [{ traceID: 'xyz' }, 'traceID must be 1 to 32 hexadecimal digits'],
])('%j is refused by name', (query, message) => {
  expect(() => readJaegerQuery(query, now)).toThrow(message);
});

test('what Grafana sends of an empty form is a search of the last two days', () => {
  expect(readJaegerQuery({}, now)).toEqual({
    traceIds: [],
    limit: 20,
    criteria: { fromUs: now * 1000 - 48 * 3_600_000_000, toUs: now * 1000, tags: {} },
  });
});

test('what Jaeger UI sends is read', () => {
  const query = {
    service: 'api',
    operation: 'GET /',
    tags: '{"http.status_code":"500","n":1,"ok":true}',
    tag: ['a:b:c', 'd:'],
    start: '1000',
    end: '2000',
    minDuration: '1.5ms',
    maxDuration: '',
    limit: '5000',
    lookback: 'custom',
    traceID: ['AB', ''],
  };
  expect(readJaegerQuery(query, now)).toEqual({
    traceIds: [`${'0'.repeat(30)}ab`],
    limit: 1500,
    criteria: {
      service: 'api',
      operation: 'GET /',
      fromUs: 1000,
      toUs: 2000,
      durationUsMin: 1500,
      durationUsMax: undefined,
      tags: { 'http.status_code': '500', n: '1', ok: 'true', a: 'b:c', d: '' },
    },
  });
});

test('a lookback counts from the end', () => {
  expect(readJaegerQuery({ end: '7200000000', lookback: '1h' }, now).criteria).toMatchObject({
    fromUs: 3_600_000_000,
    toUs: 7_200_000_000,
  });
  expect(readJaegerQuery({ operation: 'all' }, now).criteria.operation).toBeUndefined();
});

test.each([
  ['200ms', 200_000],
  ['1h30m', 5_400_000_000],
  ['2d', 172_800_000_000],
  ['1.5us', 2],
  ['1ns', 1],
  ['0.1ns', 0],
  ['1.0005ms', 1_001],
  ['16.1ms', 16_100],
  ['3µs', 3],
  ['1m1ms', 60_001_000],
])('%s is %d microseconds', (text, microseconds) => {
  expect(readDuration('x', text)).toBe(microseconds);
});

test('bounds between two microseconds take the spans between them only', () => {
  const query = { minDuration: '4.5us', maxDuration: '7.9us', end: '100', lookback: '1500ns' };
  expect(readJaegerQuery(query, now).criteria).toMatchObject({
    durationUsMin: 5,
    durationUsMax: 7,
    fromUs: 98,
  });
});

test('a trace id is padded to 32 digits', () => {
  expect(readTraceId('Ff')).toBe(`${'0'.repeat(30)}ff`);
  expect(() => readTraceId('')).toThrow('traceID');
});
