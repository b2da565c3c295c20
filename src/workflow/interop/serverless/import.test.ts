import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readDocument, recogniseFormat } from '../document.ts';
import { mendDraft } from '../mending.ts';
import { openCompiler } from '../testing-components.ts';
import { importServerless } from './import.ts';

const compiler = openCompiler();

async function convert(text: string) {
  const document = await readDocument(text);
  expect(recogniseFormat(document)).toBe('serverless-workflow');
  const made = mendDraft(importServerless(document), (flow) => compiler.read(flow).faults);
  const { flow } = compiler.read(made.flow);
  if (!flow) throw new Error('the flow does not hold');
  return {
    ...made,
    node: (id: string) => flow.nodes.find((one) => one.id === id),
    statuses: made.steps.map(({ status }) => status),
    edges: flow.edges.map(
      ({ source, target, sourceHandle }) =>
        `${source}${sourceHandle === undefined ? '' : `:${sourceHandle}`} > ${target}`,
    ),
  };
}

const fixture = (name: string) =>
  readFileSync(new URL(`../fixtures/${name}.yaml`, import.meta.url), 'utf8');
const documentOf = (tasks: string) =>
  `document: {dsl: '1.0.0', namespace: a, name: test, version: '1.0.0'}\ndo:\n${tasks}`;

test.each(['${ .a | map(.b) }', '${ env.HOME }', '${ input }', '${ $secrets.key }', '${ .a + 1 }'])(
  'an expression that is more than a path makes its task a Placeholder: %s',
  async (text) => {
    const { node, statuses } = await convert(documentOf(`  - one: {set: {x: '${text}'}}`));
    expect(statuses).toEqual(['unsupported']);
    expect(node('one')?.type).toBe('Placeholder');
  },
);

test('scripts and containers are never taken over', async () => {
  const { node } = await convert(
    documentOf('  - one: {run: {script: {language: js, code: "process.exit()"}}}'),
  );
  expect(node('one')?.type).toBe('Placeholder');
});

test('a call has its query', async () => {
  const { node, statuses } = await convert(fixture('call-http-query-parameters'));
  expect(statuses).toEqual(['exact']);
  expect(node('search_star_wars_characters')).toMatchObject({
    type: 'HttpRequest',
    data: {
      method: 'GET',
      url: 'https://swapi.dev/api/people/',
      query: { search: '{{ inputs.searchQuery }}' },
    },
  });
});

test('a switch leads to the tasks that its cases name', async () => {
  const { node, edges, statuses } = await convert(fixture('switch-then-string'));
  expect(new Set(statuses)).toEqual(new Set(['exact']));
  expect(edges).toEqual([
    'process_order:case1 > process_electronic_order',
    'process_order:case2 > process_physical_order',
    'process_order:default > handle_unknown_order_type',
  ]);
  expect(node('process_order')?.data['cases']).toMatchObject([
    { when: 'inputs.orderType == "electronic"', handle: 'case1' },
    { when: 'inputs.orderType == "physical"', handle: 'case2' },
  ]);
});

test('branches run at once and come together', async () => {
  const { edges } = await convert(fixture('fork'));
  expect(edges).toEqual([
    'raise_alarm > call_nurse',
    'raise_alarm > call_doctor',
    'call_nurse > raise_alarm_join',
    'call_doctor > raise_alarm_join',
  ]);
});

test('what is tried again keeps its rule', async () => {
  const { node } = await convert(fixture('try-catch-retry-inline'));
  expect(node('get_pet')).toMatchObject({
    data: { url: 'https://petstore.swagger.io/v2/pet/{{ inputs.petId }}' },
    retry: { maxAttempts: 5, backoff: 'exponential', initialDelay: 3_000 },
  });
});

test('a task that only runs sometimes stands behind a Condition', async () => {
  const { node, edges } = await convert(fixture('conditional-task'));
  expect(node('raise_error_if_underage_if')?.data['condition']).toBe('inputs.customer.age < 18');
  expect(edges).toContain('raise_error_if_underage_if:true > raise_error_if_underage');
  expect(edges).toContain('raise_error_if_underage_if:false > place_bet');
});

test('a loop sees its item, and what follows sees the results', async () => {
  const { node, edges } = await convert(
    documentOf(
      `  - each:
      for: {each: pet, in: '\${ .pets }', at: place}
      do:
        - call: {call: http, with: {method: post, endpoint: 'https://example.com', body: {name: '\${ $pet.name }'}}}
  - after: {set: {all: '\${ . }', first: '\${ .[0].id // "none" }'}}`,
    ),
  );
  expect(node('each')?.data).toEqual({ items: '{{ inputs.pets }}' });
  expect(node('call')?.data['body']).toEqual({ name: '{{ loop.item.name }}' });
  expect(node('after')?.data['input']).toEqual({
    all: '{{ each.results }}',
    first: '{{ each.results[0].id | default: "none" }}',
  });
  expect(edges).toEqual(['each:body > call', 'each:done > after', 'call > each']);
});
