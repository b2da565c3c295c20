import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { openIdleComponents } from '../components/testing.ts';
import { FlowCompiler } from '../definitions/flow-compiler.ts';
import type { Flow, FlowNode, FlowSettings } from '../flow/flow.ts';
import { exportOwn, readOwn } from './ennead/document.ts';
import { fieldsOf, listOf, textOf, type Fields } from './fields.ts';
import { exportServerless, type ServerlessExport } from './serverless/export.ts';
import { importServerless } from './serverless/import.ts';
import { readOwnExport } from './serverless/own-export.ts';

const components = openIdleComponents();
const compiler = new FlowCompiler(components);

/** Of each component all settings that it has; none says what it is without. */
const settings: Readonly<Record<string, readonly Fields[]>> = {
  LLMNode: [
    {
      prompt: 'Hi {{ inputs.name }}',
      model: 'm',
      system: 's',
      messages: [{ role: 'user', content: 'Before {{ inputs.name }}' }],
      temperature: 0.5,
      maxTokens: 77,
      responseFormat: { type: 'object', properties: { a: { type: 'string' } } },
      fallbackModels: ['n'],
    },
  ],
  VectorSearch: [
    { query: '{{ inputs.q }}', collection: 'c', limit: 3, minScore: 0.5, filter: { a: 1 } },
  ],
  Embeddings: [{ text: 't', model: 'm', texts: ['a', '{{ inputs.b }}'] }],
  ImageGen: [{ prompt: 'p', model: 'm', size: '64x64', quality: 'high', format: 'webp' }],
  EntityCreate: [{ bundle: 'page', fields: { title: '{{ inputs.t }}' }, entityType: 'node' }],
  EntityLoad: [
    { nid: 4, uuid: '00000000-0000-0000-0000-000000000000', bundle: 'page', entityType: 'node' },
  ],
  EntityUpdate: [{ nid: 4, bundle: 'page', fields: { title: 't' }, entityType: 'node' }],
  UserLogin: [{ username: 'ada', password: '{{ inputs.password }}' }],
  MCPToolCall: [{ tool: 't', params: { a: '{{ inputs.a }}' }, timeout: 5, failOnError: true }],
  MCPServerQuery: [{ capability: 'search' }],
  IdpAPI: [{ action: 'users.list', method: 'GET', path: '/users', params: { a: 1 } }],
  AgentTask: [
    {
      agent: 'a',
      capability: 'c',
      type: 't',
      input: { maxTokens: 7, maxCost: 0.5 },
      timeout: 99,
      priority: 'high',
    },
  ],
  Condition: [{ condition: 'inputs.a == 1 && inputs.b' }, { condition: true }],
  Switch: [
    { cases: [{ when: 'inputs.a > 1', handle: 'one' }], default: 'other' },
    { cases: [{ when: 'size(inputs.a) > 1', handle: 'one' }], default: 'other' },
  ],
  Loop: [{ items: '{{ inputs.items }}', concurrency: 3 }],
  Parallel: [{}],
  Merge: [{ inputs: { a: '{{ inputs.a }}' } }, { inputs: ['{{ inputs.a }}', 1], mode: 'first' }],
  Placeholder: [{ source: 's', reason: 'r', imported: { a: 1 }, handles: ['h'] }],
  Wait: [{ duration: 5 }, { until: '{{ inputs.at }}', duration: 5 }],
  Approval: [{ message: 'Go on?', approvers: ['usr_1'], timeout: 1_000 }],
  SubWorkflow: [
    { workflowId: 'wfl_1', version: 2, inputs: { a: '{{ inputs.a }}' }, wait: false },
    { workflowId: 'wfl_1', timeout: 1_000 },
  ],
  Transform: [
    { expression: '$', input: { a: '{{ inputs.a }}' }, timeout: 99 },
    { expression: 'a + 1', input: '{{ inputs.a }}', timeout: 99 },
  ],
  HttpRequest: [
    {
      method: 'POST',
      url: 'https://h.test/{{ inputs.a }}',
      headers: { 'x-a': '{{ inputs.a }}' },
      query: { a: [1, 'b'] },
      body: { a: '{{ inputs.a }}', b: [1, null] },
      responseType: 'text',
      followRedirects: false,
      acceptStatus: [404],
      maxBytes: 99,
    },
  ],
  FileSystemRead: [{ path: 'a.md', encoding: 'base64', maxBytes: 99 }],
};

const rules = {
  label: 'A label',
  position: { x: 1, y: 2 },
  retry: { enabled: true, maxAttempts: 4, backoff: 'linear', initialDelay: 10, maxDelay: 99 },
  timeout: 5_000,
  onError: 'continue',
} as const;
const bounds: FlowSettings = { timeout: 60_000, maxTokens: 500, maxCost: 0.25 };

function flowOf(type: string, data: Fields, ruled: Partial<FlowNode> = rules): Flow {
  const node = { id: 'node', type, data, position: { x: 0, y: 0 }, ...ruled };
  const alone = { nodes: [node], edges: [], settings: bounds };
  if (type !== 'Loop') return alone;
  const round = { id: 'round', type: 'Merge', data: {}, position: { x: 0, y: 0 } };
  const edges = [
    { source: 'node', target: 'round', sourceHandle: 'body' },
    { source: 'round', target: 'node' },
  ];
  return { ...alone, nodes: [node, round], edges };
}

const labels = { name: 'All', description: 'Of all', category: 'c', tags: ['t'] };
const cases = Object.entries(settings).flatMap(([type, all]) =>
  all.map((data) => [type, data] as const),
);

test('each component is here with all of its settings', () => {
  expect(Object.keys(settings).toSorted()).toEqual([...components.keys()].toSorted());
  for (const [type, all] of Object.entries(settings)) {
    const names = new Set(all.flatMap((data) => Object.keys(data)));
    const known = Object.keys(fieldsOf(fieldsOf(components.get(type)?.input)['properties']));
    expect([type, ...[...names].toSorted()]).toEqual([type, ...known.toSorted()]);
  }
});

test.each(cases)('%s %j comes back as it was from our own format', (type, data) => {
  const { flow } = compiler.read(flowOf(type, data));
  expect(flow).toBeDefined();
  const document = JSON.parse(JSON.stringify(exportOwn(labels, flow!, [])));
  expect(compiler.read(readOwn(document).flow).flow).toEqual(flow);
});

test.each(cases)('%s %j comes back as it was from Serverless Workflow', (type, data) => {
  const { flow } = compiler.read(flowOf(type, data));
  const { text } = exportServerless({ ...labels, version: 1 }, flow!);
  const back = readOwnExport(fieldsOf(parse(text)), (given) => compiler.read(given).flow);
  expect(back?.flow).toEqual(flow);
});

/** The document as somebody else's tool writes it: it keeps nothing of ours. */
function withoutMetadata({ text }: ServerlessExport): Fields {
  const bare = JSON.stringify(parse(text), (key, value: unknown) =>
    key === 'metadata' ? undefined : value,
  );
  return fieldsOf(JSON.parse(bare));
}

function requireTold(flow: Flow, changed: Flow, name: string): void {
  const exported = exportServerless({ ...labels, version: 1 }, flow);
  const other = exportServerless({ ...labels, version: 1 }, changed);
  const isSaid = !isDeepStrictEqual(withoutMetadata(exported), withoutMetadata(other));
  const told = exported.unsupported.some(({ reason }) => reason.includes(JSON.stringify(name)));
  expect([name, isSaid || told]).toEqual([name, true]);
}

test.each(cases)('what Serverless Workflow does not say of %s %j is told by name', (type, data) => {
  for (const name of Object.keys(data)) {
    const { [name]: _, ...rest } = data;
    requireTold(flowOf(type, data, {}), flowOf(type, rest, {}), name);
  }
});

test('what Serverless Workflow does not say of rules and bounds is told by name', () => {
  const of = (ruled: Partial<FlowNode>) => flowOf('Wait', { duration: 5 }, ruled);
  const { retry } = rules;
  requireTold(of({ timeout: 5 }), of({}), 'timeout');
  requireTold(of({ onError: 'continue' }), of({}), 'onError');
  for (const [name, value] of Object.entries({ maxAttempts: 2, backoff: 'fixed', maxDelay: 1 })) {
    requireTold(of({ retry }), of({ retry: { ...retry, [name]: value } }), name);
  }
  for (const name of Object.keys(bounds)) {
    requireTold(of({}), { ...of({}), settings: { ...bounds, [name]: undefined } }, name);
  }
  const { text } = exportServerless({ ...labels, version: 1 }, of({}));
  expect(text).toContain('# the workflow: its setting "maxTokens" is not said\n');
});

test.each(cases)('a call of our own %s %j is read without its metadata', (type, data) => {
  const exported = exportServerless({ ...labels, version: 1 }, flowOf(type, data, {}));
  const draft = importServerless(withoutMetadata(exported));
  const [task] = listOf(withoutMetadata(exported)['do']).map((one) =>
    fieldsOf(fieldsOf(one)['node']),
  );
  if (!textOf(task?.['call']).startsWith('ennead:')) return;
  expect(draft.steps.find(({ source }) => source === 'node')?.node).toMatchObject({ type, data });
});

test('a task that somebody changed leaves the bounds of the whole as they were', () => {
  const { text } = exportServerless({ ...labels, version: 1 }, flowOf('Wait', { duration: 5 }));
  const changed = fieldsOf(parse(text.replace('milliseconds: 5\n', 'milliseconds: 6\n')));
  expect(readOwnExport(changed, (given) => compiler.read(given).flow)).toBeUndefined();
  expect(importServerless(changed).settings).toEqual(bounds);
});
