import type { AnalysedSpan } from '../trace/analysis.ts';
import type { GenAiFacts, SpanHead } from '../trace/span.ts';
import type { PriceList } from './price.ts';

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
 * (a client and the gateway that it went through) the outer one counts, for it knows who asked.
 */
export function findModelCalls(spans: readonly AnalysedSpan[], prices: PriceList): ModelCall[] {
  const usages = spans.filter(({ head }) => head.genAi !== undefined && hasUsage(head.genAi));
  if (usages.length === 0) return [];
  const repeated = usages.length === 1 ? undefined : findRepeated(spans, usages);
  return usages.flatMap(({ head }) => {
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
function hasUsage(facts: GenAiFacts): boolean {
  if (facts.operation === 'execute_tool') return false;
  const { inputTokens, outputTokens, costUsd } = facts;
  return inputTokens !== undefined || outputTokens !== undefined || costUsd !== undefined;
}

function findRepeated(
  spans: readonly AnalysedSpan[],
  usages: readonly AnalysedSpan[],
): ReadonlySet<string> {
  const parents = new Map(spans.map(({ head, parent }) => [head.spanId, parent?.spanId]));
  const calls = new Map(usages.map(({ head }) => [head.spanId, head]));
  const repeated = new Set<string>();
  for (const { head } of usages) {
    const outer = nearestCall(head.spanId, { parents, calls });
    if (outer === undefined) continue;
    if (!isLeafCall(outer)) repeated.add(outer.spanId);
    else if (tellsTheSame(outer, head)) repeated.add(head.spanId);
  }
  return repeated;
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

function tellsTheSame(outer: SpanHead, inner: SpanHead): boolean {
  const [one, other] = [usageOf(outer), usageOf(inner)];
  return (
    one.isEmbedding === other.isEmbedding &&
    one.input === other.input &&
    one.output === other.output
  );
}

function usageOf({ genAi }: SpanHead) {
  const { operation, inputTokens: input = 0, outputTokens: output = 0 } = genAi ?? {};
  return { isEmbedding: operation === 'embeddings', input, output };
}

function callOf(
  head: SpanHead,
  { facts, prices }: { readonly facts: GenAiFacts; readonly prices: PriceList },
): ModelCall {
  const { provider, model } = facts;
  const tokens = {
    inputTokens: figure(facts.inputTokens) ?? 0,
    outputTokens: figure(facts.outputTokens) ?? 0,
  };
  const cachedInputTokens = figure(facts.cachedInputTokens) ?? 0;
  const told = figure(facts.costUsd);
  const costUsd =
    told === undefined && model !== undefined
      ? prices.priceOf({ provider, model, ...tokens, cachedInputTokens, atUs: head.startUs })
      : told;
  return { head, provider: provider ?? 'unknown', model: model ?? 'unknown', ...tokens, costUsd };
}

const figureMax = 1e12;

/** What a span says may be anything, and one figure that is none would spoil every sum it is in. */
function figure(value: number | undefined): number | undefined {
  return value !== undefined && value >= 0 && value <= figureMax ? value : undefined;
}
