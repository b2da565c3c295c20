import { PriceList } from '../../../kit/prices/price-list.ts';
import type { View } from '../../reading/view.ts';
import type { GenAiUsage, TraceDetail, TraceSpan } from '../../schemas/trace-answers.ts';
import { findModelCalls, spentOn } from '../../series/model-calls.ts';
import { analysedSpansOf } from '../analyse.ts';
import { selfTimeOf } from '../self-time.ts';
import { shareOut, toMs } from '../shares.ts';
import { spanKinds, type Span } from '../span.ts';
import { study, type Study } from '../study.ts';
import { statusOfSpan } from '../summary.ts';
import type { SpanTree, TreeNode } from '../tree.ts';

export interface DetailInput {
  /** Times as they were sent, though clocks contradict each other. */
  readonly raw?: boolean | undefined;
  readonly spanOffset?: number | undefined;
  /** At most so many spans are told; 10,000 unless given. */
  readonly spanLimit?: number | undefined;
}

/** The whole trace with its spans by start, a page of them where they are many. */
export const detailView: View<DetailInput> = (trace, input): TraceDetail => {
  const studied = study(trace.spans, { isRaw: input.raw });
  const { summary, tree, skews } = studied;
  const from = input.spanOffset ?? 0;
  const page = tree.nodes.slice(from, from + (input.spanLimit ?? defaultSpanLimit));
  const genAi = genAiUsageOf(tree);
  return {
    traceId: trace.traceId,
    name: summary.name,
    startTime: timeOf(summary.startUs),
    endTime: timeOf(summary.endUs),
    duration: toMs(summary.endUs - summary.startUs),
    status: summary.status,
    agents: [...summary.agents],
    tags: tree.byId.get(summary.rootSpanId)?.span.attributes ?? {},
    ...(summary.error && { error: summary.error }),
    spans: spansOf(page, studied),
    totalSpans: tree.nodes.length,
    metrics: metricsOf(studied),
    ...(genAi && { genAi }),
    ...(skews.length > 0 && { clockSkew: [...skews] }),
    isComplete: trace.isComplete,
    revision: trace.revision,
  };
};

const defaultSpanLimit = 10_000;
const kindNames = Object.keys(spanKinds) as (keyof typeof spanKinds)[];

function timeOf(us: number): string {
  return new Date(Math.floor(us / 1000)).toISOString();
}

function metricsOf({ split }: Study<Span>): TraceDetail['metrics'] {
  const totalDuration = toMs(split.totalUs);
  const parts = [split.networkUs, split.processingUs, split.overheadUs];
  const [networkTime = 0, processingTime = 0, overhead = 0] = shareOut(totalDuration, parts);
  return { totalDuration, networkTime, processingTime, overhead };
}

function spansOf(nodes: readonly TreeNode<Span>[], studied: Study<Span>): TraceSpan[] {
  const onPath = new Set<TreeNode<Span> | undefined>();
  for (const { node } of studied.path.sections) onPath.add(node);
  const { startUs } = studied.summary;
  return nodes.map((node) => spanOf(node, { startUs, onCriticalPath: onPath.has(node) }));
}

function spanOf(
  node: TreeNode<Span>,
  trace: { readonly startUs: number; readonly onCriticalPath: boolean },
): TraceSpan {
  const { span } = node;
  return {
    spanId: span.spanId,
    ...(span.parentSpanId !== undefined && { parentSpanId: span.parentSpanId }),
    name: span.name,
    service: span.service,
    agent: span.agent,
    kind: kindNames[span.kind] ?? 'unspecified',
    startTime: timeOf(span.startUs),
    duration: toMs(span.endUs - span.startUs),
    offsetUs: span.startUs - trace.startUs,
    durationUs: span.endUs - span.startUs,
    selfTime: toMs(selfTimeOf(node)),
    onCriticalPath: trace.onCriticalPath,
    status: statusOfSpan(span),
    ...(span.statusMessage !== undefined && { statusMessage: span.statusMessage }),
    tags: span.attributes,
    ...eventsOf(span),
    ...linksOf(span),
  };
}

function eventsOf({ events }: Span): Pick<TraceSpan, 'events'> {
  if (events.length === 0) return {};
  return {
    events: events.map(({ name, timeUs, attributes }) => ({
      name,
      time: timeOf(timeUs),
      attributes,
    })),
  };
}

function linksOf({ links }: Span): Pick<TraceSpan, 'links'> {
  return links.length === 0 ? {} : { links: [...links] };
}

function genAiUsageOf(tree: SpanTree<Span>): GenAiUsage | undefined {
  const models = new Set<string>();
  const tools = new Set<string>();
  let isGenAi = false;
  for (const { span } of tree.nodes) {
    const { genAi } = span;
    if (genAi === undefined) continue;
    isGenAi = true;
    if (genAi.model !== undefined) models.add(genAi.model);
    if (genAi.tool !== undefined) tools.add(genAi.tool);
  }
  if (!isGenAi) return undefined;
  return { ...usageOf(tree), models: [...models], tools: [...tools] };
}

/** Remembers the models it was asked for, as long as the thread lives. */
const priceList = new PriceList();

/** Counted and priced as in the series, so that the two agree. */
function usageOf(
  tree: SpanTree<Span>,
): Pick<GenAiUsage, 'inputTokens' | 'outputTokens' | 'costUsd'> {
  return spentOn(findModelCalls(analysedSpansOf(tree, tree), priceList));
}
