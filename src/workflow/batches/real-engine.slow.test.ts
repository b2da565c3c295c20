import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startTarget, type Target } from '../../kit/egress/testing.ts';
import { startWorkflow } from '../testing.ts';

let target: Target;
let service: Awaited<ReturnType<typeof startWorkflow>>;

beforeAll(async () => {
  target = await startTarget();
  service = await startWorkflow();
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await target[Symbol.asyncDispose]();
});

test('a batch, a callback and a webhook run real workflows', async () => {
  const call = await service.callAs('usr_a');
  const flow = {
    nodes: [
      {
        id: 'double',
        type: 'Transform',
        data: { expression: 'n = 3 ? $error("three") : n * 2', input: { n: 1 } },
      },
    ],
    edges: [],
  };
  const made = await call('POST', '/api/v1/workflows', {
    body: { name: 'double', description: 'd', category: 'test', flow },
  });
  expect(made.status).toBe(201);
  const { id } = made.body;
  const inputs = Array.from({ length: 6 }, (_, n) => ({ double: { input: { n } } }));
  const started = await call('POST', `/api/v1/workflows/${id}/batch`, {
    body: { inputs, options: { concurrency: 3, progressCallback: `${target.origin}/progress` } },
  });
  expect(started.status).toBe(202);
  const path = `/api/v1/batches/${started.body.batchId}`;
  await vi.waitFor(
    async () => expect((await call('GET', path)).body.status).toBe('completed'),
    20_000,
  );
  expect((await call('GET', path)).body.progress).toMatchObject({ completed: 5, failed: 1 });
  const { body: listed } = await call('GET', `${path}/items?status=failed`);
  expect(listed.items).toMatchObject([{ index: 3, error: { nodeId: 'double' } }]);
  expect((await call('POST', `${path}/resume`)).status).toBe(202);
  await vi.waitFor(
    async () => expect((await call('GET', path)).body.status).toBe('completed'),
    20_000,
  );
  expect((await call('GET', `${path}/items?status=failed`)).body.items).toMatchObject([
    { index: 3, executionId: listed.items[0].executionId },
  ]);
  await vi.waitFor(
    () =>
      expect(
        target.arrivals.filter(({ headers }) => headers['x-ennead-event'] === 'batch.ended'),
      ).toHaveLength(2),
    10_000,
  );

  const executed = await call('POST', `/api/v1/workflows/${id}/execute`, {
    body: { inputs: {}, options: { callbacks: { onComplete: `${target.origin}/complete` } } },
  });
  await vi.waitFor(
    () =>
      expect(target.arrivals.find((one) => one.path === '/complete')?.body).toContain(
        executed.body.executionId,
      ),
    10_000,
  );
  await vi.waitFor(async () => {
    const { body } = await call('GET', `/api/v1/executions/${executed.body.executionId}/callbacks`);
    expect(body.callbacks).toMatchObject([{ status: 'delivered', attempts: 1 }]);
  });

  const hook = await call('POST', `/api/v1/workflows/${id}/triggers`, {
    body: { type: 'webhook', inputs: { double: { input: '{{ body }}' } } },
  });
  expect(hook.status).toBe(201);
  const answer = await fetch(`${service.url}/api/v1/hooks/${hook.body.id}?wait=true`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-webhook-secret': hook.body.secret },
    body: '{"n": 21}',
  });
  expect(answer.status).toBe(200);
  expect(await answer.json()).toMatchObject({ status: 'completed' });
});
