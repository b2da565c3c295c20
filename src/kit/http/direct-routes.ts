import { parse as parseQuery } from 'fast-querystring';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TSchema } from 'typebox';
import { bodyBytesMaxOf, successStatus, type Route } from '../contract.ts';
import { Fault } from '../errors.ts';
import { jsonType, WrittenBytes } from '../answers/written-json.ts';
import type { AnyHandler, Call } from './call.ts';
import { DirectReply, DirectRequest } from './direct-exchange.ts';
import type { Edge } from './edge.ts';
import { parseJsonBody, withoutByteOrderMark } from './json-body.ts';
import { KnownBodies } from './known-bodies.ts';
import type { PiecewiseAnswers } from './piecewise-answers.ts';
import { readPlainHead, type PlainHead } from './plain-head.ts';
import { writerOf } from './serializer.ts';
import { boundBody } from './streamed-body.ts';
import { checkedBody, validatorOf } from './validation.ts';

type Check = ReturnType<typeof validatorOf>;
/** What an address says behind its `?`, checked; throws the refusal. */
type QueryReader = (url: string) => unknown;
/** What a body says, checked; throws the refusal. */
type BodyReader = (text: string) => unknown;

interface DirectRoute {
  readonly route: Route;
  readonly handler: AnyHandler;
  readonly status: number;
  readonly bodyBytesMax: number;
  readonly readQuery: QueryReader | undefined;
  readonly readBody: BodyReader | undefined;
  readonly write: (answer: unknown) => string;
}

interface DirectExit {
  readonly direct: DirectRoute;
  readonly reply: DirectReply;
  readonly call: Call;
}

export interface DirectOptions {
  readonly edge: Edge;
  readonly pieces: PiecewiseAnswers;
  /** How long a client may take to send a body; absent where the server bounds all requests. */
  readonly bodyTimeoutMs: number | undefined;
}

/**
 * Answers the routes that are asked for most past the framework. It has the same routes, and gets
 * every request that is not plain in all of its parts.
 */
export class DirectRoutes {
  readonly #options: DirectOptions;
  readonly #routes = new Map<string, Map<string | undefined, DirectRoute>>();
  #isClosed = false;

  constructor(options: DirectOptions) {
    this.#options = options;
  }

  add(path: string, route: Route, handler: AnyHandler): void {
    const { query, response } = route.schema;
    const body = checkedBody(route);
    const status = successStatus(route);
    const methods = this.#routes.get(path) ?? new Map<string | undefined, DirectRoute>();
    this.#routes.set(path, methods);
    methods.set(route.method, {
      route,
      handler,
      status,
      bodyBytesMax: bodyBytesMaxOf(route),
      readQuery: query && queryReaderOf(query),
      readBody: body && bodyReaderOf(body, route.bodiesRecur),
      write: writerOf(response[status] ?? {}),
    });
  }

  /** Leaves to the framework whatever comes: it knows how to end. */
  close(): void {
    this.#isClosed = true;
  }

  /** Answers a request if it is one of these; says whether it does. */
  take(raw: IncomingMessage, response: ServerResponse): boolean {
    const url = raw.url ?? '';
    const end = url.indexOf('?');
    const path = end < 0 ? url : url.slice(0, end);
    const direct = this.#routes.get(path)?.get(raw.method);
    if (!direct || this.#isClosed) return false;
    const head = readPlainHead(raw.rawHeaders);
    if (!head || !takes(direct, head)) return false;
    const request = new DirectRequest(raw, head, { url, path });
    this.#admit(direct, new DirectReply(request, response));
    return true;
  }

  #admit(direct: DirectRoute, reply: DirectReply): void {
    try {
      const admitted = this.#options.edge.admit(direct.route, reply);
      if (!(admitted instanceof Promise)) return this.#read(direct, reply);
      admitted.then(
        () => this.#read(direct, reply),
        (error: unknown) => this.#refuse(reply, error),
      );
    } catch (error) {
      this.#refuse(reply, error);
    }
  }

  #read(direct: DirectRoute, reply: DirectReply): void {
    const { request } = reply;
    const { readBody, route } = direct;
    if (!readBody) return this.#handle(direct, reply);
    const { bodyTimeoutMs } = this.#options;
    if (bodyTimeoutMs) boundBody(request.raw, bodyTimeoutMs);
    const take = (text: string) => {
      if (route.keepsText) request.text = withoutByteOrderMark(text);
      this.#handle(direct, reply, text);
    };
    request.readText(take, () => reply.awaitClose());
  }

  #handle(direct: DirectRoute, reply: DirectReply, text = ''): void {
    try {
      const { request } = reply;
      const { route, handler, readBody, readQuery } = direct;
      if (readBody) request.body = readBody(text);
      if (readQuery) request.query = readQuery(request.url);
      reply.code(direct.status);
      const call = this.#options.edge.callOf(route, reply);
      const exit = { direct, reply, call };
      const answer = handler(call);
      const sent =
        answer instanceof Promise
          ? answer.then((given: unknown) => this.#send(given, exit))
          : this.#send(answer, exit);
      sent?.catch((error: unknown) => this.#refuse(reply, error));
    } catch (error) {
      this.#refuse(reply, error);
    }
  }

  /** Resolves when an answer that comes piece by piece is sent. */
  #send(answer: unknown, { direct, reply, call }: DirectExit): Promise<void> | undefined {
    if (answer instanceof WrittenBytes) {
      reply.header('content-type', answer.mediaType);
      reply.send(answer.bytes, answer.encoding);
      return undefined;
    }
    const begin = (head: Readonly<Record<string, string>>) => reply.begin(head);
    const sent = this.#options.pieces.send(answer, { reply, call, begin });
    if (sent) return sent;
    reply.header('content-type', jsonType);
    reply.send(direct.write(answer));
    return undefined;
  }

  #refuse(reply: DirectReply, error: unknown): void {
    this.#options.edge.refuse(reply, Fault.from(error));
  }
}

/** Whether the body can be read without more ado: anything else is the framework's. */
function takes({ readBody, bodyBytesMax }: DirectRoute, { bodyBytes, isJson }: PlainHead): boolean {
  if (!readBody) return bodyBytes === 0;
  return isJson && bodyBytes > 0 && bodyBytes <= bodyBytesMax;
}

function bodyReaderOf(schema: TSchema, bodiesRecur = false): BodyReader {
  const check = validatorOf(schema, 'body');
  const read = (text: string) => valueOf(check(parseJsonBody(text)));
  if (!bodiesRecur) return read;
  const known = new KnownBodies(read);
  return (text) => known.read(text);
}

/** Requests without a query share what the defaults make of it. */
function queryReaderOf(schema: TSchema): QueryReader {
  const check = validatorOf(schema, 'query');
  let none: unknown;
  return (url) => {
    const end = url.indexOf('?');
    if (end >= 0) return valueOf(check(parseQuery(url.slice(end + 1))));
    return (none ??= Object.freeze(valueOf(check({}))));
  };
}

function valueOf(checked: ReturnType<Check>): unknown {
  if ('error' in checked) throw checked.error;
  return checked.value;
}
