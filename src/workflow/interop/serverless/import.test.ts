import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ConditionCompiler } from '../../flow/expressions/conditions.ts';
import { testScope } from '../../flow/testing.ts';
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
    flow,
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
  expect(statuses).toEqual(['exact', 'adapted']);
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
    { when: '(has(inputs.orderType) ? inputs.orderType : null) == "electronic"', handle: 'case1' },
    { when: '(has(inputs.orderType) ? inputs.orderType : null) == "physical"', handle: 'case2' },
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
    data: {
      url: 'https://petstore.swagger.io/v2/pet/{{ inputs.petId | cgi_escape | replace: "+", "%20" }}',
    },
    retry: { maxAttempts: 5, backoff: 'exponential', initialDelay: 3_000 },
  });
});

test('a task that only runs sometimes stands behind a Condition', async () => {
  const { node, edges } = await convert(fixture('conditional-task'));
  expect(node('raise_error_if_underage_if')?.data['condition']).toContain(
    'inputs.customer.age < 18',
  );
  expect(edges).toContain('raise_error_if_underage_if:true > raise_error_if_underage');
  expect(edges).toContain('raise_error_if_underage_if:false > place_bet');
});

test('a loop sees its item, and what follows sees what the last round made', async () => {
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
  expect(node('call')?.data['body']).toEqual({ name: '{{ loop.item.name | json | parse_json }}' });
  expect(node('after')?.data['input']).toEqual({
    all: '{{ each_output.merged }}',
    first: '{{ each_output.merged[0].id | default: "none" }}',
  });
  expect(edges).toEqual([
    'each:body > call',
    'each:done > each_output',
    'call > each',
    'each_output > after',
  ]);
});

test('a task that nothing leads to is left out', async () => {
  const ended = await convert(
    documentOf(
      "  - a: {set: {q: 1}, then: end}\n  - b: {call: http, with: {endpoint: 'https://b.example'}}",
    ),
  );
  expect(ended.node('b')).toBeUndefined();
  expect(ended.steps[1]).toMatchObject({
    source: 'b',
    note: expect.stringContaining('never runs'),
  });
  const left = await convert(
    documentOf(
      "  - a: {do: [{x: {set: {n: 1}, then: exit}}, {y: {set: {n: 2}}}]}\n  - z: {set: {z: '${ .n }'}}",
    ),
  );
  expect(left.node('y')).toBeUndefined();
  expect(left.node('z')?.data['input']).toEqual({ z: '{{ x.result.n | json | parse_json }}' });
  expect(left.edges).toEqual(['x > z']);
});

test('after a failure nothing of the rest of a try runs', async () => {
  const { node, edges } = await convert(
    documentOf(
      '  - t: {try: [{h1: {call: http, with: {endpoint: "https://a.example"}}}, {h2: {call: http, with: {endpoint: "https://b.example"}}}], catch: {}}\n  - z: {set: {z: 1}}',
    ),
  );
  expect(edges.filter((edge) => edge.startsWith('h1'))).toEqual(['h1 > h2', 'h1:error > t_caught']);
  expect(node('h1')?.onError).toBe('continue');
  const looped = await convert(
    documentOf('  - t: {try: [{l: {for: {in: "${ .a }"}, do: [{s: {set: {n: 1}}}]}}], catch: {}}'),
  );
  expect(looped.statuses).toEqual(['unsupported']);
});

test('a task sees the data of the way that led to it', async () => {
  const { node, edges } = await convert(
    documentOf("  - a: {if: '${ .n > 5 }', set: {n: 100}}\n  - b: {set: {z: '${ .n }'}}"),
  );
  expect(edges).toEqual(['a_if:true > a', 'a_if:false > b_data', 'a > b_data', 'b_data > b']);
  expect(node('b_data')?.data).toEqual({
    mode: 'first',
    inputs: ['{{ a.result }}', '{{ inputs }}'],
  });
  expect(node('b')?.data['input']).toEqual({ z: '{{ b_data.merged.n | json | parse_json }}' });
});

test('branches give a list of their outputs', async () => {
  const { node } = await convert(
    documentOf(
      "  - f: {fork: {branches: [{one: {set: {a: 1}}}, {two: {set: {b: 2}}}]}}\n  - g: {set: {r: '${ .[0].a }'}}",
    ),
  );
  expect(node('f_join')?.data).toEqual({ inputs: ['{{ one.result }}', '{{ two.result }}'] });
  expect(node('g')?.data['input']).toEqual({ r: '{{ f_join.merged[0].a | json | parse_json }}' });
});

test('timeouts of `for`, `fork`, `wait` and `run` are those of their nodes', async () => {
  const { node, statuses, steps } = await convert(
    documentOf(`  - l: {for: {in: '\${ .xs }'}, do: [{a: {set: {x: 1}}}], timeout: {after: PT2S}}
  - f: {fork: {branches: [{b: {set: {x: 1}}}, {c: {do: [{c1: {set: {x: 1}}}]}}]}, timeout: {after: PT3S}}
  - w: {try: [{v: {wait: PT5S, timeout: {after: PT4S}}}], catch: {errors: {with: {status: 408}}}}
  - r: {run: {workflow: {name: other}}, timeout: {after: PT6S}}`),
  );
  const timeouts = ['l', 'f', 'v', 'r'].map((id) => node(id)?.timeout);
  expect(timeouts).toEqual([2_000, 3_000, 4_000, 6_000]);
  expect(statuses).not.toContain('unsupported');
  const fork = steps.find(({ source, type }) => source === 'f' && type === 'fork');
  expect(fork?.note).toContain('its timeout bounds the first');
});

test('input, timeouts and named retry policies are taken over', async () => {
  const { node, flow, statuses } = await convert(
    `${documentOf("  - a: {input: {from: '${ .o }'}, set: {x: '${ .v }'}, timeout: {after: {milliseconds: 200}}}\n  - t: {try: [{h: {call: http, with: {endpoint: 'https://a.example'}}}], catch: {retry: r1}}")}
timeout: {after: PT1M}
use: {retries: {r1: {delay: {seconds: 7}, backoff: {exponential: {}}, limit: {attempt: {count: 9}}}}}`,
  );
  expect(new Set(statuses)).toEqual(new Set(['exact']));
  expect(node('a')).toMatchObject({
    timeout: 200,
    data: { input: { x: '{{ inputs.o.v | json | parse_json }}' } },
  });
  expect(flow.settings).toEqual({ timeout: 60_000 });
  expect(node('h')?.retry).toMatchObject({
    maxAttempts: 9,
    backoff: 'exponential',
    initialDelay: 7_000,
  });
});

test.each([
  ["  - a: {set: {x: 1}}\noutput: {as: '${ .x }'}", 'unsupported'],
  ['  - a: {set: {x: 1}}\ninput: {schema: {format: json, document: {type: object}}}', 'adapted'],
  ['  - a: {set: {x: .q}}\nevaluate: {mode: loose}', 'unsupported'],
  ['  - a: {set: {x: 1}, input: {schema: {format: json, document: {}}}}', 'adapted'],
  ["  - a: {set: {x: '${ .x // 1 }'}}", 'adapted'],
  ["  - a: {call: http, with: {endpoint: 'https://a.example/{?q}'}}", 'unsupported'],
  ["  - a: {set: {x: 1}}\nschedule: {cron: '0 0 * * *'}", 'adapted'],
  ['  - a: {set: {x: 1}, export: {as: "${ . }"}}', 'adapted'],
  ["  - a: {input: {from: '${ .a + 1 }'}, set: {x: 1}}", 'unsupported'],
  ["  - a: {set: {x: 1}, output: {as: {y: '${ .x }'}}}", 'unsupported'],
  ['  - a: {do: [{b: {set: {x: 1}}}], timeout: {after: PT1S}}', 'unsupported'],
  ['  - a: {try: [{b: {set: {x: 1}}}], catch: {errors: {with: {status: 503}}}}', 'adapted'],
])('what is dropped is never called exact: %s', async (text, status) => {
  const { statuses } = await convert(documentOf(text));
  expect(statuses).toContain(status);
});

test('what is not there is null to a condition', async () => {
  const when = async (text: string) => {
    const { node } = await convert(documentOf(`  - a: {if: '\${ ${text} }', set: {x: 1}}`));
    return String(node('a_if')?.data['condition']);
  };
  const conditions = new ConditionCompiler();
  const holds = async (text: string, inputs: object) =>
    conditions
      .compile(await when(text), () => false)
      .holds(testScope({}, { inputs: { ...inputs } }));
  expect(await holds('.vip == true', {})).toBe(false);
  expect(await holds('.vip != true', {})).toBe(true);
  expect(await holds('.a.b == null', { a: null })).toBe(true);
  expect(await holds('.a.b == null', { a: { b: 1 } })).toBe(false);
  expect(await holds('.fast', {})).toBe(false);
  expect(await holds('.fast', { fast: 'yes' })).toBe(true);
  expect(await holds('.fast | not', {})).toBe(true);
  expect(await holds('.n < 5', {})).toBe(true);
  expect(await holds('.n > 5', { n: 6 })).toBe(true);
  expect(await holds('.list | length == 0', {})).toBe(true);
  expect(await holds('.n == null', { n: null })).toBe(true);
  expect(await holds('.a == .b', { a: 1 })).toBe(false);
});

test.each([
  ['.n > 5', { n: '12' }, true],
  ['.n > 5', { n: [] }, true],
  ['.n > 5', { n: true }, false],
  ['.n < 5', { n: '1' }, false],
  ['5 < .n', { n: '1' }, true],
  ['.n > "a"', { n: 5 }, false],
  ['.n >= "a"', { n: 'b' }, true],
  ['.n > null', {}, false],
  ['.n < null', { n: null }, false],
  ['.n >= null', {}, true],
  ['.n > null', { n: 0 }, true],
  ['.n > true', { n: 0 }, true],
  ['.n < true', { n: false }, true],
  ['.n > .m', { n: 'a', m: 9 }, true],
  ['.n > .m', { n: 2, m: 10 }, false],
  ['.n >= .m', {}, true],
  ['.n > .m', { n: 'b', m: 'a' }, true],
  ['.n == .m', { n: null }, true],
  ['.l | length > 1', { l: [1, 2] }, true],
])('kinds have the order that jq gives them: %s on %j is %s', async (text, inputs, expected) => {
  const { node } = await convert(documentOf(`  - a: {if: '\${ ${text} }', set: {x: 1}}`));
  const condition = String(node('a_if')?.data['condition']);
  const compiled = new ConditionCompiler().compile(condition, () => false);
  expect(compiled.holds(testScope({}, { inputs: { ...inputs } }))).toBe(expected);
});

test('texts that are joined are one text with placeholders', async () => {
  const { node, statuses } = await convert(
    documentOf(`  - one: {set: {x: '\${ "a " + .b + " {{c}} " + (.d.e | tostring) }'}}`),
  );
  expect(statuses).toEqual(['adapted']);
  const text = 'a {{ inputs.b }}{% raw %} {{c}} {% endraw %}{{ inputs.d.e }}';
  expect(node('one')?.data['input']).toEqual({ x: text });
});

test.each([
  [`namespace: ennead, name: wfl_1, version: '2.0.0'`, { version: 2 }],
  [`namespace: other, name: wfl_1, version: '2.0.0'`, { wait: false }],
])(
  'a workflow that is run keeps what it says of waiting and of its version: %s',
  async (of, kept) => {
    const isAwaited = !('wait' in kept);
    const { node, steps } = await convert(
      documentOf(`  - one: {run: {workflow: {${of}}, await: ${isAwaited}}}`),
    );
    expect(node('one')?.data).toEqual({ workflowId: 'wfl_1', ...kept });
    expect(steps[0]?.note?.includes('not 2.0.0 runs but its published version')).toBe(!isAwaited);
  },
);
