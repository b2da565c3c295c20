import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { Contract } from '../../kit/contract.ts';
import { plainEnvelope } from '../../kit/envelope.ts';
import { createTestServer, listenAnywhere, silentLog } from '../../kit/testing.ts';
import { describeModel, ScriptedInference } from '../inference/testing.ts';
import { toolRoutes } from './contract.ts';
import { createMcpEndpoint } from './mcp.ts';
import { toolHandlers } from './routes.ts';

const contract = {
  name: 'models',
  title: 'Models',
  version: '1.0.0',
  description: 'The tools alone.',
  error: plainEnvelope.schema,
  routes: toolRoutes,
} as const satisfies Contract;

const inference = new ScriptedInference([describeModel('scripted')]);

let url: string;
let headers: Record<string, string>;
let close: () => Promise<void>;

beforeAll(async () => {
  const { http, issuer } = await createTestServer(contract);
  const mcp = createMcpEndpoint(inference, { url: 'http://models.test', log: silentLog }, '1.0.0');
  http.serve(contract, toolHandlers({ inference }, mcp));
  url = await listenAnywhere(http);
  headers = { authorization: `Bearer ${await issuer.sign()}` };
  close = async () => {
    await mcp[Symbol.asyncDispose]();
    await http.close(0);
  };
});
afterAll(() => close());

beforeEach(() => {
  inference.requests.length = 0;
  inference.abandoned = 0;
  inference.isEndless = true;
  inference.events = [{ type: 'text', text: 'and ' }];
});

const prompt = 'Count to a million.';

test('an invocation whose caller has gone ends its generation', async () => {
  const gone = new AbortController();
  const call = fetch(`${url}/invoke`, {
    method: 'POST',
    signal: gone.signal,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ tool: 'generate', input: { prompt } }),
  });
  await vi.waitFor(() => expect(inference.requests).toHaveLength(1), 10_000);
  expect(inference.abandoned).toBe(0);
  gone.abort();
  await expect(call).rejects.toThrow();
  await vi.waitFor(() => expect(inference.abandoned).toBe(1), 10_000);
});

test.each(['auto', 'legacy'] as const)(
  'an MCP client that gives up ends its generation (%s)',
  async (mode) => {
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
      requestInit: { headers },
    });
    await client.connect(transport);
    const giveUp = new AbortController();
    const call = client.callTool(
      { name: 'generate', arguments: { prompt } },
      { signal: giveUp.signal },
    );
    await vi.waitFor(() => expect(inference.requests).toHaveLength(1), 10_000);
    expect(inference.abandoned).toBe(0);
    giveUp.abort();
    await expect(call).rejects.toThrow();
    await vi.waitFor(() => expect(inference.abandoned).toBe(1), 10_000);
    await client.close();
  },
);
