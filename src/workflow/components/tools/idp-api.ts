import { Type } from 'typebox';
import { Fault } from '../../../kit/errors.ts';
import type { Component, NodeContext } from '../component.ts';
import { OperatorCalls, refusalOf, type OperatorAnswer } from '../operator-calls.ts';
import { defineComponent } from '../schema.ts';
import { idpActions, type IdpAction } from './idp-actions.ts';
import type { ReadIdpToken } from './idp-token.ts';
import { AnyKey } from '../../../kit/any-key.ts';

export interface IdpOptions {
  /** `IDP_API_URL`, without `/api/v4`; absent where there is none. */
  readonly apiUrl: string | undefined;
  readonly readToken: ReadIdpToken;
}

type Params = Readonly<Record<string, unknown>>;

interface Settings {
  readonly action: string;
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path?: string;
  readonly params?: Params;
}

const input = Type.Object(
  {
    action: Type.String({
      minLength: 1,
      maxLength: 128,
      description: Object.keys(idpActions).join(', '),
    }),
    method: Type.Optional(
      Type.Enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'], { description: 'of a `path`' }),
    ),
    path: Type.Optional(
      Type.String({
        maxLength: 2_048,
        pattern: '^/[\\x21-\\x7e]*$',
        description: 'below /api/v4, as /projects/:id/issues, in place of a known action',
      }),
    ),
    params: Type.Optional(
      Type.Record(AnyKey, Type.Unknown(), {
        description: 'of the path, then of the query (GET, DELETE) or the body',
      }),
    ),
  },
  {
    examples: [
      {
        action: 'issues.create',
        params: { id: 'group/project', title: '{{ triage.json.title }}' },
      },
    ],
  },
);

/** Asks the identity provider's API as whoever started the execution. */
export function createIdpApi(options: IdpOptions): Component {
  return defineComponent({
    name: 'IdpAPI',
    group: 'tools',
    title: 'Identity provider',
    description:
      'Calls the API of the identity provider (GitLab’s REST API, v4) with the token of whoever started the execution, who must have logged in through it. `action` is one of the names, or any words beside a `path`.',
    input,
    output: Type.Object({
      response: Type.Unknown({ description: 'JSON; null where there is none' }),
      status: Type.Integer(),
      nextPage: Type.Optional(Type.Integer({ description: 'where a list goes on' })),
    }),
    effect: 'once',
    callerToken: 'needed',
    typicalMs: 500,
    run: async (settings, context) => {
      const calls = openCalls(options);
      const request = readRequest(settings);
      const headers = { authorization: `Bearer ${await tokenOf(options, context)}` };
      const answer = await calls.send(
        { ...request, headers: { ...headers, ...request.headers } },
        context,
      );
      if (answer.status >= 300) throw refusal(answer);
      const nextPage = Number(answer.headers['x-next-page']);
      const more = nextPage > 0 ? { nextPage } : {};
      const output = { response: answer.json ?? null, status: answer.status, ...more };
      return { kind: 'done', output };
    },
  });
}

function openCalls({ apiUrl }: IdpOptions): OperatorCalls {
  if (apiUrl !== undefined) return new OperatorCalls('idp', apiUrl);
  throw new Fault('unimplemented', 'no identity provider is set up (IDP_API_URL)', {
    reason: 'idp_not_configured',
  });
}

async function tokenOf({ readToken }: IdpOptions, context: NodeContext): Promise<string> {
  const callerToken = await context.callerToken();
  if (callerToken !== undefined) return readToken(callerToken, context);
  throw new Fault('forbidden', 'the token that started the execution is over, or was none', {
    reason: 'caller_token_missing',
  });
}

function readRequest(settings: Settings) {
  const { method, path } = findAction(settings);
  const left = new Map(Object.entries(settings.params ?? {}));
  const filled = path.replaceAll(/:([a-z_]\w*)/gi, (_, name: string) => takeSegment(left, name));
  const target = `/api/v4${requireBelow(filled)}`;
  const rest = Object.fromEntries(left);
  if (method === 'GET' || method === 'DELETE') {
    return { method, path: withQuery(target, rest), headers: {} };
  }
  const headers = { 'content-type': 'application/json' };
  return { method, path: target, headers, body: JSON.stringify(rest) };
}

function findAction({
  action,
  path,
  method,
}: Settings): Pick<IdpAction, 'path'> & { method: string } {
  if (path !== undefined) return { path, method: method ?? 'GET' };
  const known = Object.hasOwn(idpActions, action) ? idpActions[action] : undefined;
  if (known) return known;
  throw new Fault('invalid', `there is no action ${action}; name a path`, {
    reason: 'unknown_action',
    detail: { actions: Object.keys(idpActions) },
  });
}

function takeSegment(params: Map<string, unknown>, name: string): string {
  const value = params.get(name);
  params.delete(name);
  const isText = (typeof value === 'string' && value !== '') || typeof value === 'number';
  if (isText && value !== '.' && value !== '..') return encodeURIComponent(value);
  throw new Fault('invalid', `params.${name} must be a text or a number`, {
    reason: 'bad_setting',
    detail: { path: `/params/${name}` },
  });
}

/** A path that stays below `/api/v4`, however a server reads it. */
function requireBelow(path: string): string {
  const [plain = ''] = path.split('?');
  const segments = plain.split(/\/|%2f/i).map((segment) => segment.replaceAll(/%2e/gi, '.'));
  const isBelow = !segments.some((segment) => segment === '.' || segment === '..');
  if (isBelow && !/[\\#]/.test(path) && /^\/(?!\/)/.test(plain)) return path;
  throw new Fault('invalid', 'path must stay below /api/v4', {
    reason: 'bad_setting',
    detail: { path: '/path' },
  });
}

function withQuery(path: string, params: Params): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    const isList = Array.isArray(value);
    for (const one of isList ? (value as unknown[]) : [value]) {
      const text = typeof one === 'string' ? one : JSON.stringify(one);
      query.append(isList ? `${name}[]` : name, text);
    }
  }
  if (query.size === 0) return path;
  return `${path}${path.includes('?') ? '&' : '?'}${query.toString()}`;
}

/** GitLab says `message` (a text, or flaws by field) or `error`. */
function refusal(answer: OperatorAnswer): Fault {
  const { message, error } = (answer.json ?? {}) as { message?: unknown; error?: unknown };
  const words = message ?? error;
  const text = typeof words === 'string' || words === undefined ? words : JSON.stringify(words);
  return refusalOf(answer, { name: 'idp', message: text });
}
