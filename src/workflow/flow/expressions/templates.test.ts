import { describe, expect, it } from 'vitest';
import { Fault } from '../../../kit/errors.ts';
import type { Scope } from '../flow.ts';
import { testScope } from '../testing.ts';
import { compileTemplate, listTemplateFilters, openRenderBudget } from './templates.ts';

const nodes = {
  llm: { text: 'hi', score: 0.75, tags: ['a', 'b'], deep: { list: [{ x: 1 }] }, none: null },
  'a-b': { x: 2 },
  evil: { text: '{{ llm.text }}{% assign x = 1 %}' },
};
const isNode = (id: string) => Object.hasOwn(nodes, id);

function render(text: string, scope: Scope = testScope(nodes)): unknown {
  return compileTemplate(text, isNode).render(scope, openRenderBudget());
}

function faultOf(run: () => unknown): Fault {
  try {
    run();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('a template that is refused', () => {
  it.each([
    ['{{ llm.text', 'not closed'],
    ['{% if llm.text %}', 'not closed'],
    ['{{ llm.text | nope }}', 'undefined filter'],
    ['{{ llm.text | constructor }}', 'undefined filter'],
    ['{{ llm.text | __proto__ }}', 'undefined filter'],
    ['{{ llm.text | toString }}', 'undefined filter'],
    ['{{ llm.text | raw }}', 'undefined filter'],
    ['{{ llm.tags | where_exp: "x", "evil.text" }}', 'undefined filter'],
    ['{% include "/etc/passwd" %}', 'tag "include" not found'],
    ['{% render "/etc/passwd" %}', 'tag "render" not found'],
    ['{% layout "/etc/passwd" %}', 'tag "layout" not found'],
    ['{% increment inputs %}', 'tag "increment" not found'],
    [`{% if true %}`.repeat(700), 'not closed'],
    [`{{ llm${'[llm'.repeat(30_000)}${']'.repeat(30_000)} }}`, 'at most'],
    [`{{ llm.text }}${' '.repeat(200_000)}`, 'at most'],
  ])('%.60s', (text, message) => {
    const fault = faultOf(() => compileTemplate(text, isNode));
    expect(fault.reason).toBe('bad_expression');
    expect(fault.message).toContain(message);
  });

  it('names every root that stands for nothing', () => {
    const text = '{{ process.env }}{{ constructor }}{{ globalThis.x }}{{ this }}{{ __proto__.a }}';
    const { problems } = compileTemplate(text, isNode).references;
    expect(problems).toHaveLength(5);
    expect(problems[0]).toContain('process');
  });

  it('must write out which node it reads', () => {
    const problems = (text: string) => compileTemplate(text, isNode).references.problems;
    expect(problems('{{ nodes[inputs.id].text }}')).toHaveLength(1);
    expect(problems('{% assign n = nodes %}{{ n["llm"].text }}')).toHaveLength(1);
    expect(problems('{% for n in nodes %}{{ n }}{% endfor %}')).toHaveLength(1);
    expect(problems('{{ nodes["gone"].text }}')).toEqual(['there is no node "gone"']);
    expect(problems('{{ nodes["a-b"].x }}')).toEqual([]);
  });
});

describe('a template that tries to get out', () => {
  it.each([
    '{{ llm.constructor }}',
    '{{ llm.__proto__ }}',
    '{{ llm["__proto__"]["toString"] }}',
    '{{ llm.text.constructor.constructor }}',
    '{{ llm.tags.constructor }}',
    '{{ llm.tags.map }}',
    '{{ llm.prototype }}',
    '{{ llm.toString }}',
    '{% assign c = "constructor" %}{{ llm[c] }}',
    '{% assign c = "__proto__" %}{% assign p = llm[c] %}{{ p }}{{ p.constructor }}',
    '{{ llm.tags | map: "constructor" }}',
    '{{ llm.tags | map: "__proto__" }}',
    '{{ [inputs.name].text }}',
    '{{ [inputs.name] }}',
  ])('finds nothing: %s', (text) => {
    const scope = testScope(nodes, { inputs: { name: 'a-b' } });
    expect(['', undefined, '[null,null]']).toContain(
      Array.isArray(render(text, scope))
        ? JSON.stringify(render(text, scope))
        : render(text, scope),
    );
  });

  it('never renders what came out of it', () => {
    expect(render('{{ evil.text }}')).toBe(nodes.evil.text);
    expect(render('<{{ evil.text }}>')).toBe(`<${nodes.evil.text}>`);
    expect(render('{% capture c %}{{ evil.text }}{% endcapture %}{{ c }}')).toBe(nodes.evil.text);
    expect(render('{{ "{{ llm.text }" | append: "}" }}!')).toContain('llm.text');
  });

  it.each([
    '{% for i in (1..1000000000) %}x{% endfor %}',
    '{% for i in (1..5000) %}{% for j in (1..5000) %}x{% endfor %}{% endfor %}',
    '{% for i in (1..1000000) %}{% endfor %}{% for i in (1..8000000) %}{% endfor %}',
    `{% for i in (1..100000) %}${'long'.repeat(2_000)}{% endfor %}`,
    '{% for i in (1..100000) %}{{ inputs.big }}{% endfor %}',
    '{% capture c %}{% for i in (1..100000) %}{{ inputs.big }}{% endfor %}{% endcapture %}{{ c }}',
    `{% assign s = "abcdefghij" %}${'{% assign s = s | append: s %}'.repeat(40)}{{ s }}`,
    `{% assign s = inputs.list %}${'{% assign s = s | concat: s %}'.repeat(40)}{{ s.size }}`,
    '{{ inputs.big | replace: "a", inputs.big }}',
    '{{ inputs.big | split: "" | join: inputs.big }}',
    '{{ "now" | date: "%999999999d" }}',
  ])('is stopped: %.70s', (text) => {
    const inputs = { big: 'a'.repeat(500_000), list: Array.from({ length: 1_000 }, () => 1) };
    const startedAt = performance.now();
    const fault = faultOf(() => render(text, testScope(nodes, { inputs })));
    expect(fault.reason).toBe('expression_failed');
    expect(performance.now() - startedAt).toBeLessThan(3_000);
  });

  it('reads long texts of hostile shapes in time', () => {
    const shapes = [' '.repeat(400_000) + 'x', '<script'.repeat(60_000), '<!--'.repeat(100_000)];
    const filters = 'strip_html strip rstrip squish slugify normalize_whitespace newline_to_br';
    const startedAt = performance.now();
    for (const text of shapes) {
      for (const filter of filters.split(' ')) {
        render(`{{ inputs.text | ${filter} }}`, testScope(nodes, { inputs: { text } }));
      }
    }
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  it('takes 100 KB of text, but not of placeholders', () => {
    const text = `${'a'.repeat(2_000)}{{llm.score}}`;
    expect(String(render(text.repeat(50)))).toHaveLength(2_004 * 50);
    const startedAt = performance.now();
    const fault = faultOf(() => compileTemplate('{{llm.score}}'.repeat(8_000), isNode));
    expect(fault.message).toContain('too many placeholders');
    expect(performance.now() - startedAt).toBeLessThan(100);
  });
});

describe('a template', () => {
  it('keeps the type of a lone placeholder, filters included', () => {
    expect(render('{{ llm.score }}')).toBe(0.75);
    expect(render('{{llm.tags}}')).toEqual(['a', 'b']);
    expect(render('{{- llm.deep -}}')).toEqual({ list: [{ x: 1 }] });
    expect(render('{{ llm.tags | size }}')).toBe(2);
    expect(render('{{ llm.score | times: 2 }}')).toBe(1.5);
    expect(render('{{ llm.deep.list[0].x }}')).toBe(1);
    expect(render('{{ llm.gone | default: false }}')).toBe(false);
    expect(render('{{ llm.text == "hi" }}')).toBe(true);
    expect(render('{{ "{\\"a\\":1}" | size }}')).toBe(7);
  });

  it.each(['{{ llm.score | divided_by: 0 }}', 'is {{ llm.score | divided_by: 0 }}'])(
    'fails where it comes to what is no number: %s',
    (text) => {
      const fault = faultOf(() => render(text));
      expect(fault).toMatchObject({ reason: 'expression_failed' });
      expect(fault.message).toContain('Infinity, which is no number');
    },
  );

  it('is nothing where there is nothing', () => {
    expect(render('{{ llm.gone.far }}')).toBeUndefined();
    expect(render('<{{ llm.gone }}>')).toBe('<>');
    expect(render('{{ empty }}')).toBeUndefined();
  });

  it('keeps null, and writes nothing for it within a text', () => {
    expect(render('{{ llm.none }}')).toBeNull();
    expect(render('{{ nil }}')).toBeNull();
    expect(render('<{{ llm.none }}>')).toBe('<>');
  });

  it('writes objects and lists as JSON within a text', () => {
    expect(render('is {{ llm.tags }} and {{ llm.deep }}')).toBe(
      'is ["a","b"] and {"list":[{"x":1}]}',
    );
  });

  it('reads nodes, inputs, the round and the execution', () => {
    const scope = testScope(nodes, { inputs: { q: 'why' }, loop: { item: { n: 3 }, index: 1 } });
    const text =
      '{{ a-b.x }} {{ nodes["a-b"].x }} {{ inputs.q }} {{ loop.item.n }} {{ loop.index }} {{ execution.id }}';
    expect(render(text, scope)).toBe('2 2 why 3 1 exe_1');
  });

  it('reads a node called loop where there is no round', () => {
    const text = compileTemplate('{{ loop.results }}', (id) => id === 'loop');
    expect(text.references).toMatchObject({ usesLoop: true, usesLoopNode: true, problems: [] });
    const scope = testScope({ loop: { results: [1] } });
    expect(text.render(scope, openRenderBudget())).toEqual([1]);
  });

  it('says what it reads', () => {
    const { references } = compileTemplate(
      '{{ llm.text }}{% for t in nodes["a-b"].list %}{{ t.x }}{{ forloop.index }}{{ inputs.q }}{% endfor %}',
      isNode,
    );
    expect([...references.nodes].toSorted()).toEqual(['a-b', 'llm']);
    expect([...references.inputs]).toEqual(['q']);
    expect(references.usesLoop).toBe(false);
    expect(references.problems).toEqual([]);
  });

  it('has filters for JSON', () => {
    const scope = testScope({
      llm: { text: '```json\n{"a": [1, 2], "__proto__": {"b": 1}}\n```' },
    });
    expect(render('{{ llm.text | parse_json }}', scope)).toEqual({ a: [1, 2] });
    expect(render('{{ llm.tags | json }}')).toBe('["a","b"]');
    expect(render('{{ llm.deep | keys }}')).toEqual(['list']);
    expect(render('{{ llm.tags | type }}')).toBe('array');
    const fault = faultOf(() => render('{{ "{" | parse_json }}'));
    expect(fault.reason).toBe('expression_failed');
    expect(listTemplateFilters()).toContain('parse_json');
  });
});
