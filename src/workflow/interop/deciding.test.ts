import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorkflow, type Caller } from '../testing.ts';
import { documentOf } from './n8n/testing.ts';

let service: Awaited<ReturnType<typeof startWorkflow>>;
let call: Caller;

beforeAll(async () => {
  service = await startWorkflow();
  call = await service.callAs('usr_1');
});
afterAll(() => service[Symbol.asyncDispose]());

async function bring(document: unknown) {
  const { status, body } = await call('POST', '/api/v1/workflows/import', { body: { document } });
  expect({ status, body }).toMatchObject({ status: 201 });
  return body;
}

/** Imports a document and runs it once. */
async function run(document: unknown, inputs: object = {}) {
  const { id, report } = await bring(document);
  const body = { inputs, options: { async: false } };
  const answer = await call('POST', `/api/v1/workflows/${id}/execute`, { body });
  return { report, ...answer.body };
}

describe('Flowise', () => {
  const step = (id: string, name: string, inputs = {}) => ({
    id,
    type: 'agentFlow',
    data: { id, name, label: id, inputs },
  });
  const flowOf = (conditions: readonly object[]) => ({
    nodes: [
      step('start', 'startAgentflow'),
      step('which', 'conditionAgentflow', { conditions }),
      ...[...conditions, {}].map((_, at) =>
        step(`r${at}`, 'humanInputAgentflow', { humanInputDescription: `way ${at}` }),
      ),
    ],
    edges: [
      { source: 'start', target: 'which' },
      ...[...conditions, {}].map((_, at) => ({
        source: 'which',
        target: `r${at}`,
        sourceHandle: `which-output-${at}`,
      })),
    ],
  });
  const wayOf = async (conditions: readonly object[], inputs: object) => {
    const { id, report } = await bring(flowOf(conditions));
    const pinned = Object.fromEntries(
      [...conditions, {}].map((_, at) => [`r${at}`, { approved: true }]),
    );
    const tests = [
      { name: 'way', inputs, pinned, expect: [{ node: 'which', path: 'case', equals: '' }] },
    ];
    await call('PUT', `/api/v1/workflows/${id}/tests`, { body: { tests } });
    const { body } = await call('POST', `/api/v1/workflows/${id}/tests/run`, { body: {} });
    const which = report.nodes.find(({ source }: { source: string }) => source === 'which');
    return { way: body.results[0].failures[0].actual ?? body.results[0].failures[0], which };
  };
  const on = (value1: unknown, operation: string, value2: unknown, type = 'number') => ({
    value1,
    operation,
    value2,
    type,
  });
  const n = '{{ $form.n }}';

  test.each([
    [[on(n, 'larger', '5')], {}, 'else'],
    [[on(n, 'smallerEqual', '0')], {}, 'case_0'],
    [[on(n, 'larger', '5')], { n: '10' }, 'case_0'],
    [[on(n, 'larger', '5')], { n: ' 1e1 ' }, 'case_0'],
    [[on(n, 'larger', '5')], { n: [10] }, 'else'],
    [[on(n, 'equal', 5)], { n: 5 }, 'case_0'],
    [[on(n, 'notEmpty', '')], {}, 'case_0'],
    [
      [on('{{ question }}', 'contains', 'hi', 'string'), on(n, 'larger', '5')],
      { question: 'hi' },
      'case_0',
    ],
    [[on('{{ question }}', 'equal', '5', 'string')], { question: 5 }, 'case_0'],
    [[on('{{ $form.t }}', 'startsWith', 'a', 'string')], {}, 'else'],
    [[on('{{ $form.t }}', 'isEmpty', '', 'string')], { t: null }, 'case_0'],
    [[on('<p>a {{ $form.t }} c</p>', 'equal', 'a b c', 'string')], { t: 'b' }, 'case_0'],
    [[on('{{ $form.b }}', 'equal', true, 'boolean')], { b: true }, 'case_0'],
    [[on('{{ $form.b }}', 'equal', true, 'boolean')], {}, 'else'],
  ])('%j decides on %j as it does there', async (conditions, inputs, expected) => {
    const { way, which } = await wayOf(conditions, inputs);
    expect(way).toBe(expected);
    expect(which).toMatchObject({ status: 'adapted', note: expect.any(String) });
  });

  test('a comparison that has no counterpart is said to have none', async () => {
    const { report } = await bring(flowOf([on('{{ question }}', 'regex', '^a', 'string')]));
    expect(report.nodes[1]).toMatchObject({ status: 'unsupported' });
  });
});

describe('Serverless Workflow', () => {
  const tasksOf = (tasks: string) =>
    `document: {dsl: '1.0.0', namespace: a, name: test, version: '1.0.0'}\ndo:\n${tasks}`;
  const after = "- after: {set: {r: '${ .v }'}}";
  const each = (body: string) =>
    tasksOf(`- before: {set: {v: none, list: '\${ .xs }'}}
- each: {for: {each: x, in: .list}, do: ${body}}
${after}`);

  test.each([
    ["[{one: {set: {v: '${ $x }'}}}]", [1, 2, 3], 3],
    ["[{one: {set: {v: '${ $x }'}}}]", [], 'none'],
    ["[{one: {set: {v: '${ $x }'}}}, {rest: {wait: {milliseconds: 1}}}]", [1, 2], 2],
    ["[{one: {if: '$x == 2', set: {v: '${ $x }'}}}]", [1, 2], 2],
    ["[{one: {if: '$x == 2', set: {v: '${ $x }'}}}]", [2, 1], 'none'],
  ])('behind a loop over %s there is the data of its last round', async (body, xs, expected) => {
    const made = await run(each(body), { xs });
    expect(made).toMatchObject({
      status: 'completed',
      result: { after: { result: { r: expected } } },
    });
  });
});

test('no secret of an address is kept, and the report says that one is missing', async () => {
  const url = 'https://u:SECRET@example.com/?api_key=SECRET&q=1';
  const list = (name: string) => ({ parameters: [{ name, value: 'SECRET' }] });
  const { id, report } = await bring(
    documentOf(
      {
        Start: { type: 'manualTrigger' },
        Slack: { type: 'slack', parameters: { url, list: [{ key: 'X-Token', value: 'SECRET' }] } },
        Http: {
          type: 'httpRequest',
          parameters: { url, sendQuery: true, queryParameters: list('api_key') },
        },
      },
      'Start > Slack',
      'Slack > Http',
    ),
  );
  const { body } = await call('GET', `/api/v1/workflows/${id}?version=1`);
  expect(JSON.stringify([body, report])).not.toContain('SECRET');
  const http = body.flow.nodes.find((node: { id: string }) => node.id === 'http');
  expect(http.data).toMatchObject({ url: 'https://example.com/?api_key=&q=1' });
  expect(report.nodes[2]).toMatchObject({
    status: 'adapted',
    note: expect.stringContaining('a secret in an address was left out'),
  });
});
