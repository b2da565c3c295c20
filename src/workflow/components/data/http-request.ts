import { Type, type Static } from 'typebox';
import type { Egress, EgressRequest, EgressResponse } from '../../../kit/egress/egress.ts';
import { Fault, type Code } from '../../../kit/errors.ts';
import type { Component, NodeContext } from '../component.ts';
import { readRetryAfter } from '../../../kit/time/retry-after.ts';
import { defineComponent } from '../schema.ts';
import { AnyKey } from '../../../kit/any-key.ts';

const bytesDefault = 256 * 1024;
const bytesMax = 1024 * 1024;
/** Characters of a refusal's body that its error shows. */
const excerptLengthMax = 300;

const text = Type.String({ maxLength: 8_192 });
const scalar = Type.Union([text, Type.Number(), Type.Boolean()]);

const input = Type.Object(
  {
    method: Type.Optional(
      Type.Enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'], { default: 'GET' }),
    ),
    url: Type.String({
      minLength: 1,
      maxLength: 8_192,
      description:
        'http or https; addresses of private networks are refused, those of this machine unless the suite listens on loopback',
      'x-ennead': 'address',
    }),
    headers: Type.Optional(
      Type.Record(AnyKey, scalar, {
        'x-ennead': 'headers',
      }),
    ),
    query: Type.Optional(
      Type.Record(AnyKey, Type.Union([scalar, Type.Array(scalar)]), {
        description: 'added to the address; a list repeats its name',
      }),
    ),
    body: Type.Optional(
      Type.Unknown({ description: 'a text is sent as it is, anything else as JSON' }),
    ),
    responseType: Type.Optional(
      Type.Enum(['auto', 'json', 'text', 'base64'], {
        default: 'auto',
        description: '`auto` reads JSON where the answer says that it is',
      }),
    ),
    followRedirects: Type.Optional(Type.Boolean({ default: true })),
    acceptStatus: Type.Optional(
      Type.Array(Type.Integer({ minimum: 100, maximum: 599 }), {
        maxItems: 100,
        description:
          'statuses beside 2xx that are an answer and no failure; those of redirects only where they are not followed',
      }),
    ),
    maxBytes: Type.Optional(Type.Integer({ minimum: 1, maximum: bytesMax, default: bytesDefault })),
  },
  {
    examples: [
      {
        method: 'POST',
        url: 'https://api.example.com/v1/tickets',
        headers: { 'x-team': '{{ inputs.team }}' },
        body: { title: '{{ triage.json.title }}' },
      },
    ],
  },
);
type Settings = Static<typeof input>;

/** Calls an address, guarded by egress. */
export function createHttpRequest(egress: Pick<Egress, 'fetch'>): Component {
  return defineComponent({
    name: 'HttpRequest',
    group: 'data',
    title: 'HTTP request',
    description:
      'Sends a request and gives the answer; a status other than 2xx fails as `HTTP_<status>`. Requests that change something carry an `Idempotency-Key`, the same for every attempt. Cookies are left out of the answer.',
    input,
    output: Type.Object({
      status: Type.Integer(),
      headers: Type.Record(AnyKey, Type.String()),
      body: Type.Unknown({ description: 'null where there is none' }),
    }),
    effect: 'once',
    typicalMs: 500,
    run: async (settings, context) => {
      const answer = await call(egress, readUrl(settings), readRequest(settings, context));
      const { status } = answer;
      const isAnswer = answer.status < 300 || settings.acceptStatus?.includes(status);
      if (!isAnswer) throw statusFault(answer);
      const headers = Object.fromEntries(answer.headers);
      delete headers['set-cookie'];
      const body = readBody(answer, settings.responseType ?? 'auto');
      return { kind: 'done', output: { status, headers, body } };
    },
  });
}

async function call(
  egress: Pick<Egress, 'fetch'>,
  url: string,
  request: EgressRequest,
): Promise<EgressResponse> {
  try {
    return await egress.fetch(url, request);
  } catch (error) {
    throw asFinal(error);
  }
}

/** Egress blames the address for these, yet the same request would end the same way again. */
function asFinal(error: unknown): unknown {
  const code = error instanceof Fault && finalCodes.get(error.reason);
  if (!code) return error;
  const { message, reason, detail } = error;
  return new Fault(code, message, { cause: error, detail, ...(reason && { reason }) });
}

const finalCodes: ReadonlyMap<string | undefined, Code> = new Map([
  ['response_too_large', 'too_large'],
  ['redirect_refused', 'forbidden'],
]);

function readUrl({ url, query = {} }: Settings): string {
  if (!URL.canParse(url)) {
    throw new Fault('invalid', 'url must be a full address', { reason: 'bad_setting' });
  }
  const full = new URL(url);
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) full.searchParams.append(name, String(one));
  }
  return full.href;
}

function readRequest(settings: Settings, context: NodeContext): EgressRequest {
  const { method = 'GET', followRedirects = true, maxBytes = bytesDefault } = settings;
  const { signal, timeoutMs, idempotencyKey } = context;
  const isChange = method !== 'GET' && method !== 'HEAD';
  const body = isChange ? readSent(settings.body) : {};
  const headers = {
    'user-agent': 'ennead-workflow',
    ...(isChange && { 'idempotency-key': idempotencyKey }),
    ...body.headers,
    ...readHeaders(settings.headers),
  };
  return {
    method,
    headers,
    timeoutMs,
    signal,
    responseBytesMax: maxBytes,
    isRedirectFollowed: followRedirects,
    answeredRedirects: followRedirects ? [] : settings.acceptStatus,
    ...(body.text !== undefined && { body: body.text }),
  };
}

interface SentBody {
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function readSent(body: unknown): SentBody {
  if (body === undefined) return {};
  if (typeof body === 'string') return { text: body };
  return { text: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
}

function readHeaders(given: Settings['headers'] = {}): Record<string, string> {
  const pairs = Object.entries(given).map(([name, value]) => [name.toLowerCase(), String(value)]);
  return Object.fromEntries(pairs) as Record<string, string>;
}

function readBody(answer: EgressResponse, responseType: Settings['responseType']): unknown {
  if (answer.body.length === 0) return null;
  if (responseType === 'base64') return answer.body.toString('base64');
  const isJson = /^[^;]*[/+]json\b/i.test(answer.headers.get('content-type') ?? '');
  return responseType === 'json' || (responseType === 'auto' && isJson)
    ? answer.json()
    : answer.text();
}

function statusFault({ status, headers, ...answer }: EgressResponse): Fault {
  const excerpt = answer.text().slice(0, excerptLengthMax).replaceAll(/\s+/g, ' ').trim();
  const retryAfter = readRetryAfter(headers.get('retry-after'));
  const message = `the address answered with status ${status}${excerpt && `: ${excerpt}`}`;
  return new Fault(codeOf(status), message, {
    reason: `http_${status}`,
    detail: { status },
    ...(retryAfter !== undefined && { retryAfter }),
  });
}

/** Refusals that the same request may not meet another time. */
const passingRefusals: ReadonlySet<number> = new Set([408, 425, 429]);
const refusalCodes: ReadonlyMap<number, Code> = new Map([
  [401, 'forbidden'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [409, 'conflict'],
  [410, 'not_found'],
  [413, 'too_large'],
]);

/** Says whether a repetition makes sense: of a refusal it does not. */
function codeOf(status: number): Code {
  const isRefusal = status >= 400 && status < 500 && !passingRefusals.has(status);
  return isRefusal ? (refusalCodes.get(status) ?? 'invalid') : 'upstream';
}
