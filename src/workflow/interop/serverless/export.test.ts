import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Flow } from '../../flow/flow.ts';
import { exportServerless } from './export.ts';

const workflow = { name: 'Two ways', description: 'Goes one of two ways.', version: 3 };

function write(flow: Flow) {
  const made = exportServerless(workflow, flow);
  const document = parse(made.text) as { do: Record<string, Record<string, unknown>>[] };
  const tasks: Record<string, Record<string, unknown>> = Object.assign({}, ...document.do);
  return { ...made, document, tasks };
}

const call = {
  id: 'call',
  type: 'HttpRequest',
  data: {
    url: 'https://example.com/{{ inputs.id }}',
    body: { all: '{{ inputs }}' },
    method: 'POST',
  },
  retry: { enabled: true, maxAttempts: 4, backoff: 'exponential', initialDelay: 500 },
} as const;

test('what it cannot say stands in the head and in the report', () => {
  const { text, unsupported, tasks } = write({
    nodes: [{ id: 'ask', type: 'LLMNode', data: { prompt: 'Hi {{ inputs.name | upcase }}' } }],
    edges: [],
  });
  expect(text).toMatch(/^# What this document cannot say:\n# ask: /);
  expect(unsupported.map(({ nodeId }) => nodeId)).toContain('ask');
  expect(tasks['ask']).toMatchObject({ call: 'ennead:LLMNode' });
});

test('timeouts are said, those of a Loop and a Parallel in the head', () => {
  const { document, tasks, unsupported } = write({
    nodes: [
      { ...call, timeout: 5_000 },
      { id: 'wait', type: 'Wait', data: { duration: 9_000 }, timeout: 2_000 },
      { id: 'all', type: 'Parallel', data: {}, timeout: 3_000 },
    ],
    edges: [],
    settings: { timeout: 60_000 },
  });
  const after = (milliseconds: number) => ({ timeout: { after: { milliseconds } } });
  expect(document).toMatchObject(after(60_000));
  expect(tasks['call']).toMatchObject({ try: [{ call_once: after(5_000) }] });
  expect(tasks['wait']).toMatchObject(after(2_000));
  expect(tasks['all']).not.toHaveProperty('timeout');
  expect(unsupported).toContainEqual({ nodeId: 'all', reason: 'its "timeout" is not said' });
});

test('nodes are tasks that know what ran before, and which way was taken', () => {
  const { tasks, unsupported, document } = write({
    nodes: [
      { id: 'small', type: 'Transform', data: { input: 'no', expression: '$' } },
      call,
      {
        id: 'large',
        type: 'Condition',
        data: { condition: 'call.body.n > 10 && inputs.on == true' },
      },
      { id: 'wait', type: 'Wait', data: { duration: 2_000 } },
    ],
    edges: [
      { source: 'call', target: 'large' },
      { source: 'large', target: 'wait', sourceHandle: 'true' },
      { source: 'large', target: 'small', sourceHandle: 'false' },
    ],
  });
  expect(unsupported).toEqual([]);
  expect(document).toMatchObject({
    document: { dsl: '1.0.0', name: 'two-ways', version: '3.0.0' },
  });
  expect(Object.keys(tasks)).toEqual(['call', 'large', 'small', 'wait']);
  expect(tasks['call']).toMatchObject({
    try: [
      {
        call_once: {
          call: 'http',
          with: {
            endpoint: '${ "https://example.com/" + ($workflow.input.id | tostring) }',
            body: { all: '${ $workflow.input }' },
          },
        },
      },
    ],
    catch: { retry: { limit: { attempt: { count: 4 } }, backoff: { exponential: {} } } },
  });
  expect(tasks['large']).toMatchObject({
    if: '${ $context["call"] != null }',
    set: { result: '${ $context.call.body.n > 10 and $workflow.input.on == true }' },
  });
  expect(tasks['wait']).toMatchObject({ if: '${ $context["large"].result == true }' });
});
