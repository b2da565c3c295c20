import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { CallContext } from './call.ts';

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
}
