/** The beginning of a trace, with the header of W3C's trace context that says so. */
export interface TraceStart {
  readonly traceId: string;
  readonly traceparent: string;
}

/** Begins a trace; one that is not recorded is kept by nobody. */
export function startTrace({ isRecorded = true } = {}): TraceStart {
  const traceId = randomHex(16);
  return { traceId, traceparent: `00-${traceId}-${randomHex(8)}-${isRecorded ? '01' : '00'}` };
}

/** For what a `POST` only reads, which leaves no trace then; reads by `GET` never leave one. */
export function unrecorded(): { readonly traceparent: string } {
  const { traceparent } = startTrace({ isRecorded: false });
  return { traceparent };
}

function randomHex(byteCount: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(byteCount));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
