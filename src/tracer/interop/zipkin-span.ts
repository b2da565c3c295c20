import type { EventInput } from '../otlp/export-model.ts';

/** How a list of spans is to be taken. */
export interface ZipkinOptions {
  /**
   * No other spans of its traces come by another request: a server span that shares an id with a
   * client span which is not there keeps it.
   */
  readonly isWhole: boolean;
}

/** One endpoint's address, as it may follow its service's name. */
export interface Endpoint {
  readonly service: string | undefined;
  readonly address: string | undefined;
  readonly port: number | undefined;
}

/** A span as Zipkin has it: a server's may have the id of the client's. */
export interface ZipkinSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly kind: number;
  readonly name: string;
  /** 0 where it is not known. */
  readonly startUs: number;
  readonly durationUs: number;
  readonly local: Endpoint | undefined;
  readonly remote: Endpoint | undefined;
  readonly isShared: boolean;
  readonly isDebug: boolean;
  readonly annotations: readonly EventInput[];
  readonly tags: readonly (readonly [key: string, value: string])[];
}
