import { Fault } from '../../kit/errors.ts';
import type { Call, Handler } from '../../kit/http/call.ts';
import { parseJsonBody } from '../../kit/http/json-body.ts';
import { invalidToken } from '../../kit/identity/claims.ts';
import { sharedAbort } from '../../kit/shared-abort.ts';
import type { Guests } from '../../kit/sockets/guests.ts';
import { formatTraceparent } from '../../kit/trace/trace-context.ts';
import { WrittenBytes } from '../../kit/answers/written-json.ts';
import type { Caller } from '../caller.ts';
import type { Asker } from '../graphql/context.ts';
import type { GraphqlHttpRequest } from '../graphql/engine.ts';
import type { Graphql } from '../graphql/graphql.ts';
import type { graphqlRoutes as routes } from '../schemas/graphql.ts';

type GraphqlHandlers = { readonly [K in keyof typeof routes]: Handler<(typeof routes)[K]> };
type GraphqlCall = Call<(typeof routes)['graphql']> | Call<(typeof routes)['graphqlQuery']>;

export interface GraphqlHandlerParts {
  readonly graphql: Pick<Graphql, 'engine'>;
  /** Ends streams whose tokens are revoked, as it does sockets. */
  readonly guests: Guests;
}

/** The edge of GraphQL over HTTP. */
export function graphqlHandlers(parts: GraphqlHandlerParts): GraphqlHandlers {
  return {
    graphql: (call) => answer(parts, call, { method: 'POST', params: call.body }),
    graphqlQuery: (call) => {
      const { query, operationName, variables, extensions } = call.query;
      const params = {
        query,
        ...(operationName === undefined ? {} : { operationName }),
        ...(variables === undefined ? {} : { variables: objectOf('variables', variables) }),
        ...(extensions === undefined ? {} : { extensions: objectOf('extensions', extensions) }),
      };
      return answer(parts, call, { method: 'GET', params });
    },
  };
}

async function answer(
  { graphql, guests }: GraphqlHandlerParts,
  call: GraphqlCall,
  request: Omit<GraphqlHttpRequest, 'accept'>,
): Promise<Response | WrittenBytes> {
  const engine = await graphql.engine();
  const accept = call.headers.accept ?? '';
  const asker = new HttpAsker(call);
  const response = await engine.answer({ ...request, accept }, asker);
  if (isStream(response)) return keep(response, { guests, call, asker });
  // Also a subscription that nobody can be told of, for want of a media type.
  asker.leave();
  if (response.status === 406) throw unacceptable();
  const allow = response.headers.get('allow');
  if (allow !== null) call.setHeader('allow', allow);
  if (response.status === 405) throw wrongMethod();
  call.setStatus(response.status);
  const type = response.headers.get('content-type') ?? 'application/json; charset=utf-8';
  return new WrittenBytes(await response.text(), type);
}

/** Whoever sent a request. Most need no signal, and making one is a good part of a small answer. */
class HttpAsker implements Asker {
  readonly caller: Caller;
  readonly #call: GraphqlCall;
  #gone: AbortController | undefined;

  constructor(call: GraphqlCall) {
    this.caller = { identity: call.identity, credential: call.credential };
    this.#call = call;
  }

  get signal(): AbortSignal {
    if (!this.#gone) {
      const gone = sharedAbort();
      this.#gone = gone;
      const { cancellation } = this.#call;
      cancellation.onCancel(() => gone.abort(cancellation.reason));
    }
    return this.#gone.signal;
  }

  get traceparent(): string {
    return formatTraceparent(this.#call.span.spanContext());
  }

  /** Ends what still goes on for it; tells it why, where it is still there. */
  leave(reason?: Fault): void {
    this.#gone?.abort(reason);
  }
}

/** Whatever may go on for long. */
function isStream({ headers }: Response): boolean {
  return /^(?:text\/event-stream|multipart\/)/.test(headers.get('content-type') ?? '');
}

interface Keeping {
  readonly guests: Guests;
  readonly call: GraphqlCall;
  readonly asker: HttpAsker;
}

/** A stream counts as a connection of its caller, and ends when its token does. */
function keep(response: Response, { guests, call, asker }: Keeping): Response {
  const { identity, credential } = call;
  const { body, status, headers } = response;
  try {
    const close = (code: number, reason: string) => asker.leave(endingOf(code, reason));
    const leave = guests.keep({ close }, { identity, credential });
    return new Response(body && endingWith(body, leave), { status, headers: [...headers] });
  } catch (error) {
    asker.leave();
    void body?.cancel();
    throw error;
  }
}

/** What a guest is closed for, as a stream can say it. */
function endingOf(code: number, reason: string): Fault {
  return code === 1008 ? invalidToken(reason) : new Fault('unavailable', reason, { retryAfter: 1 });
}

/** The same bytes; tells once when all are read, or nobody reads on. */
function endingWith(
  body: ReadableStream<Uint8Array>,
  onEnd: () => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { done, value } = await reader.read();
      if (!done) {
        controller.enqueue(value);
        return;
      }
      onEnd();
      controller.close();
    },
    cancel: async (reason) => {
      onEnd();
      await reader.cancel(reason);
    },
  });
}

/** Chat's edge makes it a 404, as all wrong methods. */
function wrongMethod(): Fault {
  return new Fault('not_found', 'a GET runs queries only: send it by POST', {
    reason: 'method_not_allowed',
  });
}

/** Chat has no status of its own for this. */
function unacceptable(): Fault {
  const types = 'application/json, application/graphql-response+json or text/event-stream';
  return new Fault('invalid', `accept ${types}; a subscription comes as the last of these`, {
    reason: 'not_acceptable',
  });
}

function objectOf(name: string, text: string): Readonly<Record<string, unknown>> {
  const value = parseJsonBody(text);
  // Checked in this line.
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Readonly<Record<string, unknown>>;
  throw new Fault('invalid', `query.${name} must be a JSON object`, {
    reason: 'validation_error',
    detail: { param: name },
  });
}
