import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Flow } from '../../flow/flow.ts';
import { fieldsOf } from '../fields.ts';
import { openCompiler } from '../testing-components.ts';
import { exportServerless } from './export.ts';
import { readOwnExport } from './own-export.ts';

const compiler = openCompiler();
const retry = { enabled: true, maxAttempts: 3, backoff: 'linear', initialDelay: 10 } as const;
const position = { x: 1, y: 2 };
const flow: Flow = {
  nodes: [
    {
      id: 'ask',
      type: 'LLMNode',
      position,
      data: { prompt: 'Hi {{ inputs.name | upcase }}' },
      retry,
    },
    { id: 'if', type: 'Condition', position, data: { condition: 'size(inputs.list) > 1' } },
    {
      id: 'each',
      type: 'Loop',
      position,
      data: { items: '{{ inputs.list }}' },
    },
    {
      id: 'call',
      type: 'HttpRequest',
      position,
      data: { url: 'https://example.com/', maxBytes: 99 },
      onError: 'continue',
    },
    { id: 'wait', type: 'Wait', position, data: { duration: 5 }, timeout: 9_000 },
    { id: 'both', type: 'Merge', position, data: { mode: 'first' } },
  ],
  edges: [
    { source: 'wait', target: 'both' },
    { source: 'ask', target: 'if', condition: 'inputs.on == true' },
    { source: 'if', target: 'each', sourceHandle: 'true' },
    { source: 'if', target: 'wait', sourceHandle: 'false' },
    { source: 'each', target: 'call', sourceHandle: 'body' },
    { source: 'call', target: 'each' },
    { source: 'each', target: 'both', sourceHandle: 'done' },
  ],
  settings: { timeout: 60_000 },
};
const labels = { name: 'All', description: '', version: 2 };

function readBack(text: string): Flow | undefined {
  return readOwnExport(fieldsOf(parse(text)), (given) => compiler.read(given).flow)?.flow;
}

test('what we wrote is read back as the same flow', () => {
  expect(compiler.read(flow).faults).toEqual([]);
  const { text } = exportServerless(labels, flow);
  const back = readBack(text);
  const byId = new Map(back?.nodes.map((node) => [node.id, node]));
  expect(back?.nodes).toHaveLength(flow.nodes.length);
  for (const node of flow.nodes) expect(byId.get(node.id)).toEqual(node);
  expect(back?.edges).toEqual(flow.edges);
  expect(back?.settings).toEqual(flow.settings);
});

test('a task that somebody changed is not read from its metadata', () => {
  const { text } = exportServerless(labels, flow);
  expect(readBack(text.replace('milliseconds: 5', 'milliseconds: 6'))).toBeUndefined();
});
