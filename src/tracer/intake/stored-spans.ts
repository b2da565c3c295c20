import type { SpanHead } from '../trace/span.ts';
import { unpackChunk } from '../chunk/chunk-body.ts';
import type { ExportReader } from './export-reader.ts';
import type { LoadedTrace } from './writes.ts';

/** By the number of the chunk, then by trace. */
export type SpansByChunk = ReadonlyMap<number, ReadonlyMap<string, StoredSpans>>;

/** Spans of a trace in a chunk. */
interface StoredSpans {
  readonly heads: SpanHead[];
  readonly entries: ReadonlyMap<string, Uint8Array>;
}

function groupByTrace(
  heads: readonly SpanHead[],
  entries: ReadonlyMap<string, Uint8Array>,
): Map<string, StoredSpans> {
  const groups = new Map<string, StoredSpans>();
  for (const head of heads) {
    const group = groups.get(head.traceId);
    if (group) group.heads.push(head);
    else groups.set(head.traceId, { heads: [head], entries });
  }
  return groups;
}

/** The spans of loaded traces in the chunks that hold them. */
export function readStoredSpans(
  reader: ExportReader,
  traces: readonly LoadedTrace[],
  chunks: ReadonlyMap<number, Uint8Array>,
): SpansByChunk {
  const wanted = new Set(traces.map(({ traceId }) => traceId));
  const read = new Map<number, ReadonlyMap<string, StoredSpans>>();
  for (const [id, packed] of chunks) {
    const { heads, entries } = reader.read(unpackChunk(packed, wanted), wanted);
    read.set(id, groupByTrace(heads, entries));
  }
  return read;
}
