import type { FastifyInstance, FastifyReply } from 'fastify';
import { WrittenBytes } from '../answers/written-json.ts';
import { bodyBytesMaxOf, pathsOf, successStatus, type Contract, type Route } from '../contract.ts';
import { Fault } from '../errors.ts';
import type { Identity } from '../identity/identity.ts';
import { describeContract } from '../openapi.ts';
import type { SocketHandlers } from '../sockets/socket-handlers.ts';
import { SocketServer, type SocketLimits } from '../sockets/socket-server.ts';
import { bodyRules, createApp, listenFault, measurable, takingBytes } from './app.ts';
import type { AnyHandler, Call, Handlers } from './call.ts';
import { DirectRoutes } from './direct-routes.ts';
import { serveDocs } from './docs-page.ts';
import { Edge, type EdgeOptions } from './edge.ts';
import { faultOf, type Refusal } from './fault-reply.ts';
import { noRouteFault, upgradeFault } from './no-route.ts';
import { refuseOddRequests } from './odd-requests.ts';
import { PiecewiseAnswers } from './piecewise-answers.ts';
import { leavingBodies } from './streamed-body.ts';
import { checkedBody } from './validation.ts';

export interface HttpOptions extends EdgeOptions {
  /** How long a client may take to send a request; 30 s when absent. */
  readonly requestTimeoutMs?: number;
  /** How long a client may take nothing of an answer that waits for it; 60 s when absent. */
  readonly unreadTimeoutMs?: number;
  readonly socketLimits?: Partial<SocketLimits>;
}

const requestTimeoutMsDefault = 30_000;
const unreadTimeoutMsDefault = 60_000;
const sweepMs = 50;

interface Served {
  readonly route: Route;
  readonly url: string;
  readonly handler: AnyHandler;
}

/**
 * The HTTP edge of one service: serves its contract's routes, and for free the validation, token
 * check, rate limit, span, error envelope, `GET /openapi.json` and `GET /docs`.
 */
export class HttpServer {
  /** The Fastify instance below, for what a contract cannot say. */
  readonly app: FastifyInstance;
  /** The WebSocket edge on the same port. */
  readonly sockets: SocketServer;
  readonly #options: HttpOptions;
  readonly #edge: Edge;
  readonly #pieces: PiecewiseAnswers;
  readonly #direct: DirectRoutes;

  constructor(options: HttpOptions) {
    this.#options = options;
    const { contract, requestTimeoutMs = requestTimeoutMsDefault } = options;
    const streamsBodies = Object.values(contract.routes).some((route) => route.streamsBody);
    this.#edge = new Edge(options);
    const { faults } = this.#edge;
    this.#pieces = new PiecewiseAnswers(this.#edge);
    this.#direct = new DirectRoutes({
      edge: this.#edge,
      pieces: this.#pieces,
      bodyTimeoutMs: streamsBodies ? requestTimeoutMs : undefined,
    });
    this.app = createApp({
      requestTimeoutMs,
      unreadTimeoutMs: options.unreadTimeoutMs ?? unreadTimeoutMsDefault,
      streamsBodies,
      takeDirect: (request, response) => this.#direct.take(request, response),
      refuse: (error, request, reply) => this.#edge.refuse(reply, faultOf(error, request)),
      refuseConnection: (error, socket) => faults.refuseConnection(error, socket),
    });
    refuseOddRequests(this.app.server, faults);
    this.sockets = new SocketServer(this.app.server, {
      ...options,
      faults,
      limits: options.socketLimits,
    });
    this.app.decorateRequest('context');
    this.app.decorateRequest('text');
    this.app.decorateReply('whenOver', function whenOver(this: FastifyReply, listener) {
      this.raw.on('close', listener);
    });
    this.app.setNotFoundHandler((request, reply) =>
      this.#edge.refuse(reply, noRouteFault(contract, request)),
    );
    this.#serveOpenApi();
  }

  /** Serves every route of the service's contract. */
  serve<C extends Contract>(contract: C, handlers: Handlers<C>): void {
    for (const [name, route] of Object.entries(contract.routes)) {
      const handler = handlers[name] as unknown as AnyHandler;
      for (const url of pathsOf(route)) {
        const add = (app: FastifyInstance) => this.#addRoute(app, { route, url, handler });
        if (route.streamsBody) leavingBodies(this.app, add);
        else if (route.takesBytes) takingBytes(this.app, add);
        else add(this.app);
        if (route.isDirect) this.#direct.add(url, route, handler);
      }
    }
  }

  /** Serves every WebSocket path of the service's contract; who only reads one is told what it is. */
  serveSockets<C extends Contract>(contract: C, handlers: SocketHandlers<C>): void {
    this.sockets.serve(contract, handlers);
    for (const { url } of Object.values(contract.sockets ?? {})) {
      if (this.app.hasRoute({ method: 'GET', url })) continue;
      this.app.get(url, (request) => {
        throw upgradeFault(request);
      });
    }
  }

  /** Tells of every request that is refused. */
  watchRefusals(watch: (refusal: Refusal) => void): void {
    this.#edge.faults.watch(watch);
  }

  /** Listens; throws one clear sentence when the port is taken or the address is not ours. */
  async listen(host: string, port: number): Promise<void> {
    try {
      await this.app.listen({ host, port });
    } catch (cause) {
      throw listenFault(cause, { service: this.#options.contract.name, host, port });
    }
  }

  /** Stops accepting, waits for running requests up to the grace, then aborts them. */
  async close(graceMs: number): Promise<void> {
    const timer = setTimeout(() => {
      this.#edge.openCalls.cancel(
        new Fault('unavailable', 'the service is stopping', { retryAfter: 5 }),
      );
      setTimeout(() => this.app.server.closeAllConnections(), 500).unref();
    }, graceMs);
    // A connection whose answer ends from now on would stay open, idle, for its keep-alive time.
    const sweeper = setInterval(() => this.app.server.closeIdleConnections(), sweepMs);
    this.#direct.close();
    this.sockets.close(graceMs);
    await this.app.close();
    clearTimeout(timer);
    clearInterval(sweeper);
  }

  #addRoute(app: FastifyInstance, { route, url, handler }: Served): void {
    const { params, query, response } = route.schema;
    const body = checkedBody(route);
    const status = successStatus(route);
    app.route({
      method: route.method,
      url,
      bodyLimit: bodyBytesMaxOf(route),
      config: bodyRules(route),
      schema: {
        ...(params ? { params } : {}),
        ...(query ? { querystring: query } : {}),
        ...(body ? { body } : {}),
        response,
      },
      onRequest: (_request, reply, done) => this.#begin(route, reply, done),
      handler: (_request, reply) => this.#handle(reply.code(status), { handler, route }),
    });
  }

  /** Before the body is read: span, identity, permission, rate limit. */
  #begin(route: Route, reply: FastifyReply, done: (error?: Error) => void): void {
    try {
      const admitted = this.#edge.admit(route, reply);
      if (admitted instanceof Promise) {
        void this.#beginWhenAdmitted(admitted, done);
        return;
      }
    } catch (error) {
      done(error as Error);
      return;
    }
    done();
  }

  async #beginWhenAdmitted(
    admitted: Promise<Identity>,
    done: (error?: Error) => void,
  ): Promise<void> {
    try {
      await admitted;
    } catch (error) {
      done(error as Error);
      return;
    }
    done();
  }

  /** A promise only where there is something to wait for: most of a short request is waiting. */
  #handle(reply: FastifyReply, { handler, route }: Pick<Served, 'handler' | 'route'>): unknown {
    const call = this.#edge.callOf(route, reply);
    const answer = handler(call);
    if (answer instanceof Promise) return answer.then((given) => this.#send(reply, given, call));
    // Fastify takes a plain undefined for "not yet".
    return this.#send(reply, answer, call) ?? null;
  }

  /** What Fastify is to send. */
  #send(reply: FastifyReply, answer: unknown, call: Call): unknown {
    if (answer instanceof WrittenBytes) {
      void reply.type(answer.mediaType);
      return answer.bytes;
    }
    const begin = (head: Readonly<Record<string, string>>) => beginPieces(reply, head);
    const sent = this.#pieces.send(answer, { reply, call, begin });
    return sent ? sent.then(() => reply) : measurable(reply, answer);
  }

  #serveOpenApi(): void {
    const document = describeContract(this.#options.contract);
    this.app.get('/openapi.json', { schema: {} }, () => document);
    serveDocs(this.app, this.#options.contract);
  }
}

/** Takes the answer out of Fastify's hands and writes its head. */
function beginPieces(reply: FastifyReply, head: Readonly<Record<string, string>>): void {
  void reply.hijack();
  void reply.headers(head);
  // As a list: V8 is slow to add keys to an object that a spread made.
  reply.raw.writeHead(200, Object.entries(reply.getHeaders()).flat() as string[]);
}
