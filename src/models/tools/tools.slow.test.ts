import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listenAnywhere, startService } from '../../kit/testing.ts';
import { randomModelFile, writeRandomModel } from '../random-model/random-gguf.ts';
import { models } from '../service.ts';

let service: Awaited<ReturnType<typeof startService>>;
let token: string;
let url: string;

beforeAll(async () => {
  const environment = { MODELS_THREADS: '1', MODELS_DEFAULT: 'ennead-random' };
  service = await startService(models, { environment });
  await writeRandomModel(join(service.host.dataFolder, 'models', randomModelFile));
  token = await service.issuer.sign();
  url = await listenAnywhere(service.host.http);
});
afterAll(() => service[Symbol.asyncDispose]());

interface Reply {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function send(method: 'GET' | 'POST', path: string, payload?: object): Promise<Reply> {
  const reply = await service.app.inject({
    method,
    url: path,
    headers: { authorization: `Bearer ${token}` },
    ...(payload ? { payload } : {}),
  });
  return { status: reply.statusCode, body: reply.json<Record<string, unknown>>() };
}

function invoke(tool: string, input?: object): Promise<Reply> {
  return send('POST', '/invoke', input ? { tool, input } : { tool });
}

const toolNames = ['generate', 'chat', 'embed', 'summarize', 'classify', 'list_models'];

describe('what is refused', () => {
  test('a caller without a token', async () => {
    for (const [method, path] of [
      ['POST', '/invoke'],
      ['GET', '/tools'],
      ['POST', '/mcp'],
    ] as const) {
      const payload = { tool: 'list_models' };
      const reply = await service.app.inject({
        method,
        url: path,
        ...(method === 'POST' ? { payload } : {}),
      });
      expect([path, reply.statusCode]).toEqual([path, 401]);
    }
  });

  test('an unknown tool, with the names of those that exist', async () => {
    const { status, body } = await invoke('paint', { prompt: 'a cat' });
    expect(status).toBe(404);
    expect(body['error']).toMatchObject({
      code: 'TOOL_NOT_FOUND',
      details: { param: 'tool', tools: toolNames },
    });
  });

  test('an unknown model', async () => {
    for (const tool of ['generate', 'summarize', 'embed']) {
      const { status, body } = await invoke(tool, { prompt: 'hello', model: 'nobody' });
      expect([tool, status]).toEqual([tool, 404]);
      expect(body['error']).toMatchObject({ code: 'MODEL_NOT_FOUND' });
    }
  });

  test.each([
    ['generate', {}, 'input'],
    ['generate', { prompt: '' }, 'input.prompt'],
    ['generate', { prompt: 'a', options: { temperature: 'hot' } }, 'input.options.temperature'],
    ['generate', { prompt: 'a', options: { temperature: null } }, 'input.options.temperature'],
    ['generate', { prompt: 'a', options: { maxTokens: -1 } }, 'input.options.maxTokens'],
    ['generate', { prompt: 'a', options: { topK: 1.5 } }, 'input.options.topK'],
    ['generate', { prompt: 'a', format: 'yaml' }, 'input.format'],
    ['chat', { messages: [] }, 'input.messages'],
    ['chat', { messages: [{ role: 'robot', content: 'a' }] }, 'input.messages.0.role'],
    ['chat', { messages: [{ role: 'tool', content: '7' }] }, 'input.messages.0.callId'],
    ['embed', { prompt: [] }, 'input.prompt'],
    ['embed', { prompt: 7 }, 'input.prompt'],
    ['embed', { prompt: ' ' }, 'input.prompt'],
    ['embed', { prompt: ['a', ''] }, 'input.prompt.1'],
    ['summarize', { prompt: 'a', maxWords: 0 }, 'input.maxWords'],
    ['classify', { prompt: 'a', labels: [] }, 'input.labels'],
    ['classify', { prompt: 'a', labels: ['x', 'x'] }, 'input.labels'],
  ])('input of %s that is not as its schema says: %j names %s', async (tool, input, field) => {
    const { status, body } = await invoke(tool, input);
    expect(status).toBe(400);
    expect(body['error']).toMatchObject({ code: 'VALIDATION_ERROR', details: { param: field } });
  });

  test('a prompt beyond the context, with the limit', async () => {
    const { status, body } = await invoke('summarize', { prompt: 'word '.repeat(9000) });
    expect(status).toBe(400);
    expect(body['error']).toMatchObject({ message: expect.stringMatching(/context.*\d+/) });
  });

  test('an embedding model that is asked to write, and a writing one to embed', async () => {
    const written = await invoke('generate', { prompt: 'a', model: 'ennead-embed' });
    expect(written.status).toBe(400);
    const { body } = await invoke('list_models');
    const { result } = body as { result: { model: string } };
    const embedded = await invoke('embed', { prompt: 'a', model: result.model });
    expect(embedded.status).toBe(400);
  });
});

describe('an invocation', () => {
  test('answers result, cost 0 and the measured duration', async () => {
    const startedAt = performance.now();
    const { status, body } = await invoke('generate', {
      prompt: 'Say something.',
      options: { maxTokens: 8, temperature: 0 },
    });
    const tookMs = performance.now() - startedAt;
    expect(status).toBe(200);
    expect(body).toEqual({
      result: {
        output: expect.stringMatching(/./),
        model: 'ennead-random',
        finishReason: 'length',
        usage: {
          promptTokens: expect.any(Number),
          completionTokens: 8,
          cachedPromptTokens: expect.any(Number),
        },
      },
      cost: 0,
      duration: expect.any(Number),
    });
    expect(body['duration']).toBeGreaterThan(0);
    expect(body['duration']).toBeLessThanOrEqual(tookMs);
  });

  test('of generate with raw continues the prompt as it stands, without the tokens of a template', async () => {
    const options = { maxTokens: 1, temperature: 0 };
    const [asked, continued] = await Promise.all([
      invoke('generate', { prompt: 'the', options }),
      invoke('generate', { prompt: 'the', raw: true, options }),
    ]);
    const tokensOf = ({ body }: Reply) =>
      (body as { result: { usage: { promptTokens: number } } }).result.usage.promptTokens;
    expect(tokensOf(continued)).toBeLessThan(tokensOf(asked));
  });

  test('of generate with a format answers JSON of that schema', async () => {
    const format = {
      type: 'object',
      properties: { sunny: { type: 'boolean' } },
      required: ['sunny'],
      additionalProperties: false,
    };
    const { body } = await invoke('generate', { prompt: 'Is it sunny?', format });
    const { result } = body as { result: { output: string } };
    expect(JSON.parse(result.output)).toEqual({ sunny: expect.any(Boolean) });
  });

  test('of chat answers the text, the calls of tools and the usage', async () => {
    const { status, body } = await invoke('chat', {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
      ],
      options: { maxTokens: 4, seed: 1 },
    });
    expect(status).toBe(200);
    expect(body['result']).toEqual({
      output: expect.any(String),
      model: expect.any(String),
      toolCalls: [],
      finishReason: expect.stringMatching(/^(stop|length)$/),
      usage: {
        promptTokens: expect.any(Number),
        completionTokens: expect.any(Number),
        cachedPromptTokens: expect.any(Number),
      },
    });
  });

  test('of chat with a tool that must be called answers the call with arguments of its schema', async () => {
    const parameters = {
      type: 'object',
      properties: { unit: { type: 'string', enum: ['metre', 'mile'] } },
      required: ['unit'],
      additionalProperties: false,
    };
    const { body } = await invoke('chat', {
      messages: [{ role: 'user', content: 'Use miles.' }],
      tools: [{ name: 'set_unit', description: 'Sets the unit.', parameters }],
      toolChoice: 'required',
    });
    expect(body['result']).toMatchObject({
      finishReason: 'tool-calls',
      toolCalls: [
        { name: 'set_unit', arguments: { unit: expect.stringMatching(/^(metre|mile)$/) } },
      ],
    });
  });

  test('of classify answers one of the labels, whatever the model would rather say', async () => {
    const labels = ['complaint', 'praise "quoted"', 'zażółć'];
    const { body } = await invoke('classify', { prompt: 'It broke on the first day.', labels });
    const { result } = body as { result: { output: string } };
    expect(labels).toContain(result.output);
    expect(result).not.toHaveProperty('scores');
  });

  test.each([1, 2, 5])(
    'of summarize has no more than %i words where that was asked',
    async (maxWords) => {
      const { body } = await invoke('summarize', { prompt: 'A long story. '.repeat(20), maxWords });
      const { result } = body as { result: { output: string } };
      const words = result.output.split(/\s+/);
      expect(words.length).toBeLessThanOrEqual(maxWords);
      expect(words[0]).not.toBe('');
    },
  );

  test('of embed answers one vector for one text, with what to know about it', async () => {
    const { body } = await invoke('embed', { prompt: 'a green apple' });
    const { result } = body as { result: { output: number[]; dimensions: number } };
    expect(result).toMatchObject({ model: 'ennead-embed', isNormalised: true });
    expect(result.output).toHaveLength(result.dimensions);
    expect(Math.hypot(...result.output)).toBeCloseTo(1, 5);
  });

  test('of embed answers a vector for each of several texts, in their order', async () => {
    const texts = ['a green apple', 'the parliament'];
    const [batch, ...singles] = await Promise.all([
      invoke('embed', { prompt: texts }),
      ...texts.map((prompt) => invoke('embed', { prompt })),
    ]);
    const outputOf = ({ body }: Reply) => (body as { result: { output: unknown } }).result.output;
    expect(outputOf(batch)).toEqual(singles.map(outputOf));
  });

  test('of list_models needs no input and begins with the default model', async () => {
    const { body } = await invoke('list_models');
    const { result } = body as { result: { model: string; output: { name: string }[] } };
    expect(result.output[0]?.name).toBe(result.model);
    expect(result.output).toContainEqual({
      name: 'ennead-embed',
      size: expect.any(Number),
      capabilities: ['embedding'],
    });
  });
});

describe('GET /tools', () => {
  test('lists every tool with the schema of its input, and every model', async () => {
    const { status, body } = await send('GET', '/tools');
    expect(status).toBe(200);
    const { tools, models: listed } = body as {
      tools: { name: string; description: string; inputSchema: object }[];
      models: object[];
    };
    expect(tools.map(({ name }) => name)).toEqual(toolNames);
    for (const { description, inputSchema } of tools) {
      expect(description).toMatch(/\.$/);
      expect(inputSchema).toMatchObject({ type: 'object', properties: expect.any(Object) });
    }
    const classify = tools.find(({ name }) => name === 'classify');
    expect(classify?.inputSchema).toMatchObject({
      required: ['prompt', 'labels'],
      properties: { labels: { type: 'array', uniqueItems: true } },
    });
    for (const model of listed) {
      expect(model).toEqual({
        name: expect.any(String),
        size: expect.any(Number),
        capabilities: expect.any(Array),
      });
    }
  });
});

describe('the health answer', () => {
  test('tells how many models are listed, those in memory, the state of the runtime and the embedder', async () => {
    await invoke('generate', { prompt: 'a', options: { maxTokens: 1 } });
    const listed = await invoke('list_models');
    const { result } = listed.body as { result: { model: string; output: { name: string }[] } };
    const { body } = await send('GET', '/health');
    expect(body).toMatchObject({
      status: 'healthy',
      models: result.output.length,
      loaded: [result.model],
      runtime: 'ready',
      embedder: 'ennead-embed',
    });
  });
});

describe.each(['auto', 'legacy'] as const)('MCP (%s)', (mode) => {
  let client: Client;
  beforeAll(async () => {
    client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  });
  afterAll(() => client.close());

  test('a bad input is a result that says which field is wrong', async () => {
    const result = await client.callTool({ name: 'classify', arguments: { prompt: 'a' } });
    expect(result).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: expect.stringContaining('labels') }],
    });
  });

  test('an unknown tool is a protocol error that lists the tools', async () => {
    await expect(client.callTool({ name: 'paint' })).rejects.toThrow(/list_models/);
  });

  test('the tools are those of /invoke, none of which changes anything', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(toolNames);
    for (const { annotations, outputSchema } of tools) {
      expect(annotations).toMatchObject({ readOnlyHint: true, openWorldHint: false });
      expect(outputSchema).toMatchObject({ type: 'object' });
    }
  });

  test('an answer is text, and the same structured as its schema says', async () => {
    await client.listTools();
    const answers = await Promise.all([
      client.callTool({ name: 'list_models' }),
      client.callTool({ name: 'embed', arguments: { prompt: 'apple' } }),
      client.callTool({
        name: 'generate',
        arguments: { prompt: 'Hi', options: { maxTokens: 3, temperature: 0 } },
      }),
    ]);
    for (const { structuredContent, content, isError } of answers) {
      const { output } = structuredContent as { output: unknown };
      expect(isError ?? false).toBe(false);
      const text = typeof output === 'string' ? output : JSON.stringify(output);
      expect(content).toEqual([{ type: 'text', text }]);
    }
  });

  test('progress of a generation reaches the client', async () => {
    const seen: { progress: number; total?: number | undefined }[] = [];
    await client.callTool(
      { name: 'generate', arguments: { prompt: 'Hi', options: { maxTokens: 5 } } },
      { onprogress: (progress) => seen.push(progress) },
    );
    expect(seen[0]).toMatchObject({ progress: 1, total: 5 });
  });
});

test('a message to /mcp that is not JSON is a JSON-RPC error', async () => {
  const reply = await service.app.inject({
    method: 'POST',
    url: '/mcp',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    payload: '{"jsonrpc":',
  });
  expect(reply.statusCode).toBe(400);
  expect(reply.json()).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32_700 } });
});
