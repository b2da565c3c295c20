import type { ServerResponse } from 'node:http';
import type { Route } from '../contract.ts';
import type { Identity } from '../identity/identity.ts';
import { SpanKind, type Span, type Tracer } from '../trace/trace.ts';
import { parseTraceparent } from '../trace/trace-context.ts';
import { headerOf, type EdgeRequest, type HeadersHolder, type CallContext } from './exchange.ts';

const requestIdPattern = /^[\w.:-]{1,128}$/;

/**
 * Starts the span of a request, below the caller's if it sent a `traceparent`; one that is recorded
 * nowhere when the route is not traced, or no route took the request.
 */
export function startServerSpan(
  tracer: Tracer,
  route: Pick<Route, 'method' | 'url' | 'trace'> | undefined,
  request: HeadersHolder,
): Span {
  const parent = parseTraceparent(headerOf(request, 'traceparent'));
  if (!route || route.trace === 'none') return tracer.pass(parent);
  return tracer.start(`${route.method} ${route.url}`, {
    kind: SpanKind.SERVER,
    parent,
    attributes: { 'http.request.method': route.method, 'http.route': route.url },
  });
}

/** Ends a request's span with the status that was sent; a caller who left early shows as 499. */
export function endServerSpan(
  { span }: CallContext,
  { writableFinished, statusCode }: ServerResponse,
): void {
  span.setAttribute('http.response.status_code', writableFinished ? statusCode : 499);
  span.end();
}

/** Notes who calls, for the handler and on the span. */
export function noteIdentity(context: CallContext | undefined, identity: Identity): void {
  if (!context) return;
  context.identity = identity;
  context.span.setAttribute('enduser.id', identity.subject);
}

/** What is known of a request at its start. */
export function contextOf(
  request: HeadersHolder & Pick<EdgeRequest, 'url'>,
  span: Span,
): CallContext {
  const { url } = request;
  const end = url.indexOf('?');
  const path = end < 0 ? url : url.slice(0, end);
  return { requestId: requestIdOf(request, span), path, span, identity: undefined };
}

/** The caller's own `X-Request-Id` when it is harmless, else one made from the span. */
function requestIdOf(request: HeadersHolder, span: Span): string {
  const given = headerOf(request, 'x-request-id');
  if (given !== undefined && requestIdPattern.test(given)) return given;
  return `req_${span.spanContext().spanId}`;
}
