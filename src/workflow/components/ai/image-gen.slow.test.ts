import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { json, startGateway, startProvider } from '../../../gateway/testing.ts';
import { Lifetime } from '../../../kit/lifecycle.ts';
import { silentLog } from '../../../kit/testing.ts';
import { startWorkflow, type Caller } from '../../testing.ts';

const lifetime = new Lifetime(silentLog);
let provider: Awaited<ReturnType<typeof startProvider>>;
let gateway: Awaited<ReturnType<typeof startGateway>>;
let ada: Caller;

beforeAll(async () => {
  provider = lifetime.own('the provider', await startProvider());
  gateway = lifetime.own('the gateway', await startGateway());
  const token = () => gateway.issuer.sign({ sub: 'svc_workflow' });
  const peers = { gateway: gateway.url };
  const workflow = lifetime.own('the workflows', await startWorkflow({ peers, token }));
  ada = await workflow.callAs('usr_ada');
});

beforeEach(() => {
  provider.received.length = 0;
});

afterAll(() => lifetime[Symbol.asyncDispose]());

const offer = () =>
  gateway.put('painter', {
    dialect: 'openai',
    baseUrl: `${provider.url}/v1`,
    models: [
      { name: 'pixels', capabilities: ['image'], inputCostPerMToken: 5, outputCostPerMToken: 40 },
    ],
  });

const usage = { input_tokens: 10, output_tokens: 1_000, total_tokens: 1_010 };
const made = (image: unknown) => json({ created: 1, data: [image], usage });

/** Saves and runs a flow that draws, and reads the address of the picture behind it. */
async function draw(data: Readonly<Record<string, unknown>> = {}) {
  const flow = {
    nodes: [
      { id: 'draw', type: 'ImageGen', data: { prompt: 'A {{ inputs.what }}', ...data } },
      { id: 'show', type: 'Merge', data: { inputs: { at: '{{ draw.image_url }}' } } },
    ],
    edges: [{ source: 'draw', target: 'show' }],
  };
  const saved = await ada('POST', '/api/v1/workflows', { body: { name: 'Draw', flow } });
  expect(saved).toMatchObject({ status: 201 });
  const path = `/api/v1/workflows/${saved.body.id}/execute`;
  const started = await ada('POST', path, { body: { inputs: { what: 'cat' } } });
  const { executionId } = started.body;
  const { body } = await ada('GET', `/api/v1/executions/${executionId}?wait=20`);
  return body;
}

describe('a flow that draws', () => {
  test('fails where no provider makes images', async () => {
    const body = await draw();
    expect(body).toMatchObject({
      status: 'failed',
      error: { nodeId: 'draw', code: 'PROVIDER_NOT_CONFIGURED' },
    });
    expect(provider.received).toEqual([]);
  });

  test('fails for a picture that is larger than an output, and counts what it cost', async () => {
    await offer();
    provider.script(made({ b64_json: 'A'.repeat(8 * 1024 * 1024) }));
    const body = await draw();
    expect(body).toMatchObject({
      status: 'failed',
      error: { nodeId: 'draw', code: 'OUTPUT_TOO_LARGE' },
      cost: 0.040_05,
    });
    expect(provider.received).toHaveLength(1);
  });

  test('tells what it cost, who drew, and hands the picture on', async () => {
    await offer();
    provider.script(made({ b64_json: '/9j/AA==' }));
    const body = await draw({ format: 'jpeg' });
    expect(body).toMatchObject({ status: 'completed', cost: 0.040_05, tokensUsed: 1_010 });
    const [drawn, shown] = body.nodes;
    expect(drawn).toMatchObject({
      nodeId: 'draw',
      status: 'completed',
      modelUsed: 'pixels',
      tokensUsed: 1_010,
      cost: 0.040_05,
      output: { image_url: 'data:image/jpeg;base64,/9j/AA==', provider: 'painter' },
    });
    expect(shown.output.merged).toEqual({ at: 'data:image/jpeg;base64,/9j/AA==' });
    expect(provider.received[0]?.body).toEqual({
      model: 'pixels',
      prompt: 'A cat',
      output_format: 'jpeg',
    });
    const spend = await gateway.asAdmin('GET', '/api/v1/spend?subject=svc_workflow&groupBy=model');
    expect(spend.body.spend).toMatchObject([{ group: 'pixels', requests: 2 }]);
  });
});
