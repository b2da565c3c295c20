import type { PriceList } from '../../kit/prices/price-list.ts';
import { priceOf } from '../../kit/prices/pricing.ts';
import type { AnalysedSpan } from '../trace/analysis.ts';
import type { GenAiFacts, SpanHead } from '../trace/span.ts';

/** A call of a model, once, however many spans tell of it. */
export interface ModelCall {
  readonly head: SpanHead;
  readonly provider: string;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars; undefined where neither the span nor the price list says. */
  readonly costUsd: number | undefined;
}

const generating: ReadonlySet<string> = new Set(['chat', 'text_completion', 'generate_content']);

/**
 * The calls of models in a trace. An outer span that adds up what the calls below it took (an agent,
 * a workflow) is left out; of two generating spans, one in the other, that tell of the same tokens
 * (a client and the gateway that it went through) the outer one counts, for it knows who asked, and
 * of one that tells of tokens and one that does not, the one that does.
 */
export function findModelCalls(spans: readonly AnalysedSpan[], prices: PriceList): ModelCall[] {
  const told = spans.filter(({ head }) => isLeafCall(head) || hasUsage(head));
  if (told.length === 0) return [];
  const repeated = told.length === 1 ? undefined : findRepeated(spans, told);
  return told.flatMap(({ head }) => {
    if (head.genAi === undefined || repeated?.has(head.spanId) === true) return [];
    return [callOf(head, { facts: head.genAi, prices })];
  });
}

/** What calls took together; dollars without what adding up in binary leaves behind the twelfth digit. */
export function spentOn(calls: readonly ModelCall[]) {
  const spent = { inputTokens: 0, outputTokens: 0, costUsd: 0 };
  for (const call of calls) {
    spent.inputTokens += call.inputTokens;
    spent.outputTokens += call.outputTokens;
    spent.costUsd += call.costUsd ?? 0;
  }
  return { ...spent, costUsd: Number(spent.costUsd.toPrecision(12)) };
}

/** A tool's span has no tokens of its own, whatever it repeats. */
function hasUsage({ genAi }: SpanHead): boolean {
  if (genAi === undefined || genAi.operation === 'execute_tool') return false;
  const { inputTokens, outputTokens, costUsd } = genAi;
  return inputTokens !== undefined || outputTokens !== undefined || costUsd !== undefined;
}

function findRepeated(
  spans: readonly AnalysedSpan[],
  told: readonly AnalysedSpan[],
): ReadonlySet<string> {
  const parents = new Map(spans.map(({ head, parent }) => [head.spanId, parent?.spanId]));
  const calls = new Map(told.map(({ head }) => [head.spanId, head]));
  const repeated = new Set<string>();
  for (const { head } of told) {
    const outer = nearestCall(head.spanId, { parents, calls });
    const one = outer && repeatedOf(outer, head);
    if (one) repeated.add(one.spanId);
  }
  return repeated;
}

/** Which of two calls, one in the other, tells of what the other one tells of. */
function repeatedOf(outer: SpanHead, inner: SpanHead): SpanHead | undefined {
  if (!isLeafCall(outer)) return outer;
  const [one, other] = [usageOf(outer), usageOf(inner)];
  if (one.isEmbedding !== other.isEmbedding) return undefined;
  if (!hasUsage(inner)) return inner;
  if (!hasUsage(outer)) return outer;
  return one.input === other.input && one.output === other.output ? inner : undefined;
}

interface CallTree {
  readonly parents: ReadonlyMap<string, string | undefined>;
  readonly calls: ReadonlyMap<string, SpanHead>;
}

function nearestCall(spanId: string, { parents, calls }: CallTree): SpanHead | undefined {
  // A trace's tree has no cycle, but what is counted here must end in any case.
  for (
    let id = parents.get(spanId), steps = 0;
    id !== undefined && steps < parents.size;
    steps += 1
  ) {
    const call = calls.get(id);
    if (call !== undefined) return call;
    id = parents.get(id);
  }
  return undefined;
}

function isLeafCall({ genAi }: SpanHead): boolean {
  const operation = genAi?.operation ?? '';
  return generating.has(operation) || operation === 'embeddings';
}

function usageOf({ genAi }: SpanHead) {
  const { operation, inputTokens: input = 0, outputTokens: output = 0 } = genAi ?? {};
  return { isEmbedding: operation === 'embeddings', input, output };
}

interface CallFacts {
  readonly facts: GenAiFacts;
  readonly prices: PriceList;
}

function callOf(head: SpanHead, { facts, prices }: CallFacts): ModelCall {
  const { provider = 'unknown', model = 'unknown' } = facts;
  const inputTokens = figure(facts.inputTokens) ?? 0;
  const outputTokens = figure(facts.outputTokens) ?? 0;
  const costUsd = figure(facts.costUsd) ?? listedCost(head, { facts, prices });
  return { head, provider, model, inputTokens, outputTokens, costUsd };
}

/** What the price list says; of what is told of a cache there is never more than of the prompt. */
function listedCost(head: SpanHead, { facts, prices }: CallFacts): number | undefined {
  const { provider, model } = facts;
  if (model === undefined || !hasUsage(head)) return undefined;
  const listed = prices.find({ provider, model, atMs: head.startUs / 1_000 });
  if (listed?.prices === undefined) return undefined;
  const inputTokens = figure(facts.inputTokens) ?? 0;
  const cachedInputTokens = Math.min(figure(facts.cachedInputTokens) ?? 0, inputTokens);
  const uncachedTokens = inputTokens - cachedInputTokens;
  const cacheWriteTokens = Math.min(figure(facts.cacheWriteTokens) ?? 0, uncachedTokens);
  const outputTokens = figure(facts.outputTokens) ?? 0;
  return priceOf({ inputTokens, outputTokens, cachedInputTokens, cacheWriteTokens }, listed.prices);
}

const figureMax = 1e12;

/** What a span says may be anything, and one figure that is none would spoil every sum it is in. */
function figure(value: number | undefined): number | undefined {
  return value !== undefined && value >= 0 && value <= figureMax ? value : undefined;
}
