import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fault } from '../../kit/errors.ts';
import { checkFlow } from './check.ts';
import { compilePlan } from './compile.ts';
import type { Flow, FlowEdge } from './flow.ts';
import { testComponents, testFlow, testNode, testScope } from './testing.ts';

const plan = (flow: Flow) => compilePlan(flow, testComponents);
const ends = (edges: readonly { readonly source: string; readonly target: string }[] = []) =>
  edges.map(({ source, target }) => `${source}>${target}`);

describe('a plan', () => {
  it('is refused with every fault of its flow', () => {
    const flow = testFlow(['a > b > a', 'c > gone'], [testNode('c', {}, { type: 'Nothing' })]);
    try {
      plan(flow);
      expect.unreachable();
    } catch (error) {
      const fault = Fault.from(error);
      expect([fault.code, fault.reason]).toEqual(['invalid', 'invalid_flow']);
      expect(fault.detail.faults).toEqual(checkFlow(flow, testComponents));
    }
  });

  it('has roots, ends and the edges between', () => {
    const { nodes, roots, ends: last } = plan(testFlow(['a > b > d', 'a > c > d', 'x > y']));
    expect([roots, last]).toEqual([
      ['a', 'x'],
      ['d', 'y'],
    ]);
    expect(ends(nodes.get('a')?.outgoing)).toEqual(['a>b', 'a>c']);
    expect(ends(nodes.get('d')?.incoming)).toEqual(['b>d', 'c>d']);
  });

  it('knows the body of a Loop', () => {
    const {
      nodes,
      roots,
      ends: last,
    } = plan(testFlow(['a > Loop > b > c > Loop > end', 'Loop > d > c']));
    const loop = nodes.get('Loop');
    expect([roots, last]).toEqual([['a'], ['end']]);
    expect(loop?.body?.nodeIds).toEqual(['b', 'c', 'd']);
    expect(ends(loop?.body?.back)).toEqual(['c>Loop']);
    expect(ends(loop?.incoming)).toEqual(['a>Loop']);
    expect(ends(loop?.outgoing)).toEqual(['Loop>b', 'Loop>end', 'Loop>d']);
    expect(ends(nodes.get('b')?.incoming)).toEqual(['Loop>b']);
    expect(nodes.get('b')?.loopId).toBe('Loop');
    expect(nodes.get('end')?.loopId).toBeUndefined();
  });

  it('takes a Loop that nothing leads to, and nothing leads on from, for root and end', () => {
    const { roots, ends: last } = plan(testFlow(['Loop > b > Loop']));
    expect([roots, last]).toEqual([['Loop'], ['Loop']]);
  });

  it('knows loops within loops', () => {
    const { nodes } = plan(testFlow(['Loop1 > a > Loop2 > b > Loop2 > c > Loop1 > end']));
    expect(nodes.get('Loop1')?.body?.nodeIds).toEqual(['a', 'Loop2', 'c']);
    expect(nodes.get('Loop2')?.body?.nodeIds).toEqual(['b']);
    expect(['a', 'Loop2', 'b', 'end'].map((id) => nodes.get(id)?.loopId)).toEqual([
      'Loop1',
      'Loop1',
      'Loop2',
      undefined,
    ]);
  });

  it('knows the tasks of a Parallel and what is referred to', () => {
    const flow = testFlow(
      ['Parallel > a > m', 'Parallel > b > m'],
      [testNode('m', { all: '{{ Parallel.results }}', b: '{{ nodes["b"].x }}{{ inputs.topic }}' })],
    );
    const { nodes, inputNames } = plan(flow);
    expect(nodes.get('Parallel')?.tasks).toEqual(['a', 'b']);
    expect(nodes.get('m')?.references).toEqual(['Parallel', 'b']);
    expect(inputNames).toEqual(['topic']);
  });

  it('opens edges by their conditions', () => {
    const base = testFlow(['a > b']);
    const edges = [{ source: 'a', target: 'b', condition: 'a.score > 0.5 && inputs.go' }];
    const [edge] = plan({ ...base, edges }).nodes.get('a')?.outgoing ?? [];
    expect(edge?.isOpen(testScope({ a: { score: 1 } }, { inputs: { go: true } }))).toBe(true);
    expect(edge?.isOpen(testScope({ a: { score: 0 } }, { inputs: { go: true } }))).toBe(false);
    expect(() => edge?.isOpen(testScope({ a: {} }))).toThrow(Fault);
  });

  it('of random graphs without cycles has exactly their edges', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.array(fc.nat(143)), (count, picks) => {
        const edges = new Map<string, FlowEdge>();
        for (const pick of picks) {
          const [from, to] = [pick % count, Math.floor(pick / 12) % count];
          if (from < to) edges.set(`n${from}>n${to}`, { source: `n${from}`, target: `n${to}` });
        }
        const ids = Array.from({ length: count }, (_, index) => `n${count - 1 - index}`);
        const flow = { nodes: ids.map((id) => testNode(id)), edges: [...edges.values()] };
        const { nodes, roots, ends: last } = plan(flow);
        for (const id of ids) {
          const own = flow.edges.filter(({ source }) => source === id);
          const theirs = flow.edges.filter(({ target }) => target === id);
          expect(ends(nodes.get(id)?.outgoing)).toEqual(ends(own));
          expect(ends(nodes.get(id)?.incoming)).toEqual(ends(theirs));
          expect([roots.includes(id), last.includes(id)]).toEqual([!theirs.length, !own.length]);
        }
      }),
    );
  });

  it('of random graphs with a cycle is never made', () => {
    const ids = Array.from({ length: 8 }, (_, index) => `n${index}`);
    const pair = fc.tuple(fc.constantFrom(...ids), fc.constantFrom(...ids));
    fc.assert(
      fc.property(
        fc.uniqueArray(pair, { selector: String }),
        fc.shuffledSubarray(ids, { minLength: 1 }),
        (pairs, cycle) => {
          const ring = cycle.map((id, index) => [id, cycle[(index + 1) % cycle.length] ?? id]);
          const known = new Map([...pairs, ...ring].map((both) => [String(both), both]));
          const edges = [...known.values()].map(([source = '', target = '']) => ({
            source,
            target,
          }));
          const faults = checkFlow({ nodes: ids.map((id) => testNode(id)), edges }, testComponents);
          expect(faults.map(({ code }) => code)).toContain('CYCLE');
        },
      ),
    );
  });
});

describe('settings', () => {
  const render = (
    data: Readonly<Record<string, unknown>>,
    inputs?: Readonly<Record<string, unknown>>,
    type = 'Step',
  ) => {
    const flow = testFlow(['a > b'], [testNode('b', data, { type })]);
    const scope = testScope({
      a: { text: 'hi', n: 5, list: [1], tpl: '{{ a.text }}', none: null },
    });
    return plan(flow).nodes.get('b')?.render(scope, inputs);
  };

  it('keep null, and leave out only what is absent', () => {
    const fields = { kept: '{{ a.none }}', gone: '{{ a.gone }}' };
    expect(render({ fields, list: ['{{ a.none }}'], top: '{{ a.none }}' })).toEqual({
      fields: { kept: null },
      list: [null],
      top: null,
    });
    expect(render({}, { fields })).toEqual({ fields: { kept: null } });
  });

  it('leave out a null that the component does not take', () => {
    const data = { prompt: 'x', temperature: '{{ a.none }}' };
    expect(render(data, undefined, 'Model')).toEqual({ prompt: 'x' });
    expect(render({ prompt: '{{ a.none }}' }, undefined, 'Model')).toEqual({});
  });

  it('of a dense list leave out what is absent, and keep null', () => {
    const inputs = ['{{ a.n }}', '{{ a.gone }}', '{{ a.none }}', null];
    expect(render({ inputs }, undefined, 'Join')).toEqual({ inputs: [5, null, null] });
    expect(render({ inputs: { x: '{{ a.none }}', y: '{{ a.gone }}' } }, undefined, 'Join')).toEqual(
      { inputs: { x: null } },
    );
  });

  it('are rendered deep, and keep the type of a lone placeholder', () => {
    const data = {
      x: ['{{ a.n }}', { y: 'n={{ a.n }}', z: '{{ a.gone }}' }, '{{ a.gone }}'],
      f: 1,
    };
    expect(render(data)).toEqual({ x: [5, { y: 'n=5' }, null], f: 1 });
    expect(data.x[0]).toBe('{{ a.n }}');
  });

  it('give way to inputs, whose placeholders are rendered once', () => {
    const inputs = { x: '{{ a.n }}', y: '{{ a.tpl }}', z: { deep: 'v{{ a.list }}' } };
    expect(render({ x: '{{ a.text }}', keep: 1 }, inputs)).toEqual({
      x: 5,
      y: '{{ a.text }}',
      z: { deep: 'v[1]' },
      keep: 1,
    });
  });

  it('are text where only a text may stand', () => {
    expect(render({ prompt: '{{ a.n }}', tags: ['{{ a.n }}'] }, undefined, 'Model')).toEqual({
      prompt: '5',
      tags: [5],
    });
    expect(render({ prompt: '{{ a.list }}' }, undefined, 'Model')).toEqual({ prompt: '[1]' });
  });

  it('hold conditions as their results, and leave code alone', () => {
    expect(render({ condition: 'a.n > 4' }, undefined, 'If')).toEqual({ condition: true });
    expect(render({ condition: true }, { condition: 'a.n > 9' }, 'If')).toEqual({
      condition: false,
    });
    const cases = [{ when: 'a.n == 5', handle: '{{ a.text }}' }];
    expect(render({ cases }, undefined, 'Switch')).toEqual({
      cases: [{ when: true, handle: 'hi' }],
    });
    expect(render({ code: '$map(x, {{ }})' }, undefined, 'Code')).toEqual({
      code: '$map(x, {{ }})',
    });
  });

  it.each([
    ['/x/0', { x: ['{{ a.text | parse_json }}'] }, undefined],
    ['/q', {}, { q: '{{ a.text' }],
    ['/q', {}, { q: '{{ process.env }}' }],
    ['/q/w', {}, { q: { w: '{% for i in (1..99999999999) %}{% endfor %}' } }],
  ])('that cannot be rendered name their place: %s', (path, data, inputs) => {
    try {
      render(data, inputs);
      expect.unreachable();
    } catch (error) {
      const fault = Fault.from(error);
      expect([fault.reason, fault.detail.path]).toEqual(['expression_failed', path]);
    }
  });

  it('never take a prototype from inputs', () => {
    const inputs = JSON.parse(
      '{"__proto__": {"evil": 1}, "constructor": 2, "x": {"__proto__": {"y": 1}}}',
    );
    const rendered = render({}, inputs);
    expect(JSON.stringify(rendered)).not.toContain('evil');
    expect(rendered).not.toHaveProperty('evil');
  });
});
