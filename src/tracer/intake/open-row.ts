import type { TraceError, TraceStatus } from '../trace/analysis.ts';
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

/** An open trace as its row has it, with the spans that no row has counted yet. */
export function openRow(trace: OpenTrace, packer: TagPacker): OpenRow {
  const { root } = trace;
  return {
    trace_id: trace.traceId,
    day: trace.day,
    received_at: trace.receivedAtMs,
    start_us: trace.startUs,
    end_us: trace.endUs,
    name: storable(root?.name ?? ''),
    service: storable(root?.service ?? ''),
    agent: storable(root?.agent ?? ''),
    agents: [...trace.agents].map(storable),
    terms: [...trace.terms],
    ...failureOf(trace),
    span_count: trace.uncountedSpans,
    error_count: trace.uncountedErrors,
    // Whoever has no parent is the root; who else may be is known when the trace is complete.
    tags: (root && trace.hasRoot && trace.tagsOf(root.spanId, packer)) || null,
    is_partial: !trace.hasRoot,
  };
}

/** What went wrong so far: few traces fail, so only those are looked into before they are complete. */
function failureOf({ hasError, spans }: OpenTrace): Pick<OpenRow, 'status' | 'error'> {
  if (!hasError || spans.size === 0) return { status: 0, error: null };
  const { status, error } = summaryOf(buildTree([...spans.values()]));
  return { status: statusNumbers[status], error: errorText(error) };
}

/** What went wrong, as a row has it. */
export function errorText(error: TraceError | undefined): string | null {
  return error ? storable(JSON.stringify(error)) : null;
}

/** PostgreSQL keeps no U+0000 in a text. */
export function storable(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
}
