import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../kit/client.ts';
import { Fault } from '../../kit/errors.ts';
import { silentLog } from '../../kit/testing.ts';
import { Tracer } from '../../kit/trace/trace.ts';
import { meshContract } from '../../mesh/contract.ts';
import { MeasuredAgentHealths, type MetricsReader } from './measured-agent-healths.ts';
import { startScriptedMesh, type ScriptedMesh } from './scripted-mesh-testing.ts';
import { callerOf } from './testing.ts';

let mesh: ScriptedMesh;

beforeAll(async () => {
  mesh = await startScriptedMesh([
    { agentId: 'busy' },
    { agentId: 'unseen' },
    { agentId: 'gone', status: 'offline' },
  ]);
});
afterAll(async () => {
  await mesh?.[Symbol.asyncDispose]();
});

const sums = { calls: 3, inputTokens: 100, outputTokens: 20, costUsd: 1, pricedCalls: 3 };

type Listed = Awaited<ReturnType<MetricsReader['listTraces']>>;

/** A tracer that knows one busy agent, and what it was asked for. */
function open(listTraces?: MetricsReader['listTraces']) {
  const asked: unknown[] = [];
  const tracer: MetricsReader = {
    listTraces:
      listTraces ??
      (async ({ query }) => {
        asked.push(query);
        const isBusy = query.agentId === 'busy';
        const page = { page: 1, pageSize: 20 };
        if (!isBusy) return { traces: [], total: 0, ...page };
        // Only what is looked at.
        const traces = [{ traceId: 'a'.repeat(32) }, { traceId: 'b'.repeat(32) }];
        return { traces: traces as Listed['traces'], total: 960, ...page };
      }),
    getTrace: async ({ params }) => {
      asked.push(params.traceId);
      const spans = [
        { spanId: '1', agent: 'chat', status: 'error', durationUs: 9_000_000 },
        { spanId: '2', parentSpanId: '1', agent: 'slow', status: 'error', durationUs: 8_000_000 },
        { spanId: '3', parentSpanId: '1', agent: 'busy', status: 'success', durationUs: 100_000 },
        { spanId: '4', parentSpanId: '3', agent: 'busy', status: 'error', durationUs: 50_000 },
      ];
      const second = {
        spanId: '5',
        parentSpanId: '1',
        agent: 'busy',
        status: 'timeout',
        durationUs: 160_000,
      };
      const told = params.traceId.startsWith('a') ? spans : [...spans, second];
      return { spans: told } as Awaited<ReturnType<MetricsReader['getTrace']>>;
    },
    usageMetrics: async () => ({
      timeRange: '24h',
      startTime: '',
      endTime: '',
      groupBy: 'agent',
      usage: [{ key: 'busy', ...sums }],
      totals: sums,
    }),
  };
  const healths = new MeasuredAgentHealths({
    readerOf: ({ credential }) =>
      createClient(meshContract, {
        baseUrl: mesh.url,
        token: async () => credential,
        tracer: new Tracer(() => {}),
      }),
    tracer,
    log: silentLog,
  });
  return { find: (agentId: string) => healths.find(callerOf('ada'), agentId), asked };
}

test.each(['nobody', 'no id at all', '..'])('there is no agent called "%s"', async (agentId) => {
  await expect(open().find(agentId)).rejects.toMatchObject({ reason: 'agent_not_found' });
});

test('without the tracer the mesh’s part is told, and the rest is 0', async () => {
  const { find } = open(async () => {
    throw new Fault('unavailable', 'away');
  });
  expect(await find('busy')).toEqual({
    status: 'active',
    uptime: expect.any(Number),
    requestCount: 0,
    errorRate: 0,
    metrics: { latency: 0, throughput: 0, tokenUsage: 0 },
  });
});

test('what was measured of its own parts is told, what nobody measured is 0', async () => {
  mesh.readers.length = 0;
  const { find, asked } = open();
  const busy = await find('busy');
  expect(busy).toMatchObject({
    status: 'active',
    requestCount: 1_440,
    errorRate: 1 / 3,
    metrics: { latency: 120, throughput: 1, tokenUsage: 120 },
  });
  expect(busy.uptime).toBeGreaterThanOrEqual(60);
  expect(await find('unseen')).toMatchObject({ requestCount: 0, metrics: { tokenUsage: 0 } });
  expect(await find('gone')).toMatchObject({ status: 'offline', uptime: 0 });
  expect(await find('busy')).toEqual({ ...busy, uptime: expect.any(Number) });
  expect(asked).toHaveLength(5);
  expect(new Set(mesh.readers)).toEqual(new Set(['token of ada']));
});
