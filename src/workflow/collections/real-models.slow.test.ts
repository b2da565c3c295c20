import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../kit/client.ts';
import type { Database } from '../../kit/database/database.ts';
import { openTestTables } from '../../kit/database/testing.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { listenAnywhere, silentLog, startService } from '../../kit/testing.ts';
import { gatewayContract } from '../../gateway/contract.ts';
import { startGateway } from '../../gateway/testing.ts';
import { meshContract } from '../../mesh/contract.ts';
import { mesh } from '../../mesh/service.ts';
import { aiComponents, type AiDependencies } from '../components/ai/ai-components.ts';
import { runComponent } from '../components/cms/testing.ts';
import { createAgentTask } from '../components/tools/agent-task.ts';
import { Collections } from './collections.ts';
import type { EmbeddingsClient } from '../../kit/vectors/embed-texts.ts';
import { startModels } from '../../models/testing.ts';
import { openCollectionTables } from './testing.ts';

const lifetime = new Lifetime(silentLog);
const author = { subject: 'usr_1', isAdministrator: false };
let sql: Database;
let models: Awaited<ReturnType<typeof startModels>>;
let collections: Collections;
let ai: AiDependencies;

beforeAll(async () => {
  sql = lifetime.own('the database', await openCollectionTables());
  models = lifetime.own('models', await startModels());
  collections = new Collections({ sql, models: models.client });
  const gateway = lifetime.own('the gateway', await startGateway());
  const { url, issuer, host } = gateway;
  const token = () => issuer.sign();
  const client = createClient(gatewayContract, { baseUrl: url, token, tracer: host.tracer });
  const { data } = await models.client.listModels({});
  const chats = data.filter(({ capabilities }) => capabilities.includes('completion'));
  await gateway.put('here', {
    dialect: 'openai',
    baseUrl: `${models.url}/v1`,
    apiKey: await models.token(),
    models: chats.map(({ id: name }) => ({ name, inputCostPerMToken: 0, outputCostPerMToken: 0 })),
  });
  ai = { gateway: client, models: models.client, collections };
});

afterAll(() => lifetime[Symbol.asyncDispose]());

const run = (name: string, data: Readonly<Record<string, unknown>>) =>
  runComponent(aiComponents(ai), { name, data, context: { timeoutMs: 110_000 } });

test('the embedder that comes with the product finds texts by meaning', async () => {
  await collections.create({ name: 'handbook' }, author);
  const documents = [
    { id: 'invoice', content: 'Invoices are paid within thirty days after they arrive.' },
    { id: 'holiday', content: 'Every employee has thirty days of vacation a year.' },
    { id: 'fire', content: 'When the fire alarm rings, leave the building at once.' },
  ];
  await collections.upsert('handbook', { documents, author });
  const ask = async (query: string) => {
    const { output } = await run('VectorSearch', { query, collection: 'handbook', limit: 1 });
    return output.results[0].id;
  };
  expect(await ask('How much time off do workers get?')).toBe('holiday');
  expect(await ask('What to do in an emergency with smoke')).toBe('fire');
  expect(await ask('payment of a bill')).toBe('invoice');
});

test('texts become vectors of the length that the embedder names', async () => {
  const { output } = await run('Embeddings', { texts: ['a ship', 'a boat'] });
  expect(output.vectors).toHaveLength(2);
  expect(output.vector).toHaveLength(output.dimensions);
  expect(Math.hypot(...output.vector)).toBeCloseTo(1);
});

test('a model that nobody has embeds nothing', async () => {
  await collections.create({ name: 'odd', model: 'no-such-model' }, author);
  const upsert = collections.upsert('odd', { documents: [{ content: 'a' }], author });
  await expect(upsert).rejects.toMatchObject({ reason: 'model_not_found' });
});

test('the built-in model answers through the gateway, at no cost', async () => {
  const { output, usage } = await run('LLMNode', { prompt: 'Say something.', maxTokens: 8 });
  expect(output.text).not.toBe('');
  expect(usage).toMatchObject({ cost: 0, model: output.model });
  expect(output.usage.completionTokens).toBeGreaterThan(0);
}, 120_000);

test('no provider of the default run makes images', async () => {
  await expect(run('ImageGen', { prompt: 'a cat' })).rejects.toMatchObject({
    reason: 'provider_not_configured',
  });
});

test('an agent of the mesh works through the gateway, once for one key', async () => {
  const tables = lifetime.own(
    'the database of the mesh',
    await openTestTables('mesh', mesh.migrations),
  );
  const running = lifetime.own(
    'the mesh',
    await startService(mesh, { database: tables, environment: { MESH_ASSISTANT: 'off' } }),
  );
  const baseUrl = await listenAnywhere(running.host.http);
  const token = () => running.issuer.sign({ permissions: ['mesh:communicate'] });
  const client = createClient(meshContract, { baseUrl, token, tracer: running.host.tracer });
  const agentTask = createAgentTask(client);
  const nobody = { name: 'AgentTask', data: { capability: 'juggling', timeout: 500 } };
  await expect(runComponent([agentTask], nobody)).rejects.toMatchObject({ code: 'not_found' });
  const agentId = 'echo-1';
  const headers = { authorization: `Bearer ${await token()}`, 'content-type': 'application/json' };
  const call = async (path: string, body?: unknown) => {
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(baseUrl + path, { headers, ...sent });
    expect(answer.status).toBeLessThan(300);
    return answer.json();
  };
  const capabilities = ['echo'];
  await call('/api/v1/agents/register', { agentId, capabilities, endpoints: {} });
  const data = { agent: agentId, type: 'echo', input: { text: 'hi' }, timeout: 20_000 };
  const context = { timeoutMs: 30_000 };
  const asking = runComponent([agentTask], { name: 'AgentTask', data, context });
  const { tasks } = await call(`/api/v1/agents/${agentId}/inbox?wait=10`);
  expect(tasks).toMatchObject([{ type: 'echo', input: { text: 'hi' } }]);
  await call(`/api/v1/agents/${agentId}/inbox/${tasks[0].taskId}`, { result: { text: 'HI' } });
  const { output } = await asking;
  expect(output).toMatchObject({ result: { text: 'HI' }, executedBy: agentId });
  const again = await runComponent([agentTask], { name: 'AgentTask', data, context });
  expect(again.output).toEqual(output);
});

test('100,000 documents are searched in bounded memory, kept or not', async () => {
  const dimensions = 64;
  const count = 100_000;
  await collections.create({ name: 'many' }, author);
  await sql.query(
    `update workflow.collections set model = 'm', dimensions = $1, revision = 1
     where name = 'many'`,
    [dimensions],
  );
  await sql.query(
    `insert into workflow.collection_documents
     select c.id, 'd' || n, 'document ' || n, '{}', 1, 1, now(), now()
     from workflow.collections c, generate_series(1, $1::integer) n where c.name = 'many'`,
    [count],
  );
  // Document n points to where n mod 64 says, and a little beside, by how much n div 64 says.
  const bytes = (n: number) => {
    const vector = new Float32Array(dimensions);
    const beside = Math.floor(n / dimensions) / 1_600;
    vector[n % dimensions] = Math.sqrt(1 - beside * beside);
    vector[(n + 1) % dimensions] = beside;
    return Buffer.from(vector.buffer).toString('base64');
  };
  for (let from = 1; from <= count; from += 10_000) {
    const rows = Array.from({ length: 10_000 }, (_, at) => ({ n: from + at, v: bytes(from + at) }));
    await sql.query(
      `insert into workflow.collection_chunks
       select c.id, 'd' || r.n, 0, null, decode(r.v, 'base64')
       from workflow.collections c, json_to_recordset($1::json) as r (n integer, v text)
       where c.name = 'many'`,
      [JSON.stringify(rows)],
    );
  }
  const towards: EmbeddingsClient = {
    createEmbeddings: async () => {
      const embedding = Array.from({ length: dimensions }, (_, at) => (at === 5 ? 1 : 0));
      const data = [{ object: 'embedding' as const, index: 0, embedding }];
      const usage = { prompt_tokens: 1, total_tokens: 1 };
      return { object: 'list', data, model: 'm', dimensions, normalised: true, usage };
    },
  };
  const search = { query: 'five', limit: 3 };
  const expected = ['d5', 'd69', 'd133'];
  const ids = (hits: readonly { readonly id: string }[]) => hits.map(({ id }) => id);
  const kept = new Collections({ sql, models: towards });
  expect(ids(await kept.search('many', search))).toEqual(expected);
  expect(ids(await kept.search('many', search))).toEqual(expected);
  const small = new Collections({ sql, models: towards, cacheBytesMax: 1_000_000 });
  expect(ids(await small.search('many', search))).toEqual(expected);
}, 120_000);
