import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { PlainHead } from './plain-head.ts';
import type { Identity } from '../identity/identity.ts';
import type { Span } from '../trace/trace.ts';

/** A request as the edge sees it, whoever read it. */
export interface EdgeRequest {
  readonly raw: IncomingMessage;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly ip: string;
  /** Parsed and checked, once they are. */
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  /** The body as it came, on routes that keep it. */
  readonly text: string | undefined;
  readonly routeOptions: { readonly url?: string | undefined };
  /** Of a request whose head was read by ourselves. */
  readonly head?: PlainHead;
  context: CallContext | undefined;
}

/** The answer to it, whoever writes it. */
export interface EdgeReply {
  readonly request: EdgeRequest;
  readonly raw: ServerResponse;
  header(name: string, value: string | number): unknown;
  removeHeader(name: string): unknown;
  code(status: number): unknown;
  /** Sends a text as it is. */
  send(text: string): unknown;
  /** Has itself told when the answer is on its way, or can come no more. */
  whenOver(listener: () => void): void;
}

/** What has headers, read by ourselves or not. */
export type HeadersHolder = Pick<EdgeRequest, 'head' | 'headers'>;

/** A header as node:http gives it; the object of all headers is not made where the head is plain. */
export function headerOf(
  request: HeadersHolder,
  name: 'host' | 'authorization' | 'traceparent' | 'x-request-id',
): string | undefined {
  const { head } = request;
  return head ? head[name] : (request.headers[name] as string | undefined);
}

/** What the edge finds out about a request before its body is read. */
export interface CallContext {
  readonly requestId: string;
  readonly path: string;
  readonly span: Span;
  identity: Identity | undefined;
}
