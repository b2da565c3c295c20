import { Fault } from '../../kit/errors.ts';
import { formatTraceparent } from '../../kit/trace/trace-context.ts';
import {
  failSpan,
  SpanKind,
  type Span,
  type SpanContext,
  type Tracer,
} from '../../kit/trace/trace.ts';
import type { Connection, ConnectionNotes, Directory } from '../connections/connection.ts';
import type { EventSink } from '../events.ts';
import type { ExchangeOptions, Link, LinkProgress, Links } from '../links/link.ts';
import { isRateLimited } from '../links/link-faults.ts';
import type { Outcome, Traffic } from '../traffic/traffic.ts';
import { isRefusedTool, requireTool } from './agreed-tools.ts';

/** Takes what calls find out about the health of a server. */
export interface PassiveHealth {
  notePassive(connectionId: string, outcome: Outcome): void;
}

/** Finds out before a call whether the tools are still those that were agreed to. */
export interface Vetting {
  vet(connectionId: string, options: ExchangeOptions): Promise<void>;
}

export interface ExchangeParts {
  readonly directory: Directory;
  /** Without it what was learned last is believed. */
  readonly learning?: Vetting | undefined;
  readonly notes: Pick<ConnectionNotes, 'noteActive'>;
  readonly links: Pick<Links, 'open'>;
  readonly traffic: Pick<Traffic, 'begin'>;
  readonly health: PassiveHealth;
  readonly events: EventSink;
  readonly tracer: Tracer;
}

/** On whose behalf something is asked of a server, and for how long. */
export interface Errand {
  readonly signal: AbortSignal;
  /** The span that caused it. */
  readonly parent: SpanContext;
  /** What others on its way have added to it: it goes on to the server (W3C Trace Context, section 3.3). */
  readonly tracestate?: string | undefined;
  /** For opening the link and the exchange together; 60,000 unless told. */
  readonly timeoutMs?: number | undefined;
  readonly onProgress?: ((progress: LinkProgress) => void) | undefined;
  /** Called before anything is sent: what fails earlier may be tried elsewhere. */
  readonly onSending?: (() => void) | undefined;
}

/** What is asked: the method of MCP and the server's own name of its tool, prompt or resource. */
export interface Wanted {
  readonly method: 'tools/call' | 'prompts/get' | 'resources/read' | 'completion/complete';
  readonly target: string;
}

type Work<T> = (link: Link, options: ExchangeOptions) => Promise<T>;

interface Asking<T> extends Errand {
  readonly span: Span;
  readonly work: Work<T>;
}

const timeoutMsDefault = 60_000;

/**
 * The one way to a server on somebody's behalf: every exchange is a span, is counted as traffic, is
 * told as an event, keeps its connection active and tells how healthy the server is.
 */
export class Exchanges {
  readonly #parts: ExchangeParts;

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
  }

  /** The connection, when it can be called; Faults `connection_not_found`, `not_callable`. */
  requireCallable(connectionId: string): Connection {
    const connection = this.#parts.directory.find(connectionId);
    if (!connection) {
      throw new Fault('not_found', 'there is no such connection', {
        reason: 'connection_not_found',
        detail: { connectionId },
      });
    }
    const why = whyNotCallable(connection);
    if (!why) return connection;
    throw new Fault('conflict', why, { reason: 'not_callable', detail: { connectionId } });
  }

  /** Opens the link or shares it, and asks; rejects as `Link` does. */
  async run<T>(
    connection: Connection,
    wanted: Wanted,
    errand: Errand & { readonly work: Work<T> },
  ): Promise<T> {
    const { tracer, notes, traffic } = this.#parts;
    const span = tracer.start(`${wanted.method} ${wanted.target}`, {
      kind: SpanKind.CLIENT,
      parent: errand.parent,
      attributes: attributesOf(connection, wanted),
    });
    const awake = notes.noteActive(connection.id);
    const running = traffic.begin(connection.id, capabilityOf(wanted));
    const { timeoutMs = timeoutMsDefault, signal } = errand;
    const startedAt = performance.now();
    let outcome: Outcome = 'success';
    try {
      return await this.#ask(connection.id, wanted, { ...errand, span });
    } catch (thrown) {
      const waitedMs = Math.min(Math.ceil(performance.now() - startedAt), timeoutMs);
      const error = withWait(thrown, waitedMs);
      const isHasty = timeoutMs < connection.healthCheck.timeout;
      outcome = endingOf(error, { signal, isHasty });
      failSpan(span, error);
      throw error;
    } finally {
      running.end(outcome);
      span.end();
      this.#tell(connection.id, wanted, outcome);
      // Who has the answer finds no idle connection any more.
      if (awake) await awake;
    }
  }

  async #ask<T>(
    connectionId: string,
    wanted: Wanted,
    { signal, timeoutMs = timeoutMsDefault, span, ...errand }: Asking<T>,
  ): Promise<T> {
    const traceparent = formatTraceparent(span.spanContext());
    const endsAt = performance.now() + timeoutMs;
    const link = await this.#parts.links.open(connectionId, { signal, timeoutMs, traceparent });
    await this.#vet(connectionId, wanted, { signal, timeoutMs: msUntil(endsAt) });
    const leftMs = msUntil(endsAt);
    signal.throwIfAborted();
    errand.onSending?.();
    const { onProgress, tracestate } = errand;
    const traced = { traceparent, tracestate };
    return errand.work(link, { signal, timeoutMs: leftMs, ...traced, onProgress });
  }

  /** After the link was opened: a server that was begun anew may be another one. */
  async #vet(connectionId: string, wanted: Wanted, options: ExchangeOptions): Promise<void> {
    const { learning } = this.#parts;
    if (!learning || wanted.method !== 'tools/call') return;
    await learning.vet(connectionId, options);
    requireTool(this.requireCallable(connectionId), wanted.target);
  }

  #tell(connectionId: string, wanted: Wanted, outcome: Outcome): void {
    const { events, health } = this.#parts;
    // Who gave up learned nothing of the server.
    if (outcome !== 'cancelled') health.notePassive(connectionId, outcome);
    const capability = capabilityOf(wanted);
    if (capability === undefined) return;
    events.tell({
      type: 'capability-request',
      connectionId,
      capability,
      outcome,
      timestamp: new Date().toISOString(),
    });
  }
}

/** A prompt or resource is none, and its address may tell what somebody reads: everybody sees these names. */
function capabilityOf({ method, target }: Wanted): string | undefined {
  return method === 'tools/call' ? target : undefined;
}

const internalError = -32_603;

function endingOf(
  error: unknown,
  { signal, isHasty }: { readonly signal: AbortSignal; readonly isHasty: boolean },
): Outcome {
  const fault = Fault.from(error);
  if (fault.code === 'cancelled' || signal.aborted) return 'cancelled';
  // A caller who waits less than a check does gave up: the server may yet have answered.
  if (fault.code === 'deadline' && isHasty) return 'cancelled';
  if (isRefusedTool(error) || fault.reason === 'insufficient_scope') return 'refused';
  if (isRateLimited(fault)) return 'refused';
  if (fault.reason !== 'server_error') return 'error';
  return fault.detail['code'] === internalError ? 'error' : 'refused';
}

/** Of a server that was too late the time for which it was waited for, anything else as it is. */
function withWait(thrown: unknown, waitedMs: number): unknown {
  if (!(thrown instanceof Fault) || thrown.code !== 'deadline') return thrown;
  return new Fault('deadline', `the server did not answer within ${waitedMs} ms`, {
    reason: thrown.reason ?? 'timeout',
    detail: { ...thrown.detail, waitedMs },
    cause: thrown,
  });
}

function msUntil(endsAt: number): number {
  const leftMs = Math.ceil(endsAt - performance.now());
  if (leftMs > 0) return leftMs;
  throw new Fault('deadline', 'the server took too long to open');
}

/** A sentence, or nothing when it can be called. */
export function whyNotCallable(connection: Connection): string | undefined {
  if (connection.status === 'disconnected') return 'this connection was disconnected';
  const { endpoint } = connection;
  if ('command' in endpoint ? endpoint.command : endpoint.url) return undefined;
  return 'this client told of no endpoint at which it could be called';
}

function attributesOf({ id, name, protocol }: Connection, { method, target }: Wanted) {
  return {
    'mcp.method.name': method,
    ...(method === 'tools/call' ? { 'gen_ai.tool.name': target } : {}),
    ...(method === 'prompts/get' ? { 'gen_ai.prompt.name': target } : {}),
    ...(method === 'resources/read' ? { 'mcp.resource.uri': target } : {}),
    'registry.connection.id': id,
    'registry.connection.name': name,
    'network.transport': protocol === 'stdio' ? 'pipe' : 'tcp',
  };
}
