import type {
  CallToolResult,
  ContentBlock,
  GetPromptResult,
  Prompt,
  ServerContext,
  Tool,
} from '@modelcontextprotocol/server';
import { createMcpHandler, ProtocolError, Server } from '@modelcontextprotocol/server';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';

/** A 1x1 PNG and an empty WAV. */
const image =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const sound = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';

const png: ContentBlock = { type: 'image', data: image, mimeType: 'image/png' };
const says = (text: string): ContentBlock => ({ type: 'text', text });
const embeds = (uri: string, mimeType: string, text: string): ContentBlock => ({
  type: 'resource',
  resource: { uri, mimeType, text },
});

type Run = (context: ServerContext) => Promise<CallToolResult> | CallToolResult;

const anyObject = { type: 'object' as const };
const schema2020 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object' as const,
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // eslint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function reportProgress({ mcpReq }: ServerContext): Promise<CallToolResult> {
  const { _meta: meta } = mcpReq;
  const progressToken = meta?.progressToken;
  for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
    const params = { progressToken, progress, total: 100, message: `step ${progress} of 100` };
    await mcpReq.notify({ method: 'notifications/progress', params });
    await pause(20);
  }
  return { content: [says(String(progressToken ?? 'no-progress-token'))] };
}

async function writeLog({ mcpReq }: ServerContext): Promise<CallToolResult> {
  for (const data of ['started', 'processing', 'completed']) {
    const params = { level: 'info' as const, data };
    await mcpReq.notify({ method: 'notifications/message', params });
    await pause(20);
  }
  return { content: [says('Tool with logging executed successfully')] };
}

/** What the suites call, under the names and with the answers that they expect. */
const runs: Readonly<Record<string, Run>> = {
  test_simple_text: () => ({ content: [says('This is a simple text response for testing.')] }),
  test_image_content: () => ({ content: [png] }),
  test_audio_content: () => ({
    content: [{ type: 'audio', data: sound, mimeType: 'audio/wav' }],
  }),
  test_embedded_resource: () => ({
    content: [
      embeds('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
    ],
  }),
  test_multiple_content_types: () => ({
    content: [
      says('Multiple content types test:'),
      png,
      embeds(
        'test://mixed-content-resource',
        'application/json',
        JSON.stringify({ test: 'data', value: 123 }),
      ),
    ],
  }),
  test_tool_with_logging: writeLog,
  test_tool_with_progress: reportProgress,
  test_error_handling: () => ({
    content: [says('This tool intentionally returns an error for testing')],
    isError: true,
  }),
  json_schema_2020_12_tool: () => ({ content: [says('called')] }),
  test_streaming_elicitation: () => ({ content: [says('no requests')] }),
  test_logging_tool: () => ({ content: [says('nothing is logged unasked')] }),
  test_x_mcp_header: () => ({ content: [says('region')] }),
};

const tools: readonly Tool[] = Object.keys(runs).map((name) => ({
  name,
  description: `Fixture ${name}.`,
  inputSchema: inputSchemaOf(name),
}));

function inputSchemaOf(name: string): Tool['inputSchema'] {
  if (name === 'json_schema_2020_12_tool') return schema2020;
  if (name !== 'test_x_mcp_header') return anyObject;
  const region = { type: 'string', description: 'where', 'x-mcp-header': 'Region' };
  return { ...anyObject, properties: { region, level: { type: 'integer' } } };
}

const prompts: readonly Prompt[] = [
  { name: 'test_simple_prompt', description: 'A simple prompt without arguments.' },
  {
    name: 'test_prompt_with_arguments',
    description: 'A prompt with arguments.',
    arguments: ['arg1', 'arg2'].map((name) => ({ name, description: name, required: true })),
  },
  {
    name: 'test_prompt_with_embedded_resource',
    description: 'A prompt with a resource in it.',
    arguments: [{ name: 'resourceUri', description: 'the resource', required: true }],
  },
  { name: 'test_prompt_with_image', description: 'A prompt with an image.' },
];

function promptOf(name: string, given: Readonly<Record<string, string>>): GetPromptResult {
  const user = (content: ContentBlock) => ({ role: 'user' as const, content });
  switch (name) {
    case 'test_simple_prompt':
      return { messages: [user(says('This is a simple prompt for testing.'))] };
    case 'test_prompt_with_arguments': {
      const { arg1 = '', arg2 = '' } = given;
      return {
        messages: [user(says(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
      };
    }
    case 'test_prompt_with_embedded_resource': {
      const uri = given['resourceUri'] ?? '';
      const resource = embeds(uri, 'text/plain', 'Embedded resource content for testing.');
      return {
        messages: [user(resource), user(says('Please process the embedded resource above.'))],
      };
    }
    default:
      return { messages: [user(png), user(says('Please analyze the image above.'))] };
  }
}

const resources = [
  { uri: 'test://static-text', name: 'static-text', mimeType: 'text/plain' },
  { uri: 'test://static-binary', name: 'static-binary', mimeType: 'image/png' },
  { uri: 'test://watched-resource', name: 'watched-resource', mimeType: 'text/plain' },
];
const resourceTemplates = [
  { uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' },
];

function contentsOf(uri: string) {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id) {
    const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
    return { uri, mimeType: 'application/json', text };
  }
  if (uri === 'test://static-binary') return { uri, mimeType: 'image/png', blob: image };
  if (!resources.some((resource) => resource.uri === uri)) {
    throw new ProtocolError(-32_602, 'Resource not found', { uri });
  }
  return { uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' };
}

function createFixture(): Server {
  const capabilities = { tools: {}, prompts: {}, resources: {}, completions: {} };
  const server = new Server({ name: 'fixture', version: '1.0.0' }, { capabilities });
  server.setRequestHandler('tools/list', () => ({ tools: [...tools] }));
  server.setRequestHandler('tools/call', ({ params }, context) => {
    const run = runs[params.name];
    if (!run) throw new ProtocolError(-32_602, `Unknown tool: ${params.name}`);
    return run(context);
  });
  server.setRequestHandler('prompts/list', () => ({ prompts: [...prompts] }));
  server.setRequestHandler('prompts/get', ({ params }) =>
    promptOf(params.name, params.arguments ?? {}),
  );
  server.setRequestHandler('resources/list', () => ({ resources }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates }));
  server.setRequestHandler('resources/read', ({ params }) => ({
    contents: [contentsOf(params.uri)],
  }));
  server.setRequestHandler('completion/complete', () => ({
    completion: { values: [], total: 0, hasMore: false },
  }));
  return server;
}

/** Serves the fixture on a free port of this machine. */
export async function openFixture() {
  const handler = createMcpHandler(createFixture);
  const http = createServer((request, response) => {
    answer(handler, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    close: async () => {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      await handler.close();
    },
  };
}

async function answer(
  handler: ReturnType<typeof createMcpHandler>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const method = request.method ?? 'GET';
  const body = method === 'POST' ? await readText(request) : null;
  const headers = Object.entries(request.headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as [string, string]] : [],
  );
  const url = `http://127.0.0.1${request.url}`;
  const answered = await handler.fetch(new Request(url, { method, headers, body }));
  response.writeHead(answered.status, Object.fromEntries(answered.headers));
  for await (const chunk of answered.body ?? []) response.write(chunk);
  response.end();
}
