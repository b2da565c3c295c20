import { expect, test } from 'vitest';
import type { AnalysedSpan, TraceAnalysis, TraceStatus } from '../trace/analysis.ts';
import { spanKinds, type GenAiFacts, type SpanHead } from '../trace/span.ts';
import { Contributor } from './contribution.ts';

const startUs = Date.parse('2026-11-21T10:00:00Z') * 1_000;

function headOf(spanId: string, fields: Partial<SpanHead> = {}): SpanHead {
  return {
    traceId: 'a'.repeat(32),
    spanId,
    parentSpanId: undefined,
    service: 'web',
    name: 'GET /',
    kind: spanKinds.server,
    startUs,
    endUs: startUs + 1_000,
    isError: false,
    statusMessage: undefined,
    agent: 'web',
    host: undefined,
    errorCode: undefined,
    callee: undefined,
    genAi: undefined,
    ...fields,
  };
}

function spanOf(head: SpanHead, fields: Partial<AnalysedSpan> = {}): AnalysedSpan {
  return { head, parent: undefined, selfUs: 10, isEntry: false, isExternalCall: false, ...fields };
}

function analysisOf(
  spans: readonly AnalysedSpan[],
  status: TraceStatus = 'success',
): TraceAnalysis {
  const error =
    status === 'success' ? undefined : { code: 'E', message: 'm', spanId: '1', agent: 'writer' };
  const [root] = spans;
  return {
    summary: {
      name: 'GET /',
      service: 'web',
      agent: 'web',
      rootSpanId: root?.head.spanId ?? '',
      startUs,
      endUs: startUs + 1_000,
      status,
      spanCount: spans.length,
      errorCount: 0,
      agents: ['web'],
      services: ['web'],
      isPartial: false,
      error,
    },
    split: { totalUs: 1_000, networkUs: 0, processingUs: 1_000, overheadUs: 0 },
    spans,
  };
}

const contributionOf = (analysis: TraceAnalysis) => new Contributor().contributionOf(analysis);

function linesOf(analysis: TraceAnalysis): string[] {
  return contributionOf(analysis).samples.map(
    ({ kind, labels, amount, isError }) =>
      `${kind} ${labels.join('|')} ${amount}${isError ? ' failed' : ''}`,
  );
}

test('a failed trace counts as an error everywhere, under its own error and agent', () => {
  const lines = linesOf(analysisOf([spanOf(headOf('1'), { isEntry: true })], 'timeout'));
  expect(lines).toEqual([
    'traceName GET / 1000 failed',
    'traceAgent web 1000 failed',
    'traceStatus timeout 1000 failed',
    'error E|writer 0 failed',
    'operation web|GET /|server 1000',
    'self web|GET /|server 10',
    'service web|service 1000',
  ]);
});

test('a call between services is an edge with what the callee took; within one it is none', () => {
  const root = headOf('1');
  const inner = headOf('2', { parentSpanId: '1', name: 'inner' });
  const other = headOf('3', {
    service: 'db-api',
    parentSpanId: '2',
    isError: true,
    endUs: startUs + 7,
  });
  const lines = linesOf(
    analysisOf([
      spanOf(root, { isEntry: true }),
      spanOf(inner, { parent: root, isEntry: true }),
      spanOf(other, { parent: inner, isEntry: true }),
    ]),
  );
  expect(lines.filter((line) => line.startsWith('edge'))).toEqual([
    'edge web|db-api|service 7 failed',
  ]);
});

test('a call to the outside counts for what it went to; without a name it is no edge', () => {
  const callee = { type: 'database', name: 'postgresql' } as const;
  const lines = linesOf(
    analysisOf([
      spanOf(headOf('1', { kind: spanKinds.client, callee }), { isExternalCall: true }),
      spanOf(headOf('2', { kind: 99 }), { isExternalCall: true }),
      spanOf(headOf('3', { callee })),
    ]),
  );
  expect(lines.filter((line) => /^(edge|service)/.test(line))).toEqual([
    'service postgresql|database 1000',
    'edge web|postgresql|database 1000',
  ]);
  expect(lines).toContain('operation web|GET /|unspecified 1000');
});

const chat: GenAiFacts = {
  operation: 'chat',
  provider: 'openai',
  model: 'gpt-4o',
  inputTokens: 1_000_000,
  outputTokens: 100_000,
};

/** Spans one within the other, the outermost first. */
function nested(...facts: (GenAiFacts | undefined)[]): AnalysedSpan[] {
  const spans: AnalysedSpan[] = [];
  facts.forEach((genAi, at) => {
    const parent = spans.at(-1)?.head;
    const head = headOf(`${at}`, { genAi, parentSpanId: parent?.spanId, agent: `agent-${at}` });
    spans.push(spanOf(head, { parent }));
  });
  return spans;
}

const claude: GenAiFacts = {
  operation: 'chat',
  provider: 'anthropic',
  model: 'claude-sonnet-4-5',
  inputTokens: 100_000,
};

const silent: GenAiFacts = { operation: 'chat', model: 'gpt-4o' };
const agent: GenAiFacts = { ...chat, operation: 'invoke_agent', model: undefined };
const tool: GenAiFacts = { ...chat, operation: 'execute_tool', tool: 'search' };
const embedding: GenAiFacts = { ...chat, operation: 'embeddings', outputTokens: undefined };

test.each([
  ['nothing', [undefined], []],
  ['a tool, though it repeats tokens', [tool], []],
  ['a call without tokens or cost', [silent], [0]],
  ['a call and what tells of its tokens', [silent, undefined, chat], [2]],
  ['a call and an attempt that failed', [chat, silent], [0]],
  ['a call and its attempts, none of which tells', [silent, silent], [0]],
  ['an agent around a call without tokens', [agent, silent], [1]],
  ['a call', [chat], [0]],
  ['an agent without a call of its own', [agent], [0]],
  ['an agent that repeats its call', [agent, undefined, chat], [2]],
  ['an agent in an agent', [agent, agent, chat], [2]],
  ['a client and the gateway that it went through', [chat, undefined, chat], [0]],
  ['a client, the gateway and the runtime', [chat, chat, chat], [0]],
  ['calls that differ', [chat, { ...chat, inputTokens: 5 }], [0, 1]],
  ['an embedding within a chat', [chat, embedding], [0, 1]],
])('of %s the tokens count once', (_name, facts, counted) => {
  const { calls } = contributionOf(analysisOf(nested(...facts)));
  expect(calls.map(({ head }) => Number(head.spanId))).toEqual(counted);
});

test.each([
  ['its span says', { ...chat, costUsd: 0.25 }, 0.25],
  ['the price list says', chat, 3.5],
  ['cached tokens cost less', { ...chat, cachedInputTokens: 1_000_000 }, 2.25],
  ['tokens written to the cache cost more', { ...claude, cacheWriteTokens: 100_000 }, 0.375],
  ['more are written than there are', { ...claude, cacheWriteTokens: 1e9 }, 0.375],
  ['more are cached than there are', { ...chat, inputTokens: 0, cachedInputTokens: 9 }, 1],
  ['its provider is not named', { ...chat, provider: undefined }, 3.5],
  ['its span says what no cost can be', { ...chat, costUsd: Number.NaN }, 3.5],
  ['its span says a debt', { ...chat, costUsd: -1 }, 3.5],
  ['its tokens are no number', { ...chat, inputTokens: Infinity, outputTokens: Number.NaN }, 0],
  ['it tells of no tokens', silent, undefined],
  ['its model is unknown', { ...chat, model: 'no-such-model' }, undefined],
  ['its provider is unknown', { ...chat, provider: 'no-such-provider' }, undefined],
  ['its model is not named', { ...chat, model: undefined }, undefined],
])('a call costs what is known where %s', (_name, facts, cost) => {
  const { calls, samples } = contributionOf(analysisOf(nested(facts)));
  if (cost === undefined) expect(calls[0]!.costUsd).toBeUndefined();
  else expect(calls[0]!.costUsd).toBeCloseTo(cost, 9);
  const priced = samples.find(({ kind }) => kind === 'cost');
  expect(priced?.amount).toEqual(cost === undefined ? undefined : expect.closeTo(cost * 1e6, 3));
  expect(samples.filter(({ kind }) => kind === 'inputTokens')).toHaveLength(1);
});

test('one analysis gives the same samples every time', () => {
  const analysis = analysisOf(nested(agent, chat, tool), 'error');
  const contributor = new Contributor();
  const first = contributor.contributionOf(analysis).samples;
  expect(contributor.contributionOf(analysis).samples).toEqual(first);
  expect(contributionOf(analysis).samples).toEqual(first);
});
