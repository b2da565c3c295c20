import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import {
  bottlenecks,
  change,
  extent,
  traceComparison,
  whatIf,
  windowComparison,
} from './explain-answers.ts';

const reading = 'tracer:read';
const tracePath = '/api/v1/traces/:traceId';

const traceId = Type.String({
  pattern: '^[0-9a-fA-F]{32}$',
  description: '32 hexadecimal digits',
});
const params = Type.Object({ traceId });

const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)`;
const range = Type.String({
  pattern: `^${time}/${time}$`,
  description:
    'two times (ISO 8601, with Z or an offset) with a slash between: `2026-11-21T10:00:00Z/2026-11-21T11:00:00Z`',
});

/** The routes that explain where time went. */
export const explainRoutes = {
  readBottlenecks: {
    method: 'GET',
    url: `${tracePath}/bottlenecks`,
    summary: 'Say what made a trace slow or fail, and what to do about it',
    permission: reading,
    schema: { params, response: { 200: bottlenecks } },
  },
  projectTrace: {
    method: 'POST',
    url: `${tracePath}/what-if`,
    summary: 'Say how long a trace would have taken with some of its spans faster or slower',
    permission: reading,
    schema: {
      params,
      body: Type.Object({
        changes: Type.Array(Type.Object({ ...change, extent: Type.Optional(extent) }), {
          minItems: 1,
          maxItems: 20,
        }),
      }),
      response: { 200: whatIf },
    },
  },
  compareTraces: {
    method: 'GET',
    url: '/api/v1/traces/compare',
    summary: 'Say what makes one trace longer or shorter than another',
    permission: reading,
    schema: {
      query: Type.Object({ base: traceId, other: traceId }),
      response: { 200: traceComparison },
    },
  },
  compareRanges: {
    method: 'GET',
    url: '/api/v1/metrics/compare',
    summary: 'Say which operations changed between two ranges of time',
    description:
      'Whole minutes are counted, of ranges that begin over 7 days ago whole hours, over 30 days ago whole days. The answer says which time that is of each range; all comparisons are by its length.',
    permission: reading,
    schema: {
      query: Type.Object({ base: range, other: range }),
      response: { 200: windowComparison },
    },
  },
} as const satisfies Record<string, Route>;
