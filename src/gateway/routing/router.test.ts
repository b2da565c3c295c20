import { expect, test } from 'vitest';
import type { ChatRequest } from '../conversation/request.ts';
import type { Standing } from '../measure/standing.ts';
import type { Provider } from '../providers/provider.ts';
import type { Plan, RoutingQuestion, Strategy } from './plan.ts';
import { CandidateRouter, type RouterOptions } from './router.ts';
import { FakeProviders, fakeModel, fakeProvider, fakeRequest, fakeStandings } from './testing.ts';

const accepting = { unsupported: () => undefined };
const dialects = { openai: accepting, anthropic: accepting, gemini: accepting, ollama: accepting };

interface Scene {
  readonly providers: readonly Provider[];
  readonly standings?: Readonly<Record<string, Partial<Standing>>>;
  readonly options?: Partial<RouterOptions>;
}

function routerOf({ providers, standings = {}, options = {} }: Scene): CandidateRouter {
  return new CandidateRouter({
    providers: new FakeProviders(providers),
    standings: fakeStandings(standings),
    dialects,
    random: () => 0,
    ...options,
  });
}

function ask(
  request: ChatRequest,
  strategy: Strategy = 'cost',
  fallbacks: string[] = [],
): RoutingQuestion {
  return { request, strategy, fallbacks };
}

function order({ candidates }: Plan): string[] {
  return candidates.map(({ target }) => `${target.provider.name}/${target.model.name}`);
}

function rules({ excluded }: Plan): Record<string, string> {
  return Object.fromEntries(excluded.map(({ target, rule }) => [target.model.name, rule]));
}

const dear = fakeModel('dear', { prices: { input: 10, output: 30 }, quality: 0.95 });
const fair = fakeModel('fair', { prices: { input: 1, output: 3 }, quality: 0.7 });
const free = fakeModel('free', { prices: { input: 0, output: 0 }, quality: 0.2 });
const cloud = fakeProvider('cloud', [dear, fair]);
const local = fakeProvider('local', [free], { origin: 'local' });
const scene = { providers: [cloud, local] };

test.each([
  ['nope', 'there is no model nope'],
  ['cloud/nope', 'there is no model cloud/nope'],
])('the model %s, which nobody offers, is not found', (model, message) => {
  expect(() => routerOf(scene).plan(ask(fakeRequest('hi', { model })))).toThrow(
    expect.objectContaining({ code: 'not_found', reason: 'model_not_found', message }),
  );
});

test('without any provider there is nobody to choose from', () => {
  const router = routerOf({ providers: [] });
  expect(() => router.plan(ask(fakeRequest('hi')))).toThrow(
    expect.objectContaining({ reason: 'model_not_found' }),
  );
});

test('a request that nobody can take is refused with the first reason and its field', () => {
  const small = fakeModel('small', { contextWindow: 100, capabilities: new Set(['chat']) });
  const router = routerOf({ providers: [fakeProvider('p', [small])] });
  const long = fakeRequest('word '.repeat(1000), { model: 'small' });
  expect(() => router.plan(ask(long))).toThrow(
    expect.objectContaining({
      code: 'invalid',
      reason: 'context_length_exceeded',
      detail: { param: 'messages' },
    }),
  );
  const tools = [{ name: 'f', parameters: {} }];
  expect(() => router.plan(ask(fakeRequest('hi', { model: 'small', tools })))).toThrow(
    expect.objectContaining({ code: 'invalid', detail: { param: 'tools' } }),
  );
});

test('when those who could may not be asked now, the shortest wait is told', () => {
  const standings: Record<string, Partial<Standing>> = {
    'cloud/dear': { closedBecause: 'circuit', circuit: 'open', waitMs: 9000 },
    'cloud/fair': { closedBecause: 'rate-limit', waitMs: 3200 },
  };
  const router = routerOf({ providers: [cloud], standings });
  expect(() => router.plan(ask(fakeRequest('hi')))).toThrow(
    expect.objectContaining({ code: 'unavailable', retryAfter: 4 }),
  );
});

test('one whose circuit is open or limit used up is passed over and said so', () => {
  const standings = { 'local/free': { closedBecause: 'circuit', waitMs: 1 } } as const;
  const plan = routerOf({ ...scene, standings }).plan(ask(fakeRequest('hi')));
  expect(order(plan)).toEqual(['cloud/fair', 'cloud/dear']);
  expect(rules(plan)).toEqual({ free: 'circuit' });
});

test('cost takes the cheapest, quality the best, whatever it costs', () => {
  const router = routerOf(scene);
  expect(order(router.plan(ask(fakeRequest('hi'))))).toEqual([
    'local/free',
    'cloud/fair',
    'cloud/dear',
  ]);
  expect(order(router.plan(ask(fakeRequest('hi'), 'quality')))[0]).toBe('cloud/dear');
});

test('who is to think goes to a model that does, or to another when none does', () => {
  const thinker = fakeModel('thinker', {
    prices: { input: 9, output: 9 },
    capabilities: new Set([...fair.capabilities, 'reasoning']),
  });
  const router = routerOf({ providers: [cloud, local, fakeProvider('deep', [thinker])] });
  const efforts = (effort: string) => ask(fakeRequest('hi', { reasoning: { effort } }));
  const plan = router.plan(efforts('high'));
  expect(order(plan)).toEqual(['deep/thinker']);
  expect(rules(plan)).toEqual({ free: 'capability', fair: 'capability', dear: 'capability' });
  expect(order(router.plan(efforts('minimal')))[0]).toBe('local/free');
  expect(order(routerOf(scene).plan(efforts('high')))[0]).toBe('local/free');
  const named = { model: 'fair', reasoning: { effort: 'high' } };
  expect(order(router.plan(ask(fakeRequest('hi', named))))).toEqual(['cloud/fair']);
});

test.each([
  ['verbosity', { extras: { verbosity: 'low' } }],
  ['web_search_options', { extras: { user: 'u', web_search_options: { a: 1 } } }],
  ['messages[0].prefix', { extras: { 'messages[0].prefix': true } }],
  ['n', { choices: 2 }],
])('what the local models would lose goes elsewhere or is refused: %s', (param, changes) => {
  const question = (model: string) => {
    const request = fakeRequest('hi', { ...changes, model, extrasDialect: 'openai' });
    return { ...ask(request), dialect: 'openai' as const };
  };
  const plan = routerOf(scene).plan(question('auto-route'));
  expect(order(plan)).toEqual(['cloud/fair', 'cloud/dear']);
  expect(rules(plan)).toEqual({ free: 'dialect' });
  expect(() => routerOf(scene).plan(question('free'))).toThrow(
    expect.objectContaining({ reason: 'unsupported_parameter', detail: { param } }),
  );
});

test('what the local models know, what asks for nothing and what nobody knows goes to them', () => {
  const known = { min_p: 0.1, user: 'u', metadata: { a: 'b' }, search: false, think: false };
  const extras = { ...known, nobody: 1, 'messages[0].timestamp': '2026-01-31T08:00:00Z' };
  const question = { ...ask(fakeRequest('hi', { extras })), dialect: 'openai' as const };
  expect(order(routerOf(scene).plan(question))[0]).toBe('local/free');
});

test('code goes to the cheapest that is good enough, or to a worse one when it is alone', () => {
  const code = fakeRequest('Write a Python function that sorts numbers');
  const plan = routerOf(scene).plan(ask(code));
  expect(plan).toMatchObject({ taskKind: 'code', taskRule: 'it asks to work on code' });
  expect(order(plan)).toEqual(['cloud/fair', 'cloud/dear']);
  expect(rules(plan)).toEqual({ free: 'quality' });
  const alone = routerOf({ providers: [local] }).plan(ask(code));
  expect(order(alone)).toEqual(['local/free']);
  expect(alone.candidates[0]?.reasons.join()).toContain('below 0.3');
});

const tiny = fakeModel('tiny', { prices: { input: 0, output: 0 }, quality: 0.05 });
const weak = fakeModel('weak', { prices: { input: 2, output: 2 }, quality: 0.25 });
const output = { type: 'json' } as const;
const oneTool = [{ name: 'f', parameters: {} }];

test.each([
  ['chat', 'Explain the causes of the First World War', {}, 0.2],
  ['summarization', 'tl;dr of what I said', {}, 0.2],
  ['code', 'Write a Python function that sorts numbers', {}, 0.3],
  ['tools', 'Where is my order?', { tools: oneTool }, 0.3],
  ['json', 'Where is my order?', { output }, 0.3],
] as const)(
  'a free model that is not good enough for %s is left out',
  (what, text, changes, least) => {
    const box = fakeProvider('local', [tiny], { origin: 'local' });
    const request = fakeRequest(text, changes);
    const plan = routerOf({ providers: [box, cloud] }).plan(ask(request));
    expect(order(plan)).toEqual(['cloud/fair', 'cloud/dear']);
    expect(plan.excluded).toMatchObject([
      { rule: 'quality', reason: `its quality 0.05 is below ${least}, the least for ${what}` },
    ]);
    expect(order(routerOf({ providers: [box] }).plan(ask(request)))).toEqual(['local/tiny']);
  },
);

test('where nobody is good enough the best goes first, in the order of priorities', () => {
  const request = fakeRequest('Where is my order?', { tools: oneTool });
  const providers = [fakeProvider('local', [tiny]), fakeProvider('p', [free, weak])];
  const plan = routerOf({ providers }).plan(ask(request));
  expect(order(plan)).toEqual(['p/weak', 'p/free', 'local/tiny']);
  expect(plan.candidates[0]?.reasons[0]).toContain('its quality 0.25 is below 0.3');
  const first = fakeProvider('first', [tiny], { priority: -1 });
  expect(order(routerOf({ providers: [...providers, first] }).plan(ask(request)))[0]).toBe(
    'first/tiny',
  );
});

test('who reaches the floor goes before who does not, whatever else both lack', () => {
  const plain = fakeModel('plain', { capabilities: new Set(['chat']) });
  const code = fakeRequest('Write a Python function that sorts numbers');
  const providers = [fakeProvider('p', [plain, tiny])];
  expect(order(routerOf({ providers }).plan(ask(code)))).toEqual(['p/plain', 'p/tiny']);
});

test('an answer that is too long for a model is said to be that', () => {
  const narrow = fakeModel('narrow', { contextWindow: 1024 });
  const router = routerOf({ providers: [fakeProvider('p', [narrow])] });
  expect(() => router.plan(ask(fakeRequest('hi', { maxTokens: 50_000 })))).toThrow(
    expect.objectContaining({
      message: expect.stringMatching(
        /^an answer of 50000 tokens and about \d+ of the request do not/,
      ),
      detail: { param: 'max_tokens' },
    }),
  );
  expect(() => router.plan(ask(fakeRequest('word '.repeat(2_000), { maxTokens: 9 })))).toThrow(
    expect.objectContaining({ detail: { param: 'messages' } }),
  );
});

test('a key that is not accepted is not said to be a failure of the model', () => {
  const rest = { closedBecause: 'circuit', waitMs: 9000 } as const;
  const standings = { 'cloud/dear': rest, 'cloud/fair': { ...rest, circuit: 'open' } } as const;
  const plan = routerOf({ ...scene, standings }).plan(ask(fakeRequest('hi')));
  expect(plan.excluded.map(({ reason }) => reason)).toEqual([
    'its key was refused; it may be asked again in 9 s',
    'it failed too often; it may be asked again in 9 s',
  ]);
});

test('a cheap prompt price does not hide a dear answer', () => {
  const bait = fakeModel('bait', { prices: { input: 0.5, output: 100 } });
  const providers = [
    fakeProvider('p', [bait, fakeModel('even', { prices: { input: 2, output: 2 } })]),
  ];
  const router = routerOf({ providers });
  expect(order(router.plan(ask(fakeRequest('hi'))))[0]).toBe('p/even');
  const short = fakeRequest('word '.repeat(5000), { maxTokens: 1 });
  expect(order(router.plan(ask(short)))[0]).toBe('p/bait');
});

test('what nobody knows the price of stands behind what has one', () => {
  const unknown = fakeModel('unknown', { prices: { input: 0, output: 0 }, isPriceUnknown: true });
  const plan = routerOf({ providers: [fakeProvider('p', [unknown, dear])] }).plan(
    ask(fakeRequest('hi')),
  );
  expect(order(plan)).toEqual(['p/dear', 'p/unknown']);
  expect(plan.candidates[1]?.reasons[0]).toBe('its price is not known');
});

test('models that do not chat, see, use tools or have room are never chosen for what they lack', () => {
  const models = [
    fakeModel('embedder', { capabilities: new Set(['embedding']) }),
    fakeModel('painter', { capabilities: new Set(['image']) }),
    fakeModel('plain', { capabilities: new Set(['chat', 'code', 'summarization']) }),
    fakeModel('tight', { contextWindow: 200 }),
    fakeModel('brief', { maxOutput: 100 }),
    fakeModel('able', { prices: { input: 50, output: 50 } }),
  ];
  const router = routerOf({ providers: [fakeProvider('p', models)] });
  const request = fakeRequest('word '.repeat(300), {
    tools: [{ name: 'f', parameters: {} }],
    maxTokens: 1000,
  });
  const plan = router.plan(ask(request));
  expect(order(plan)).toEqual(['p/able']);
  expect(rules(plan)).toEqual({ plain: 'capability', tight: 'context', brief: 'context' });
  expect(() => router.plan(ask(fakeRequest('hi', { model: 'embedder' })))).toThrow(
    expect.objectContaining({ code: 'invalid', reason: 'unsupported_capability' }),
  );
});

test('who names a model whose abilities are only assumed gets the word of its provider', () => {
  const model = fakeModel('mine', {
    capabilities: new Set(['chat']),
    areCapabilitiesAssumed: true,
  });
  const router = routerOf({ providers: [fakeProvider('p', [model])] });
  const tools = [{ name: 'f', parameters: {} }];
  const named = router.plan(ask(fakeRequest('hi', { model: 'mine', tools })));
  expect(named.candidates[0]?.reasons).toContain('what it can do is only assumed');
  expect(() => router.plan(ask(fakeRequest('hi', { tools })))).toThrow('does not know tools');
});

test('a dialect without words for the request is left out, unless the request came in it', () => {
  const providers = [
    fakeProvider('open', [fakeModel('m', { prices: { input: 9, output: 9 } })]),
    fakeProvider('claude', [fakeModel('m')], { dialect: 'anthropic' }),
  ];
  const refusing = { ...dialects, anthropic: { unsupported: () => 'logit_bias' } };
  const router = routerOf({ providers, options: { dialects: refusing } });
  const request = fakeRequest('hi', { model: 'm' });
  const plan = router.plan(ask(request));
  expect(order(plan)).toEqual(['open/m']);
  expect(plan.excluded[0]).toMatchObject({ rule: 'dialect' });
  const same = router.plan({ ...ask(request), dialect: 'anthropic' });
  expect(order(same)).toEqual(['claude/m', 'open/m']);
  expect(() => router.plan(ask(fakeRequest('hi', { model: 'claude/m' })))).toThrow(
    expect.objectContaining({ detail: { param: 'logit_bias' } }),
  );
});

test('each model that may answer is judged by its own name, not by the name that was asked for', () => {
  const models = [fakeModel('new', { quality: 0.9 }), fakeModel('old')];
  const providers = [fakeProvider('claude', models, { dialect: 'anthropic' })];
  const isNew = (_: ChatRequest, model?: string) => (model === 'new' ? 'seed' : undefined);
  const picky = { ...dialects, anthropic: { unsupported: isNew } };
  const router = routerOf({ providers, options: { dialects: picky } });
  const chosen = router.plan(ask(fakeRequest('hi'), 'quality'));
  expect(order(chosen)).toEqual(['claude/old']);
  expect(rules(chosen)).toEqual({ new: 'dialect' });
  const named = fakeRequest('hi', { model: 'old' });
  expect(order(router.plan(ask(named, 'cost', ['new'])))).toEqual(['claude/old']);
});

test('priority goes before what the strategy wants', () => {
  const providers = [
    fakeProvider('first', [dear], { priority: -1 }),
    fakeProvider('second', [fair]),
    fakeProvider('third', [free], { priority: 1 }),
  ];
  const plan = routerOf({ providers }).plan(ask(fakeRequest('hi')));
  expect(order(plan)).toEqual(['first/dear', 'second/fair', 'third/free']);
  expect(plan.candidates[0]?.reasons).toContain('its provider has priority -1');
});

test('fallbacks follow in their order, each target once, those that nobody offers left out', () => {
  const question = ask(fakeRequest('hi', { model: 'fair' }), 'cost', [
    'nope',
    'free',
    'fair',
    'dear',
  ]);
  const plan = routerOf(scene).plan(question);
  expect(order(plan)).toEqual(['cloud/fair', 'local/free', 'cloud/dear']);
  const chosen = routerOf(scene).plan(
    ask(fakeRequest('hi', { model: 'dear' }), 'cost', ['auto-route']),
  );
  expect(order(chosen)).toEqual(['cloud/dear', 'local/free', 'cloud/fair']);
});

test('performance takes whom it measured as fastest, and tries who was never asked', () => {
  const providers = ['slow', 'fast', 'new', 'flaky'].map((name) =>
    fakeProvider(name, [fakeModel('m')]),
  );
  const standings = {
    'slow/m': { firstTokenMs: 2000, tokensPerSecond: 20 },
    'fast/m': { firstTokenMs: 200, tokensPerSecond: 200 },
    'flaky/m': { firstTokenMs: 100, tokensPerSecond: 300, availability: 0.4 },
  };
  const request = fakeRequest('hi', { model: 'm' });
  const plan = routerOf({ providers, standings }).plan(ask(request, 'performance'));
  expect(order(plan)).toEqual(['new/m', 'fast/m', 'flaky/m', 'slow/m']);
  expect(plan.candidates[0]?.reasons[0]).toContain('not measured yet');
  const busy = {
    ...standings,
    'fast/m': { ...standings['fast/m'], inFlight: 100 },
    'new/m': { inFlight: 99 },
  };
  expect(order(routerOf({ providers, standings: busy }).plan(ask(request, 'performance')))[0]).toBe(
    'flaky/m',
  );
});

test('equals share the traffic by their weights, and the freer of two is taken', () => {
  const providers = [
    fakeProvider('a', [fakeModel('m')], { weight: 3 }),
    fakeProvider('b', [fakeModel('m')], { weight: 1 }),
  ];
  const draws = [0.1, 0.4, 0.7, 0.9];
  const request = fakeRequest('hi', { model: 'm' });
  const share = (standings: Record<string, Partial<Standing>>) => {
    const heads = draws.flatMap((one) =>
      draws.map((two) => {
        const pair = [one, two];
        const random = () => pair.shift() ?? 0;
        return order(routerOf({ providers, standings, options: { random } }).plan(ask(request)))[0];
      }),
    );
    return heads.filter((head) => head === 'a/m').length / heads.length;
  };
  expect(share({})).toBe(0.75);
  expect(share({ 'a/m': { inFlight: 30 } })).toBe(9 / 16);
  expect(share({ 'a/m': { latencyMs: 100 }, 'b/m': { latencyMs: 900 } })).toBe(15 / 16);
  expect(share({ 'a/m': { availability: 0.5 } })).toBe(0);
});

test('among models that cost the same, the available, the free and the better go first', () => {
  const models = ['shaky', 'busy', 'good', 'plain'].map((name) =>
    fakeModel(name, { quality: name === 'good' ? 0.8 : 0.5 }),
  );
  const standings = { 'p/shaky': { availability: 0.6 }, 'p/busy': { inFlight: 12 } };
  const plan = routerOf({ providers: [fakeProvider('p', models)], standings }).plan(
    ask(fakeRequest('hi')),
  );
  expect(order(plan)).toEqual(['p/good', 'p/plain', 'p/busy', 'p/shaky']);
});

test('a provider that was replaced is chosen as it is now', () => {
  const providers = new FakeProviders([cloud]);
  const router = routerOf({ providers: [], options: { providers } });
  expect(order(router.plan(ask(fakeRequest('hi'))))).toEqual(['cloud/fair', 'cloud/dear']);
  providers.replace([local]);
  expect(order(router.plan(ask(fakeRequest('hi'))))).toEqual(['local/free']);
});

test('among many, the first are the same as when every target is looked at', () => {
  const providers = Array.from({ length: 6 }, (_, at) =>
    fakeProvider(
      `p${at}`,
      Array.from({ length: 20 }, (__, step) =>
        fakeModel(`m-${at}-${step}`, {
          prices: { input: (step * 7 + at) % 23, output: 1 },
          quality: ((step * 5 + at) % 19) / 19,
          contextWindow: step % 3 === 0 ? 10 : 100_000,
          ...(step === 5 ? { isPriceUnknown: true } : {}),
        }),
      ),
      { priority: at === 3 ? 1 : 0 },
    ),
  );
  const cheapest = { closedBecause: 'circuit', waitMs: 5 } as const;
  const standings = { 'p0/m-0-10': cheapest, 'p1/m-1-13': cheapest };
  const router = routerOf({ providers, standings });
  for (const text of ['hello there', 'write a python function']) {
    for (const strategy of ['cost', 'quality'] as const) {
      const question = ask(fakeRequest(text), strategy);
      const quick = order(router.plan(question));
      const whole = order(router.plan({ ...question, isComplete: true }));
      expect(quick.length).toBeGreaterThanOrEqual(12);
      expect(whole.length).toBeGreaterThan(quick.length);
      expect(quick.slice(0, 12)).toEqual(whole.slice(0, 12));
    }
  }
});

test('when the promising ones of many may not be asked, the others are', () => {
  const models = Array.from({ length: 60 }, (_, at) =>
    fakeModel(`m-${at}`, { prices: { input: at, output: at } }),
  );
  const closed = models
    .slice(0, 58)
    .map(({ name }) => [`p/${name}`, { closedBecause: 'circuit', waitMs: 5 } as const]);
  const standings = Object.fromEntries(closed);
  const router = routerOf({ providers: [fakeProvider('p', models)], standings });
  expect(order(router.plan(ask(fakeRequest('hi'))))).toEqual(['p/m-58', 'p/m-59']);
});
