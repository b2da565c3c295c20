import type { Conversion } from './conversion.ts';

/** Stores the spans of one export; resolves when they are durable. */
export type Ingest = (body: Uint8Array) => Promise<Ingested>;

export interface Ingested {
  readonly accepted: number;
  readonly rejected: number;
  /** Why some were rejected. */
  readonly reason?: string | undefined;
}

export interface ImportResult {
  readonly format: Conversion['format'];
  readonly traces: number;
  readonly spans: number;
  readonly rejected: number;
  readonly reason?: string;
}

/** Stores the spans of a document, export by export. */
export async function storeConversion(
  { format, traceCount: traces, bodies }: Conversion,
  ingest: Ingest,
): Promise<ImportResult> {
  let spans = 0;
  let rejected = 0;
  let reason: string | undefined;
  for (const body of bodies) {
    const stored = await ingest(body);
    spans += stored.accepted;
    rejected += stored.rejected;
    reason ??= stored.reason;
  }
  return { format, traces, spans, rejected, ...(reason === undefined ? {} : { reason }) };
}
