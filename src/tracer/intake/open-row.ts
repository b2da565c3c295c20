import type { TraceError, TraceStatus, TraceSummary } from '../trace/analysis.ts';
import type { SpanHead } from '../trace/span.ts';
import { summaryOf } from '../trace/summary.ts';
import { buildTree } from '../trace/tree.ts';
import type { OpenTrace } from './open-trace.ts';
import type { TagPacker } from './tag-packer.ts';
import type { OpenRow } from './trace-rows.ts';

export const statusNumbers: Readonly<Record<TraceStatus, number>> = {
  success: 0,
  error: 1,
  timeout: 2,
};

/** An open trace as its row has it, with the spans that no row has counted yet. */
export function openRow(trace: OpenTrace, packer: TagPacker): OpenRow {
  const { startUs, endUs, speaker, status, error, agents } = sayOpen(trace);
  return {
    trace_id: trace.traceId,
    day: trace.day,
    received_at: trace.receivedAtMs,
    start_us: startUs,
    end_us: endUs,
    name: storable(speaker.name),
    service: storable(speaker.service),
    agent: storable(speaker.agent),
    agents: [...agents].map(storable),
    terms: [...trace.terms],
    status,
    error: errorText(error),
    span_count: trace.uncounted.spans,
    error_count: trace.uncounted.errors,
    is_partial: !trace.hasRoot,
    // Whoever has no parent is the root; who else may be is known when the trace is complete.
    tags: (trace.hasRoot && trace.tagsOf(speaker.spanId, packer)) || null,
  };
}

/** What is said of an open trace. */
export interface OpenSaying {
  readonly startUs: number;
  readonly endUs: number;
  readonly speaker: Speaker;
  readonly agents: Iterable<string>;
  /** As a row numbers it. */
  readonly status: number;
  readonly error: TraceError | undefined;
}

/** What its row is made of: little is done for it, because a listing asks every open trace. */
export function sayOpen(trace: OpenTrace): OpenSaying {
  const summary = needsSummary(trace) ? summaryOf(buildTree([...trace.spans.values()])) : undefined;
  const { startUs, endUs, agents } = summary ?? trace;
  return {
    startUs,
    endUs,
    agents,
    speaker: speakerOf(trace, summary),
    status: statusNumbers[summary?.status ?? 'success'],
    error: summary?.error,
  };
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
