import { beforeEach, expect, test } from 'vitest';
import type { Standing } from '../measure/standing.ts';
import { targetId, type Provider } from '../providers/provider.ts';
import { GatewayMetrics } from './gateway-metrics.ts';

const healthy: Standing = {
  inFlight: 0,
  firstTokenMs: undefined,
  tokensPerSecond: undefined,
  latencyMs: undefined,
  availability: 1,
  recentAttempts: 0,
  requestsPerMinute: 0,
  circuit: 'closed',
  waitMs: 0,
  closedBecause: undefined,
  lastFailure: undefined,
};

const openai: Provider = {
  name: 'openai',
  dialect: 'openai',
  baseUrl: 'http://openai.test/v1',
  keys: [],
  models: new Map(
    ['small', 'large'].map((name) => [
      name,
      {
        name,
        capabilities: new Set(['chat'] as const),
        prices: { input: 1, output: 2 },
        quality: 0.5,
        contextWindow: 1_000,
        createdAt: 0,
      },
    ]),
  ),
  weight: 1,
  priority: 0,
  timeouts: { firstTokenMs: 1, idleMs: 1, totalMs: 1 },
  origin: 'api',
  headers: {},
};

let standings: Record<string, Partial<Standing>>;
let metrics: GatewayMetrics;

beforeEach(() => {
  standings = {};
  metrics = new GatewayMetrics({
    providers: { all: () => [openai], find: () => openai, targetsOf: () => [] },
    standings: { of: (target) => ({ ...healthy, ...standings[targetId(target)] }) },
  });
});

/** The lines of one metric that say a number. */
async function linesOf(name: string): Promise<string[]> {
  const text = await (await metrics.answer()).text();
  return text.split('\n').filter((line) => new RegExp(`^${name}[ {]`).test(line));
}

const answered = {
  provider: 'openai',
  model: 'small',
  seconds: 1.5,
  firstTokenSeconds: 0.2,
  usage: { inputTokens: 12, outputTokens: 30 },
  dollars: 0.25,
  outcome: 'complete',
} as const;

test('a refusal before any provider is counted under none', async () => {
  metrics.failed({ kind: 'invalid', seconds: 0.001 });
  expect(await linesOf('gateway_requests_total')).toEqual([
    'gateway_requests_total{provider="none",model="none"} 1',
  ]);
  expect(await linesOf('gateway_outcomes_total')).toEqual([
    'gateway_outcomes_total{provider="none",outcome="invalid"} 1',
  ]);
});

test('a request that failed is counted under the provider tried last, with its time', async () => {
  metrics.attempted('openai', 'late');
  metrics.retried('openai');
  metrics.attempted('openai', 'broken');
  metrics.failed({ kind: 'upstream', seconds: 3, provider: 'openai', model: 'small' });
  expect(await linesOf('gateway_requests_total')).toEqual([
    'gateway_requests_total{provider="openai",model="small"} 1',
  ]);
  expect(await linesOf('gateway_latency_seconds_sum')).toEqual([
    'gateway_latency_seconds_sum{provider="openai"} 3',
  ]);
  expect(await linesOf('gateway_attempts_total')).toEqual([
    'gateway_attempts_total{provider="openai",outcome="late"} 1',
    'gateway_attempts_total{provider="openai",outcome="broken"} 1',
  ]);
  expect(await linesOf('gateway_retries_total')).toEqual([
    'gateway_retries_total{provider="openai"} 1',
  ]);
});

test('the three metrics of the interface have their names and labels', async () => {
  metrics.answered(answered);
  metrics.answered({ ...answered, model: 'large', outcome: 'aborted' });
  expect(await linesOf('gateway_requests_total')).toEqual([
    'gateway_requests_total{provider="openai",model="small"} 1',
    'gateway_requests_total{provider="openai",model="large"} 1',
  ]);
  expect(await linesOf('gateway_cost_dollars')).toEqual([
    'gateway_cost_dollars{provider="openai"} 0.5',
  ]);
  const buckets = await linesOf('gateway_latency_seconds_bucket');
  expect(buckets).toContain('gateway_latency_seconds_bucket{le="1",provider="openai"} 0');
  expect(buckets).toContain('gateway_latency_seconds_bucket{le="2.5",provider="openai"} 2');
});

test('tokens and the time to the first one are counted', async () => {
  metrics.answered(answered);
  metrics.answered({ ...answered, firstTokenSeconds: undefined, usage: undefined });
  expect(await linesOf('gateway_tokens_total')).toEqual([
    'gateway_tokens_total{provider="openai",model="small",direction="input"} 12',
    'gateway_tokens_total{provider="openai",model="small",direction="output"} 30',
  ]);
  expect(await linesOf('gateway_first_token_seconds_count')).toEqual([
    'gateway_first_token_seconds_count{provider="openai"} 1',
  ]);
});

test('a cached answer is a request that costs nothing and says nothing of the provider', async () => {
  metrics.cacheAsked('miss');
  metrics.cacheAsked('hit');
  metrics.answered({ ...answered, outcome: 'cached' });
  expect(await linesOf('gateway_requests_total')).toEqual([
    'gateway_requests_total{provider="openai",model="small"} 1',
  ]);
  expect(await linesOf('gateway_cache_requests_total')).toEqual([
    'gateway_cache_requests_total{result="miss"} 1',
    'gateway_cache_requests_total{result="hit"} 1',
  ]);
  const rest = ['gateway_cost_dollars', 'gateway_latency_seconds_count', 'gateway_tokens_total'];
  for (const name of rest) {
    const counted = (await linesOf(name)).filter((line) => !line.endsWith(' 0'));
    expect(counted).toEqual([]);
  }
});

test('open circuits and requests on their way are read when somebody asks', async () => {
  standings['openai/small'] = { inFlight: 3, circuit: 'open' };
  standings['openai/large'] = { inFlight: 1, circuit: 'half-open' };
  expect(await linesOf('gateway_in_flight')).toEqual(['gateway_in_flight 4']);
  expect(await linesOf('gateway_circuit_open')).toEqual([
    'gateway_circuit_open{provider="openai",model="small"} 1',
    'gateway_circuit_open{provider="openai",model="large"} 0',
  ]);
  standings = {};
  expect(await linesOf('gateway_in_flight')).toEqual(['gateway_in_flight 0']);
});
