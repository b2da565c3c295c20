import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Fields } from '../fields.ts';
import { convert, documentOf, hook } from './testing.ts';

test('scripts are never taken over: their node fails until somebody replaces it', () => {
  const { node, step, edges } = convert(
    documentOf(
      {
        Hook: hook,
        'Do it': { type: 'code', parameters: { jsCode: 'return {{ $json.x }}; {% bad' } },
        After: { type: 'set', parameters: { assignments: { assignments: [] } } },
      },
      'Hook > Do it',
      'Do it > After',
    ),
  );
  expect(step('Do it')).toMatchObject({ status: 'unsupported', nodeId: 'do_it' });
  expect(node('do_it')).toMatchObject({
    type: 'Placeholder',
    data: { imported: { parameters: { jsCode: 'return {{ $json.x }}; {% bad' } } },
  });
  expect(edges).toEqual(['do_it > after']);
});

test.each([
  '={{ $json.items.map(x => x.id) }}',
  '={{ constructor.constructor("return process")() }}',
  '={{ $json.x + 1 }}',
  '={{ process.env.HOME }}',
  '={{ $("Nobody").item.json.x }}',
  '={{ (() => 1)() }}',
])('an expression that needs JavaScript makes its node a Placeholder: %s', (url) => {
  const { step, node } = convert(
    documentOf({ Hook: hook, Call: { type: 'httpRequest', parameters: { url } } }, 'Hook > Call'),
  );
  expect(step('Call')?.status).toBe('unsupported');
  expect(node('call')?.type).toBe('Placeholder');
});

test('secrets of a node are not kept', () => {
  const { node } = convert(
    documentOf({
      Mail: {
        type: 'emailSend',
        parameters: { password: 'hunter2', options: { apiKey: 'sk-1' }, to: 'a@example.com' },
        credentials: { smtp: { id: '1', name: 'mine' } },
      },
    }),
  );
  const kept = JSON.stringify(node('mail'));
  expect(kept).toContain('a@example.com');
  expect(kept).not.toMatch(/hunter2|sk-1/);
});

test('a way back without a loop over items is cut, and said so', () => {
  const { step, warnings } = convert(
    documentOf(
      {
        Hook: hook,
        Ask: { type: 'httpRequest', parameters: { url: 'https://example.com' } },
        Done: {
          type: 'if',
          parameters: {
            conditions: {
              conditions: [
                {
                  leftValue: '={{ $json.done }}',
                  operator: { type: 'boolean', operation: 'true' },
                },
              ],
            },
          },
        },
      },
      'Hook > Ask',
      'Ask > Done',
      'Done:1 > Ask',
    ),
  );
  expect(step('Done')?.status).toBe('unsupported');
  expect(warnings.join()).toContain('led back');
});

test('a loop over items that does nothing with them makes a Placeholder, not the end of the import', () => {
  const { node, edges, warnings } = convert(
    documentOf(
      {
        Hook: hook,
        Each: { type: 'splitInBatches' },
        After: { type: 'httpRequest', parameters: { url: 'https://example.com' } },
      },
      'Hook > Each',
      'Each:1 > Each',
      'Each > After',
    ),
  );
  expect(node('each')?.type).toBe('Placeholder');
  expect(edges).toEqual(['each:done > after']);
  expect(warnings.join()).toContain('straight back to itself');
});

test.each([
  ['JSON', { specifyBody: 'json', jsonBody: '={{ $json.a }}' }],
  ['a raw body', { contentType: 'raw', rawContentType: 'text/plain', body: 'x' }],
])('the type that a header names stays that of %s', (_what, body) => {
  const headerParameters = {
    parameters: [{ name: 'Content-Type', value: 'application/vnd.api+json' }],
  };
  const parameters = {
    method: 'POST',
    url: 'https://example.com',
    sendHeaders: true,
    headerParameters,
    sendBody: true,
    ...body,
  };
  const { node } = convert(
    documentOf({ Hook: hook, Send: { type: 'httpRequest', parameters } }, 'Hook > Send'),
  );
  expect(node('send')?.data['headers']).toEqual({ 'Content-Type': 'application/vnd.api+json' });
});

test('text that only looks like our language stays as it is', () => {
  const { node } = convert(
    documentOf({
      Keep: {
        type: 'set',
        parameters: {
          assignments: {
            assignments: [{ name: 'a.b', value: 'Hi {{ name }} {% if %}', type: 'string' }],
          },
        },
      },
    }),
  );
  expect(node('keep')?.data['input']).toEqual({
    a: { b: '{% raw %}Hi {{ name }} {% if %}{% endraw %}' },
  });
});

test('names become ids and paths, through steps that only pass data on', () => {
  const { node, edges } = convert(
    documentOf(
      {
        Webhook: hook,
        'Get Ünits': {
          type: 'httpRequest',
          parameters: { url: '=https://example.com/{{ $json.query.id }}' },
        },
        'No-op': { type: 'noOp' },
        Big: {
          type: 'if',
          parameters: {
            conditions: {
              combinator: 'and',
              conditions: [
                {
                  leftValue: '={{ $json.count }}',
                  rightValue: 10,
                  operator: { type: 'number', operation: 'gt' },
                },
                {
                  leftValue: '={{ $json["a b"].name }}',
                  rightValue: 'x"y',
                  operator: { type: 'string', operation: 'equals' },
                },
              ],
            },
          },
        },
        Say: {
          type: 'chainLlm',
          parameters: {
            promptType: 'define',
            text: "=Name: {{ $json.name.toUpperCase() || 'nobody' }}, {{ $('Get Ünits').item.json.list[0] }}",
          },
        },
        Keep: {
          type: 'set',
          parameters: {
            assignments: {
              assignments: [
                { name: 'said', value: '={{ $json.text }}', type: 'string' },
                { name: 'all', value: '={{ JSON.stringify($node["Get Ünits"].json) }}' },
              ],
            },
          },
        },
      },
      'Webhook > Get Ünits',
      'Get Ünits > No-op',
      'No-op > Big',
      'Big > Say',
      'Say > Keep',
    ),
  );
  expect(edges).toEqual(['get_units > big', 'big:true > say', 'say > keep']);
  expect(node('get_units')?.data['url']).toBe('https://example.com/{{ inputs.query.id }}');
  expect(String(node('big')?.data['condition'])).toContain('get_units.body.count * 1) > 10) && (');
  expect(node('say')?.data['prompt']).toBe(
    'Name: {{ get_units.body.name | upcase | default: "nobody" }}, {{ get_units.body.list[0] }}',
  );
  expect(node('keep')?.data['input']).toEqual({
    said: '{{ say.text }}',
    all: '{{ get_units.body | json }}',
  });
});

test('a loop over items is a Loop: its steps see the item, those behind it the results', () => {
  const { node, edges, steps } = convert(
    documentOf(
      {
        Start: { type: 'manualTrigger' },
        List: { type: 'httpRequest', parameters: { url: 'https://example.com' } },
        Each: { type: 'splitInBatches', parameters: {} },
        Call: { type: 'httpRequest', parameters: { url: '={{ $json.url }}' } },
        End: {
          type: 'set',
          parameters: { assignments: { assignments: [{ name: 'r', value: '={{ $json }}' }] } },
        },
      },
      'Start > List',
      'List > Each',
      'Each:1 > Call',
      'Call > Each',
      'Each:0 > End',
    ),
  );
  expect(steps.every(({ status }) => status !== 'unsupported')).toBe(true);
  expect(node('each')).toMatchObject({ type: 'Loop', data: { items: '{{ list.body }}' } });
  expect(node('call')?.data['url']).toBe('{{ loop.item.url }}');
  expect(node('end')?.data['input']).toEqual({ r: '{{ each.results }}' });
  expect(edges).toEqual(['list > each', 'each:done > end', 'each:body > call', 'call > each']);
});

test('a switch keeps its rules in their order', () => {
  const rule = (value: string, outputKey: string) => ({
    outputKey,
    renameOutput: true,
    conditions: {
      conditions: [
        {
          leftValue: '={{ $json.body.kind }}',
          rightValue: value,
          operator: { type: 'string', operation: 'equals' },
        },
      ],
    },
  });
  const { node, edges } = convert(
    documentOf(
      {
        Hook: hook,
        Route: {
          type: 'switch',
          parameters: {
            rules: { values: [rule('a', 'Alpha'), rule('b', 'Beta')] },
            options: { fallbackOutput: 'extra' },
          },
        },
        A: { type: 'wait', parameters: { amount: 5, unit: 'seconds' } },
        B: { type: 'wait', parameters: { amount: 1, unit: 'minutes' } },
        C: { type: 'wait', parameters: { amount: 1, unit: 'hours' } },
      },
      'Hook > Route',
      'Route:0 > A',
      'Route:1 > B',
      'Route:2 > C',
    ),
  );
  expect(node('route')?.data['cases']).toEqual([
    { when: expect.stringMatching(/ == "a"$/), handle: 'case_0_alpha' },
    { when: expect.stringMatching(/ == "b"$/), handle: 'case_1_beta' },
  ]);
  expect(edges).toEqual(['route:case_0_alpha > a', 'route:case_1_beta > b', 'route:default > c']);
  expect(node('a')?.data).toEqual({ duration: 5_000 });
});

test('the chat of the starter kit becomes a question to its model', () => {
  const file = new URL('../fixtures/n8n-starter-kit.json', import.meta.url);
  const { node, steps } = convert(JSON.parse(readFileSync(file, 'utf8')) as Fields);
  expect(node('basic_llm_chain')).toMatchObject({
    type: 'LLMNode',
    data: { prompt: '{{ inputs.chatInput }}', model: 'llama3.2:latest' },
  });
  expect(steps.map(({ status }) => status)).toEqual(['exact', 'exact', 'adapted']);
});

test.each([
  ['if', { options: { caseSensitive: false } }, {}, 'adapted'],
  ['if', { options: { typeValidation: 'loose' } }, {}, 'adapted'],
  ['if', {}, { looseTypeValidation: true }, 'adapted'],
  ['filter', {}, {}, 'adapted'],
  ['if', {}, {}, 'exact'],
])(
  'what compares otherwise than here is never called exact: %s %j %j',
  (type, options, rest, status) => {
    const leftValue = '={{ $json.body.kind }}';
    const operator = { type: 'string', operation: 'empty', singleValue: true };
    const conditions = { ...options, conditions: [{ leftValue, operator }] };
    const { node, steps } = convert(
      documentOf({ Hook: hook, One: { type, parameters: { conditions, ...rest } } }, 'Hook > One'),
    );
    expect(steps.find(({ source }) => source === 'One')?.status).toBe(status);
    expect(String(node('one')?.data['condition'])).toContain('has(inputs.body.kind)');
  },
);

test('the time limit of the whole is taken over, and what else it says of itself is told by name', () => {
  const settings = { executionTimeout: 90, timezone: 'Europe/Berlin', errorWorkflow: 'abc' };
  const document = documentOf({ Hook: hook, Do: { type: 'wait' } }, 'Hook > Do');
  const { flow, warnings } = convert({ ...document, settings });
  expect(flow.settings).toEqual({ timeout: 90_000 });
  expect(warnings.join('\n')).toMatch(/"errorWorkflow" is left out[^]*"timezone" is left out/);
  const none = { executionTimeout: -1, timezone: 'DEFAULT', executionOrder: 'v1' };
  expect(convert({ ...document, settings: none })).toMatchObject({ warnings: [] });
  expect(convert({ ...document, settings: none }).flow.settings).toBeUndefined();
});
