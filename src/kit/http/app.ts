import Fastify, {
  type FastifyContextConfig,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Route } from '../contract.ts';
import { Fault } from '../errors.ts';
import { unsupportedMediaType } from './fault-reply.ts';
import { formMediaType, parseFormBody } from './form-body.ts';
import { parseJsonBody, withoutByteOrderMark } from './json-body.ts';
import { compileSerializer } from './serializer.ts';
import { boundBody } from './streamed-body.ts';
import { dropUnread } from './unread-answers.ts';
import { compileValidator, isBodyOptional } from './validation.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route takes forms beside JSON. */
    acceptsForm?: boolean;
    /** The body's text is kept beside what was parsed of it. */
    keepsText?: boolean;
    /** The route does without a body, or with an empty one. */
    mayLackBody?: boolean;
    /** The handler reads the body. */
    streamsBody?: boolean;
  }
}

export interface AppOptions {
  /** Answers a request that failed, wherever it did. */
  readonly refuse: (error: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply;
  /** Answers a connection whose request never became one. */
  readonly refuseConnection: (error: NodeJS.ErrnoException, socket: Socket) => void;
  /** Answers a request before the framework sees it; says whether it does. */
  readonly takeDirect: (...exchange: Parameters<RequestListener>) => boolean;
  /** How long a client may take to send a request. */
  readonly requestTimeoutMs: number;
  /** How long a client may take nothing of an answer that waits for it. */
  readonly unreadTimeoutMs: number;
  /** Some routes stream their bodies: the server bounds none, the routes do. */
  readonly streamsBodies: boolean;
}

const headerBytesMax = 16 * 1024;
const headersTimeoutMs = 10_000;
const keepAliveMs = 72_000;

/** A Fastify instance with the suite's limits, JSON parser and validator; routes come from contracts. */
export function createApp(options: AppOptions): FastifyInstance {
  const { requestTimeoutMs } = options;
  const app = Fastify({
    logger: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    keepAliveTimeout: keepAliveMs,
    requestTimeout: options.streamsBodies ? 0 : requestTimeoutMs,
    routerOptions: { maxParamLength: 512 },
    http: {
      maxHeaderSize: headerBytesMax,
      requireHostHeader: false,
      headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
      connectionsCheckingInterval: Math.min(1_000, requestTimeoutMs),
    },
    clientErrorHandler: options.refuseConnection,
    frameworkErrors: (error, request, reply) => void options.refuse(error, request, reply),
  });
  // Their bytes are bounded: past a count node:http would drop some in silence.
  app.server.maxHeadersCount = 0;
  answerFirst(app.server, options.takeDirect);
  dropUnread(app.server, options.unreadTimeoutMs);
  if (options.streamsBodies) boundBodies(app, requestTimeoutMs);
  app.setErrorHandler(options.refuse);
  app.setValidatorCompiler(compileValidator);
  app.setSerializerCompiler(compileSerializer);
  app.removeAllContentTypeParsers();
  addParser(app, 'application/json', parseJsonBody);
  addParser(app, formMediaType, parseFormBody);
  return app;
}

/**
 * Has requests answered before the framework, on its own server: to one of ours it would bind a single
 * address of `localhost`.
 */
function answerFirst(server: Server, take: AppOptions['takeDirect']): void {
  const listeners = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    if (take(request, response)) return;
    for (const listener of listeners) listener(request, response);
  });
}

/** Node bounds all requests of a server or none. */
function boundBodies(app: FastifyInstance, timeoutMs: number): void {
  app.addHook('onRequest', (request, _reply, done) => {
    if (!request.routeOptions.config.streamsBody) boundBody(request.raw, timeoutMs);
    done();
  });
}

function addParser(app: FastifyInstance, type: string, parse: (text: string) => unknown): void {
  app.addContentTypeParser(type, { parseAs: 'string' }, (request, body, done) => {
    // What is not there takes no body of any form: that it is not there is the answer.
    if (request.is404) return done(null, undefined);
    try {
      if (type === formMediaType) requireFormRoute(request);
      requireUtf8(request);
      const text = String(body);
      // Many clients name a type also where they send nothing, with DELETE for instance.
      if (text === '' && request.routeOptions.config.mayLackBody) return done(null, undefined);
      if (request.routeOptions.config.keepsText) request.text = withoutByteOrderMark(text);
      done(null, parse(text));
    } catch (error) {
      done(error as Error);
    }
  });
}

/** What the parsers must know of a route. */
export function bodyRules({
  acceptsForm,
  keepsText,
  streamsBody,
  schema: { body },
}: Route): FastifyContextConfig {
  return {
    acceptsForm: acceptsForm ?? false,
    keepsText: keepsText ?? false,
    mayLackBody: !body || isBodyOptional(body),
    streamsBody: streamsBody ?? false,
  };
}

/** Adds routes whose bodies are taken as they come; they are there once the app is ready. */
export function takingBytes(app: FastifyInstance, addRoutes: (app: FastifyInstance) => void): void {
  app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) =>
      parsed(null, body),
    );
    addRoutes(scope);
    done();
  });
}

/** Forms need no preflight (Fetch, section 3.3), so only routes that ask for them get them. */
function requireFormRoute({ routeOptions }: FastifyRequest): void {
  if (routeOptions.config.acceptsForm) return;
  throw unsupportedMediaType('send the body as application/json');
}

/** JSON between systems is UTF-8 (RFC 8259, section 8.1), and no body is inflated here. */
function requireUtf8({ headers }: FastifyRequest): void {
  if (headers['content-type'] === 'application/json' && !headers['content-encoding']) return;
  const [, charset = 'utf-8'] = /charset="?([^\s;"]+)/i.exec(headers['content-type'] ?? '') ?? [];
  const encoding = headers['content-encoding'] ?? 'identity';
  if (/^(utf-?8|us-ascii)$/i.test(charset) && encoding === 'identity') return;
  throw unsupportedMediaType('send the body as plain UTF-8, neither encoded nor compressed');
}

/** Why a server could not listen, in one sentence that says what to do. */
export function listenFault(
  cause: unknown,
  at: { readonly service: string; readonly host: string; readonly port: number },
): Fault {
  const { code } = cause as NodeJS.ErrnoException;
  const where = `${at.host}:${at.port}`;
  if (code === 'EADDRINUSE') {
    return new Fault(
      'conflict',
      `${at.service} cannot listen on ${where}: the port is taken; stop the program that holds it or set ENNEAD_PORT_BASE`,
      { cause },
    );
  }
  const why =
    code === 'EADDRNOTAVAIL' ? 'this machine has no such address' : (code ?? String(cause));
  return new Fault('invalid', `${at.service} cannot listen on ${where}: ${why}`, { cause });
}

/** An answer as Fastify can send it: for HEAD it measures what GET would send, and cannot measure a `Response`. */
export function measurable(reply: FastifyReply, answer: unknown): unknown {
  if (!(answer instanceof Response) || reply.request.method !== 'HEAD') return answer;
  void reply.code(answer.status);
  for (const [name, value] of answer.headers) void reply.header(name, value);
  return answer.body ?? '';
}
