import { ExportWalk, type Walked } from './export-walk.ts';

/**
 * The heads of an export's spans in its order, and how many of its spans were not taken and why.
 */
export type Scan = Walked;

export interface ScanOptions {
  /**
   * Milliseconds since the epoch, the present where absent; a span of over a day later is rejected.
   */
  readonly now?: number | undefined;
}

/**
 * Scans exports one after another; what names it has seen it remembers, within bounds, so one that
 * lives long is faster than a new one.
 */
export class SpanScanner {
  readonly #walk = new ExportWalk();

  /**
   * Checks an ExportTraceServiceRequest in protobuf, or several one after another, and takes the
   * heads of its spans. A span that breaks a rule is rejected (OTLP's partial success); a body that
   * is malformed throws the Fault `malformed_protobuf` and nothing of it is taken. A span of more
   * than 1 MiB is rejected unopened.
   */
  scan(body: Uint8Array, { now = Date.now() }: ScanOptions = {}): Scan {
    return this.#walk.walk(body, { now });
  }
}

/** `SpanScanner.scan` for once. */
export function scanSpans(body: Uint8Array, options: ScanOptions = {}): Scan {
  return new SpanScanner().scan(body, options);
}
