import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import { SpanStatusCode } from '../../kit/trace/trace.ts';
import type { Clock } from './clock.ts';
import { makeComponent, makePlan, openEngineGround, openTestEngine, startOf } from './testing.ts';

let ground: Awaited<ReturnType<typeof openEngineGround>>;

beforeAll(async () => {
  ground = await openEngineGround();
});
afterAll(() => ground[Symbol.asyncDispose]());

const noop = makeComponent('NoOp');
const broken = makeComponent('Broken', {
  run: () => {
    throw new Fault('upstream', 'the other side said no');
  },
});

/** Time that passes only when it is told to. */
function makeClock() {
  let nowMs = 1_800_000_000_000;
  let timers: { readonly atMs: number; readonly callback: () => void }[] = [];
  const clock: Clock = {
    nowMs: () => nowMs,
    after: (delayMs, callback) => {
      const timer = { atMs: nowMs + delayMs, callback };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    random: () => 0.5,
  };
  const advance = (ms: number): void => {
    nowMs += ms;
    const due = timers.filter(({ atMs }) => atMs <= nowMs);
    timers = timers.filter(({ atMs }) => atMs > nowMs);
    for (const { callback } of due) callback();
  };
  return { clock, advance };
}

describe('what an execution tells', () => {
  it('is one trace with whoever caused it, each node a child of the execution', async () => {
    const { engine, run, spans } = await openTestEngine(ground);
    ground.plans.set('traced', makePlan({ nodes: { a: noop, b: broken }, edges: ['a>b'] }));
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const traceparent = `00-${traceId}-b7ad6b7169203331-01`;
    await run('traced', { traceparent });
    await engine[Symbol.asyncDispose]();
    const shown = spans.map(({ name, parentSpanId, status }) => [name, parentSpanId, status.code]);
    const execution = spans.find(({ name }) => name === 'workflow execution');
    expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
    expect(shown).toEqual([
      ['node NoOp', execution?.spanId, SpanStatusCode.UNSET],
      ['node Broken', execution?.spanId, SpanStatusCode.ERROR],
      ['workflow execution', 'b7ad6b7169203331', SpanStatusCode.ERROR],
    ]);
  });

  it('is counted by its end, and its nodes by their component', async () => {
    const { engine, run, metrics } = await openTestEngine(ground);
    ground.plans.set('good', makePlan({ nodes: { a: noop, b: noop }, edges: ['a>b'] }));
    ground.plans.set('bad', makePlan({ nodes: { a: broken }, edges: [] }));
    await run('good');
    await run('bad');
    await engine[Symbol.asyncDispose]();
    const text = await metrics.text();
    expect(text).toContain('workflow_executions_total{status="completed"} 1');
    expect(text).toContain('workflow_executions_total{status="failed"} 1');
    expect(text).toContain('workflow_node_seconds_count{component="NoOp"} 2');
    expect(text).toContain('workflow_node_seconds_count{component="Broken"} 1');
    expect(text).toContain('workflow_active 0');
  });

  it('says before each further attempt how long it waits, and waits that long', async () => {
    const { clock, advance } = makeClock();
    const { engine } = await openTestEngine(ground, { clock });
    const attempts: number[] = [];
    const flaky = makeComponent('Flaky', {
      run: (_data, { attempt }) => {
        attempts.push(attempt);
        if (attempt < 3) throw new Fault('unavailable', 'not yet');
        return { kind: 'done', output: attempt };
      },
    });
    const retry = { enabled: true, maxAttempts: 3, backoff: 'exponential', initialDelay: 40_000 };
    ground.plans.set(
      'patient',
      makePlan({ nodes: { a: { component: flaky, retry: retry as never } }, edges: [] }),
    );
    const { id } = await engine.start(startOf('patient'));
    const told: unknown[] = [];
    for await (const { type, attempt, delay } of engine.follow(id, 0, AbortSignal.timeout(9_000))) {
      if (type !== 'node-retrying') continue;
      told.push([attempt, delay]);
      await expect.poll(() => attempts.length).toBe(attempt);
      advance((delay ?? 0) - 1);
      expect(attempts).toHaveLength(attempt ?? 0);
      advance(1);
    }
    expect(told).toEqual([
      [1, 45_000],
      [2, 90_000],
    ]);
    expect(await engine.find(id)).toMatchObject({ status: 'completed', result: { a: 3 } });
    const [node] = await engine.nodeRuns(id);
    expect(node).toMatchObject({ attempt: 3, duration: 135_000 });
    await engine[Symbol.asyncDispose]();
  });
});
