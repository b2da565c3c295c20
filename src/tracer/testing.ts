import type { Environment } from '../kit/config.ts';
import type { Bus } from '../kit/bus/bus.ts';
import type { Database } from '../kit/database/database.ts';
import { Lifetime } from '../kit/lifecycle.ts';
import { findFreePort, listenAnywhere, silentLog, startService } from '../kit/testing.ts';
import { encodeExport } from './otlp/encode-export.ts';
import type { ExportAttributes, SpanInput } from './otlp/export-model.ts';
import { otlpGrpc } from './events.ts';
import { openTracerDatabase } from './series/testing.ts';
import { tracer } from './service.ts';

/** Completes traces quickly, so that tests need not wait. */
export const quick: Environment = { TRACER_QUIET_MS: '100', TRACER_PARTIAL_MS: '300' };

export interface TracerOptions {
  readonly environment?: Environment;
  readonly database?: Database;
  /** The bus that replicas share; one of its own when absent. */
  readonly bus?: Bus;
}

/** The tracer on a port of its own, reached as a client would. */
export async function startTracer(options: TracerOptions = {}) {
  const lifetime = new Lifetime(silentLog);
  const database = options.database ?? lifetime.own('the database', await openTracerDatabase());
  const grpcPort = await findFreePort();
  const running = await startService(tracer, {
    database,
    ports: { [otlpGrpc]: grpcPort },
    ...(options.bus && { bus: options.bus }),
    environment: { ...quick, ...options.environment },
  });
  const url = await listenAnywhere(running.host.http);
  const admin = await running.issuer.sign({ sub: 'usr_admin', permissions: ['*'] });
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${admin}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: parse(text) };
  };
  const send = sender(url, admin);
  /** A trace once it satisfies the claim; what it is like after five seconds fails the test. */
  const until = async (path: string, holds: (body: Answer) => boolean) => {
    for (let tries = 0; tries < 250; tries += 1) {
      const answer = await call('GET', path);
      if (answer.status === 200 && holds(answer.body)) return answer.body;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const last = await call('GET', path);
    throw new Error(`${path} never was as expected: ${last.status} ${last.text.slice(0, 500)}`);
  };
  lifetime.own('the tracer', running);
  return {
    ...running,
    url,
    grpcPort,
    admin,
    call,
    send,
    until,
    [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose](),
  };
}

/** Sends exports in protobuf. */
function sender(url: string, token: string) {
  return async (body: Uint8Array, headers: Readonly<Record<string, string>> = {}) => {
    const response = await fetch(`${url}/v1/traces`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/x-protobuf',
        ...headers,
      },
      body: Buffer.from(body),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    return { status: response.status, headers: response.headers, bytes };
  };
}

// Tests read whatever they expect; a wrong expectation fails them.
// oxlint-disable-next-line typescript/no-explicit-any
export type Answer = any;

function parse(text: string): Answer {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A span for tests: times are milliseconds after `baseMs`. */
export interface PlainSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name?: string;
  readonly from: number;
  readonly to: number;
  readonly kind?: number;
  readonly attributes?: ExportAttributes;
  readonly isError?: boolean;
  readonly message?: string;
}

/** When the spans of tests begin: ten seconds ago. */
export const baseMs = Date.now() - 10_000;

/** An export of one service's spans. */
export function exportOf(service: string, spans: readonly PlainSpan[]): Uint8Array {
  return encodeExport([
    {
      resource: { attributes: [['service.name', service]] },
      scopes: [{ spans: spans.map(spanInput) }],
    },
  ]);
}

function spanInput(span: PlainSpan): SpanInput {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId,
    name: span.name ?? 'work',
    kind: span.kind ?? 1,
    startNs: nanos(span.from),
    endNs: nanos(span.to),
    attributes: span.attributes ?? [],
    ...(span.isError ? { status: { code: 2, message: span.message ?? '' } } : {}),
  };
}

function nanos(ms: number): bigint {
  return BigInt(baseMs + ms) * 1_000_000n;
}

let last = 0;

/** A new trace id. */
export function newTraceId(): string {
  last += 1;
  return `${'a'.repeat(24)}${last.toString(16).padStart(8, '0')}`;
}
