import { afterAll, beforeAll, expect, test } from 'vitest';
import { Tracer } from '../../kit/trace/trace.ts';
import { startGateway } from '../../gateway/testing.ts';
import { createCallerClients } from '../caller-clients.ts';
import { aCaller } from '../voice/testing.ts';
import { GatewayModels } from './gateway-models.ts';

let gateway: Awaited<ReturnType<typeof startGateway>>;

beforeAll(async () => {
  gateway = await startGateway();
  const prices = { inputCostPerMToken: 0.15, outputCostPerMToken: 0.6 };
  const base = { dialect: 'openai', baseUrl: 'http://127.0.0.1:9/v1' };
  const shared = { name: 'shared', ...prices, contextWindow: 4_096 };
  const own = { ...shared, name: 'own', maxOutput: 1_024, capabilities: ['chat', 'tools'] };
  await gateway.put('one', { ...base, models: [own, shared] });
  await gateway.put('two', { ...base, models: [shared] });
});

afterAll(() => gateway[Symbol.asyncDispose]());

function modelsAt(url: string): GatewayModels {
  const peers = [{ name: 'gateway', url, grants: [] }];
  return new GatewayModels(createCallerClients({ peers, tracer: new Tracer(() => {}) }));
}

test('the gateway’s models are listed once each, with what they cost and hold', async () => {
  const caller = { ...aCaller('usr_one'), credential: gateway.user };
  const models = await modelsAt(gateway.url).list(caller);
  expect(models.map(({ id }) => id)).toEqual(['own', 'one/shared', 'two/shared']);
  expect(models[0]).toEqual({
    id: 'own',
    name: 'own',
    provider: 'one',
    contextWindow: 4_096,
    maxOutput: 1_024,
    capabilities: ['chat', 'tools'],
    costPer1kTokens: { input: 0.00015, output: 0.0006 },
    isPriceUnknown: false,
  });
  expect(models[1]).toMatchObject({ maxOutput: 4_096 });
});

test('a caller whom the gateway does not know is refused, and the gateway’s absence is told', async () => {
  const refused = modelsAt(gateway.url).list({ ...aCaller('usr_one'), credential: 'a.b.c' });
  await expect(refused).rejects.toMatchObject({ code: 'unauthenticated' });
  const away = modelsAt('http://127.0.0.1:9').list(aCaller('usr_one'));
  await expect(away).rejects.toMatchObject({ code: 'unavailable' });
});
