import type { InputOf } from '../../api/contracts.ts';
import { readDuration } from '../parts/durations.ts';

/** How far back a search looks, in milliseconds; `custom` has times of its own. */
export const rangesMs = {
  '15m': 900_000,
  '1h': 3_600_000,
  '6h': 21_600_000,
  '24h': 86_400_000,
  '7d': 604_800_000,
} as const;

export type RangeName = keyof typeof rangesMs | 'custom';

export const pageSizes = [20, 50, 200, 1_000] as const;

const statuses = ['success', 'error', 'timeout'] as const;
export type Status = (typeof statuses)[number];

/** What a search asks for, as its address tells it; an empty text asks for nothing. */
export interface Filters {
  readonly service: string;
  readonly name: string;
  readonly agentId: string;
  readonly status: Status | '';
  /** As somebody wrote them: `250`, `1.5s`. */
  readonly min: string;
  readonly max: string;
  readonly range: RangeName;
  /** ISO 8601, of the range `custom`. */
  readonly from: string;
  readonly to: string;
  readonly page: number;
  readonly size: number;
  readonly isLive: boolean;
}

export const noFilters: Filters = {
  service: '',
  name: '',
  agentId: '',
  status: '',
  min: '',
  max: '',
  range: '24h',
  from: '',
  to: '',
  page: 1,
  size: 50,
  isLive: false,
};

/** Reads an address; what is not understood counts as not said. */
export function readFilters(parameters: URLSearchParams): Filters {
  const text = (name: string) => parameters.get(name) ?? '';
  const range = text('range');
  const size = Number(text('size'));
  return {
    service: text('service'),
    name: text('name'),
    agentId: text('agent'),
    status: statuses.find((status) => status === text('status')) ?? '',
    min: text('min'),
    max: text('max'),
    range: range === 'custom' || isRange(range) ? range : noFilters.range,
    from: text('from'),
    to: text('to'),
    page: Math.max(1, Math.trunc(Number(text('page'))) || 1),
    size: pageSizes.find((one) => one === size) ?? noFilters.size,
    isLive: text('live') === '1',
  };
}

/** The address of a search; it leaves out what is as ever. */
export function writeFilters(filters: Filters): URLSearchParams {
  const { agentId, isLive, page, size, range, from, to, ...texts } = filters;
  const pairs: Record<string, string> = {
    ...texts,
    agent: agentId,
    ...(range === noFilters.range ? {} : { range }),
    ...(range === 'custom' ? { from, to } : {}),
    ...(page === 1 ? {} : { page: String(page) }),
    ...(size === noFilters.size ? {} : { size: String(size) }),
    ...(isLive ? { live: '1' } : {}),
  };
  return new URLSearchParams(Object.entries(pairs).filter(([, value]) => value !== ''));
}

type TraceQuery = NonNullable<InputOf<'tracer', 'GET /api/v1/traces'>['query']>;

/** What the tracer is asked. */
export function toQuery(filters: Filters, nowMs: number): TraceQuery {
  const { service, name, agentId, status, min, max, page, size } = filters;
  return {
    limit: size,
    page,
    ...timesOf(filters, nowMs),
    ...(service ? { service } : {}),
    ...(name ? { name } : {}),
    ...(agentId ? { agentId } : {}),
    ...(status ? { status } : {}),
    ...durationOf('minDuration', min),
    ...durationOf('maxDuration', max),
  };
}

/** What is wrong with a search before anybody is asked; undefined when nothing is. */
export function flawOf({ min, max, range, from, to }: Filters): string | undefined {
  for (const text of [min, max]) {
    if (text !== '' && readDuration(text) === undefined) {
      return `“${text}” is no duration: write 250, 1.5s or 2 min`;
    }
  }
  const isBackwards = range === 'custom' && from !== '' && to !== '' && from >= to;
  return isBackwards ? 'the time range ends before it begins' : undefined;
}

function timesOf({ range, from, to }: Filters, nowMs: number): Partial<TraceQuery> {
  if (range !== 'custom') return { startTime: new Date(nowMs - rangesMs[range]).toISOString() };
  return { ...(from ? { startTime: from } : {}), ...(to ? { endTime: to } : {}) };
}

function durationOf(key: 'minDuration' | 'maxDuration', text: string): Partial<TraceQuery> {
  const ms = readDuration(text);
  return ms === undefined ? {} : { [key]: ms };
}

function isRange(text: string): text is keyof typeof rangesMs {
  return Object.hasOwn(rangesMs, text);
}
