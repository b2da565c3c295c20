import { Type, type Static, type TSchema } from 'typebox';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** What a body may have where its route does not say. */
const bodyBytesDefault = 1024 * 1024;

export interface RouteSchema {
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** By status. The lowest 2xx or 3xx is the one that a handler's return value is sent with. */
  readonly response: Readonly<Record<number, TSchema>>;
  /** What each server-sent event carries, on routes that can answer as a stream. */
  readonly stream?: TSchema;
  /** What each line carries, on routes that can answer as JSON lines. */
  readonly lines?: TSchema;
}

/** One operation: enough to serve it, to check it, to document it and to call it. */
export interface Route {
  readonly method: Method;
  /** Path with `:name` parameters; `*` at its end is the rest of the path, decoded. */
  readonly url: string;
  /** Further paths with the same meaning. */
  readonly aliases?: readonly string[];
  readonly summary: string;
  readonly description?: string;
  /**
   * `none` lets anonymous callers in; `loopback` those of this machine, for what only tools beside
   * the service read; absent means that a token is needed.
   */
  readonly auth?: 'none' | 'loopback';
  /** What the caller must hold, `<area>:<action>`; of a list, any one. Refusals name the first. */
  readonly permission?: string | readonly string[];
  /** `none` leaves the route out of the service's rate limit. */
  readonly rateLimit?: 'none';
  /** `none` records no span, for routes that carry spans or are polled. */
  readonly trace?: 'none';
  /**
   * Answered past the framework, which costs more than a short answer itself: for what is asked for
   * most. A plain path, a query or a JSON body, and any answer but a web `Response`.
   */
  readonly isDirect?: true;
  /**
   * Of a direct route: clients ask it over and over in the same few words, which hold nothing secret.
   * Short bodies are then kept with what they say, and the handler gets them frozen.
   */
  readonly bodiesRecur?: true;
  /** Takes the body as `application/x-www-form-urlencoded` too; every value is a text then. */
  readonly acceptsForm?: true;
  /**
   * `handler`: the handler checks the body itself, with better words than a schema's, which only
   * documents it then; that it is an object is certain.
   */
  readonly bodyCheck?: 'handler';
  /** The handler sees the body's own text too, as `Call.text`. */
  readonly keepsText?: true;
  /**
   * The body is taken as it comes, of any media type and content coding, as `Call.bytes`; the handler
   * reads `content-type` and `content-encoding` itself.
   */
  readonly takesBytes?: true;
  /**
   * As `takesBytes`, but the handler reads the body itself, as `Call.stream`: it is never in memory as a
   * whole, and may come as slowly as it likes if only it comes. Without `bodyBytesMax` the handler alone
   * bounds it.
   */
  readonly streamsBody?: true;
  /** Largest request body in bytes; 1 MiB when absent. */
  readonly bodyBytesMax?: number;
  readonly schema: RouteSchema;
}

/** One WebSocket path. */
export interface SocketRoute {
  readonly url: string;
  readonly summary: string;
  readonly permission?: string | readonly string[];
  /**
   * Lets a handshake in that shows no token: nothing is sent before the first message, which must be
   * `{"auth": {"token": …}}` and come within ten seconds. Else the socket closes with 4401.
   */
  readonly authFrame?: true;
  /** Largest message of a client that is known; 1 MiB unless told. Above it the socket closes with 1009. */
  readonly messageBytesMax?: number;
  /** The message that a client sends to subscribe, where the stream has one. */
  readonly subscribe?: TSchema;
  readonly event: TSchema;
}

/** Everything that others may know of a service. */
export interface Contract {
  /** Lower case, one word: the service's name in settings, addresses, logs and its SQL schema. */
  readonly name: string;
  readonly title: string;
  readonly version: string;
  readonly description: string;
  /** The body of every refusal. */
  readonly error: TSchema;
  /** Accepts the cookie `session` beside tokens, with an Origin check. */
  readonly acceptsSessionCookie?: boolean;
  readonly routes: Readonly<Record<string, Route>>;
  readonly sockets?: Readonly<Record<string, SocketRoute>>;
}

type Part<S extends RouteSchema, K extends 'params' | 'query' | 'body'> = S[K] extends TSchema
  ? Static<S[K]>
  : undefined;

/** The validated request of a route, as its handler sees it. */
export interface RequestOf<R extends Route> {
  readonly params: Part<R['schema'], 'params'>;
  readonly query: Part<R['schema'], 'query'>;
  readonly body: Part<R['schema'], 'body'>;
}

/** The answer of a route when all went well. */
export type AnswerOf<R extends Route> = Static<
  Extract<R['schema']['response'][keyof R['schema']['response']], TSchema>
>;

/** The data of one server-sent event of a route. */
export type EventOf<R extends Route> = R['schema']['stream'] extends TSchema
  ? Static<R['schema']['stream']>
  : never;

/** The status that a handler's return value is sent with. */
export function successStatus(route: Route): number {
  const statuses = Object.keys(route.schema.response).map(Number);
  return Math.min(...statuses.filter((status) => status >= 200 && status < 400));
}

/** Largest request body of a route, in bytes. */
export function bodyBytesMaxOf({ bodyBytesMax = bodyBytesDefault }: Route): number {
  return bodyBytesMax;
}

/** All paths of a route, the main one first. */
export function pathsOf(route: Route): readonly string[] {
  return [route.url, ...(route.aliases ?? [])];
}

const healthFields = {
  status: Type.String({ description: '`healthy`, `degraded` or `unhealthy`' }),
  version: Type.String(),
  uptime: Type.Integer({ description: 'whole seconds since the service started' }),
};

/** The route that says whether a service works; `/health` always answers too. */
export function healthRoute<U extends string, T extends Record<string, TSchema>>(
  url: U,
  fields: T,
) {
  return {
    method: 'GET',
    url,
    aliases: url === '/health' ? [] : ['/health'],
    summary: 'Say whether the service works',
    auth: 'none',
    rateLimit: 'none',
    trace: 'none',
    schema: { response: { 200: Type.Object({ ...healthFields, ...fields }) } },
  } as const satisfies Route;
}
