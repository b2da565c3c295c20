import { describe, expect, test } from 'vitest';
import { findInputs, readInputs } from './inputs.ts';
import { referencesFor } from './placeholders.ts';
import { applyEvent, statesOf, type Execution, type ExecutionEvent } from './runs.ts';
import { controlOf, readTyped, writeTyped, type Control } from './settings.ts';

describe('The control of a setting', () => {
  test.each([
    [{ type: 'string' }, 'line'],
    [{ anyOf: [{ type: 'string', maxLength: 5 }], description: 'x' }, 'line'],
    [{ type: 'string', 'x-ennead': 'secret' }, 'secret'],
    [{ type: 'string', 'x-ennead': 'code' }, 'code'],
    [{ anyOf: [{ type: 'string' }, { type: 'boolean' }], 'x-ennead': 'cel' }, 'code'],
    [{ anyOf: [{ type: 'string' }, { type: 'object' }], 'x-ennead': 'multiline' }, 'text'],
    [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, 'line'],
    [{ type: 'integer' }, 'number'],
    [{ type: 'boolean' }, 'switch'],
    [{ type: 'array', items: { type: 'string' } }, 'lines'],
    [{ type: 'array', items: {} }, 'json'],
    [{ type: 'object' }, 'json'],
    [{}, 'json'],
  ])('of %j is %s', (schema, kind) => {
    expect(controlOf(schema).kind).toBe(kind);
  });

  test('offers the words of an enum, and rows for a list of objects', () => {
    expect(controlOf({ enum: ['a', 'b'] })).toEqual({ kind: 'choice', options: ['a', 'b'] });
    const items = { type: 'object', required: ['when'], properties: { when: { type: 'string' } } };
    expect(controlOf({ type: 'array', items })).toEqual({
      kind: 'rows',
      fields: { when: { type: 'string' } },
      required: ['when'],
    });
  });
});

describe('What is typed', () => {
  const strict: Control = { kind: 'json', isStrict: true };
  const loose: Control = { kind: 'json', isStrict: false };

  test.each([
    [{ kind: 'number' }, '1.5', 1.5],
    [{ kind: 'number' }, '{{ a.b }}', '{{ a.b }}'],
    [{ kind: 'number' }, '  ', undefined],
    [{ kind: 'lines' }, 'a\n\nb', ['a', 'b']],
    [{ kind: 'lines' }, '{{ a.b }}', '{{ a.b }}'],
    [strict, '{"a": [1]}', { a: [1] }],
    [strict, '{{ a.b }}', '{{ a.b }}'],
    [loose, 'plain text', 'plain text'],
    [{ kind: 'line' }, 'null', 'null'],
  ] as const)('into %j as %j is %j', (control, text, value) => {
    expect(readTyped(control, text)).toEqual({ value });
  });

  test.each([
    [strict, 'text'],
    [strict, '{"a":'],
    [loose, '{"a":'],
  ])('into %j as %j is no value', (control, text) => {
    expect(readTyped(control, text)).toHaveProperty('flaw');
  });

  test.each([{ a: 1 }, 'text', '{"a": 1}', '12', [1, 'x'], false])(
    'is read as it was written: %j',
    (value) => {
      expect(readTyped(loose, writeTyped(loose, value))).toEqual({ value });
    },
  );
});

describe('Inputs', () => {
  const flow = {
    nodes: [
      { id: 'a', type: 'LLMNode', data: { prompt: '{{ inputs.text }} {{inputs["odd name"]}}' } },
      { id: 'b', type: 'Switch', data: { cases: [{ when: 'size(inputs.tags) > 0' }] } },
    ],
    edges: [{ source: 'a', target: 'b', condition: 'inputs.text != "" && myinputs.x' }],
  };

  test('are found wherever a flow names them', () => {
    expect(findInputs(flow)).toEqual(['text', 'odd name', 'tags']);
  });

  test('are texts or JSON, and not given where they are empty', () => {
    const text = { name: 'text', text: '1', isJson: false };
    expect(readInputs([text, { name: 'n', text: '[1]', isJson: true }])).toEqual({
      text: '1',
      n: [1],
    });
    expect(readInputs([{ ...text, text: ' ' }])).toEqual({});
    expect(() => readInputs([{ name: 'n', text: '[1', isJson: true }])).toThrow('n is no JSON');
  });
});

test('A node may name what lies before it, the round of its loop, and the inputs', () => {
  const outputs = { results: {}, count: {} };
  // Only its outputs matter here.
  const components = new Map([['Loop', { outputs } as never]]);
  const flow = {
    nodes: [
      { id: 'each-1', type: 'Loop', data: { items: '{{ inputs.list }}' } },
      { id: 'a', type: 'Transform' },
      { id: 'end', type: 'Transform' },
    ],
    edges: [
      { source: 'each-1', target: 'a' },
      { source: 'a', target: 'each-1' },
      { source: 'each-1', target: 'end', sourceHandle: 'done' },
    ],
  };
  const pathsOf = (id: string) => referencesFor(flow, id, components).map(({ path }) => path);
  expect(pathsOf('a')).toEqual([
    'nodes["each-1"].results',
    'nodes["each-1"].count',
    'loop.item',
    'loop.index',
    'inputs.list',
  ]);
  expect(pathsOf('end')).not.toContain('loop.item');
});

describe('An execution', () => {
  const execution: Execution = {
    executionId: 'exe_1',
    workflowId: 'wfl_1',
    version: 1,
    status: 'running',
    trigger: 'api',
    startedAt: '2026-01-01T00:00:00Z',
    tokensUsed: 0,
    cost: 0,
    nodes: [],
  };
  const event = (type: ExecutionEvent['type'], fields: Partial<ExecutionEvent> = {}) => ({
    type,
    executionId: 'exe_1',
    timestamp: '2026-01-01T00:00:01Z',
    seq: 1,
    ...fields,
  });

  test('follows its events, rounds of loops each', () => {
    const after = [
      event('node-started', { nodeId: 'a', iteration: '0' }),
      event('node-failed', {
        nodeId: 'a',
        iteration: '0',
        attempt: 2,
        error: { message: 'no', code: 'X' },
      }),
      event('node-started', { nodeId: 'a', iteration: '1' }),
      event('node-completed', { nodeId: 'a', iteration: '1', duration: 7, output: { n: 1 } }),
      event('workflow-failed', { duration: 9 }),
    ].reduce(applyEvent, execution);
    expect(after.nodes).toMatchObject([
      { nodeId: 'a', iteration: '0', status: 'failed', attempt: 2, error: { code: 'X' } },
      { nodeId: 'a', iteration: '1', status: 'completed', duration: 7, output: { n: 1 } },
    ]);
    expect(statesOf(after.nodes).get('a')).toEqual({ status: 'failed', count: 2, duration: 7 });
  });

  test('keeps no error of a node that runs again', () => {
    const resumed = [
      event('node-failed', { nodeId: 'a', error: { message: 'no', code: 'X' } }),
      event('workflow-failed'),
      event('node-started', { nodeId: 'a' }),
    ].reduce(applyEvent, execution);
    expect(resumed.status).toBe('running');
    expect(resumed.nodes[0]).not.toHaveProperty('error');
  });
});
