import type { TraceError, TraceStatus, TraceSummary } from '../trace/analysis.ts';
import type { SpanHead } from '../trace/span.ts';
import { summaryOf } from '../trace/summary.ts';
import { buildTree } from '../trace/tree.ts';
import type { OpenTrace } from './open-trace.ts';
import type { TagPacker } from './tag-packer.ts';
import type { OpenRow } from './trace-store.ts';

export const statusNumbers: Readonly<Record<TraceStatus, number>> = {
  success: 0,
  error: 1,
  timeout: 2,
};

/** What a row says of an open trace, but for its tags. */
export type OpenSummary = Omit<OpenRow, 'tags'>;

/** An open trace as its row has it, with the spans that no row has counted yet. */
export function openRow(trace: OpenTrace, packer: TagPacker): OpenRow {
  const { row, spanId } = sayOpen(trace);
  // Whoever has no parent is the root; who else may be is known when the trace is complete.
  return { ...row, tags: (trace.hasRoot && trace.tagsOf(spanId, packer)) || null };
}

/** The same without its tags, which cost the most, and the span whose attributes these are. */
export function sayOpen(trace: OpenTrace): {
  readonly row: OpenSummary;
  readonly spanId: string;
} {
  const summary = needsSummary(trace) ? summaryOf(buildTree([...trace.spans.values()])) : undefined;
  const { startUs, endUs, agents } = summary ?? trace;
  const { name, service, agent, spanId } = speakerOf(trace, summary);
  const row = {
    trace_id: trace.traceId,
    day: trace.day,
    received_at: trace.receivedAtMs,
    start_us: startUs,
    end_us: endUs,
    name: storable(name),
    service: storable(service),
    agent: storable(agent),
    agents: [...agents].map(storable),
    terms: [...trace.terms],
    status: statusNumbers[summary?.status ?? 'success'],
    error: errorText(summary?.error),
    span_count: trace.uncountedSpans,
    error_count: trace.uncountedErrors,
    is_partial: !trace.hasRoot,
  };
  return { row, spanId };
}

type Speaker = Pick<SpanHead, 'name' | 'service' | 'agent' | 'spanId'>;

const nobody: Speaker = { name: '', service: '', agent: '', spanId: '' };

/** The span that speaks for a trace. */
function speakerOf({ root }: OpenTrace, summary: TraceSummary | undefined): Speaker {
  return summary ? { ...summary, spanId: summary.rootSpanId } : (root ?? nobody);
}

/**
 * Whether what was noted span by span does not say it: few traces fail, have a span that was sent in two
 * ways, or one that begins before the root, so only those are looked into before they are complete.
 */
function needsSummary({ hasError, isAmended, root, startUs, spans }: OpenTrace): boolean {
  if (spans.size === 0) return false;
  return hasError || isAmended || (root !== undefined && startUs < root.startUs);
}

/** What went wrong, as a row has it. */
export function errorText(error: TraceError | undefined): string | null {
  return error ? storable(JSON.stringify(error)) : null;
}

/** PostgreSQL keeps no U+0000 in a text. */
export function storable(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
}
