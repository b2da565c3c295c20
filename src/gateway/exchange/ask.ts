import type { Cancellation } from '../../kit/cancellation.ts';
import { Fault } from '../../kit/errors.ts';
import type { Span } from '../../kit/trace/trace.ts';
import type { CacheWish } from '../cache/answer-cache.ts';
import type { ChatRequest } from '../conversation/request.ts';
import { withExactNumbers } from '../dialects/exact-json.ts';
import { isRecord } from '../dialects/untrusted.ts';
import type { Face } from '../faces/face.ts';
import { guardRequest } from '../guardrails/guarding.ts';
import type { AnswerGuard, Guardrail } from '../guardrails/guardrail.ts';
import type { Payer } from '../money/purse.ts';
import type { RoutingQuestion, Strategy } from '../routing/plan.ts';

export type Body = Readonly<Record<string, unknown>>;

/** A chat as a caller sent it. */
export interface ChatAsk {
  readonly face: Face;
  /** As it was parsed. */
  readonly body: Body;
  /** The body as it came. */
  readonly text: string;
  readonly payer: Payer;
  readonly span: Span;
  readonly cancellation: Cancellation;
  /** Milliseconds of `performance.now()`. */
  readonly startedAt: number;
  /** The answer says who gave it and what it cost, as the interface's own endpoint does. */
  readonly isAnnotated: boolean;
  /** Headers that upstreams of the face's own dialect get too. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What was read of a chat. */
interface Reading {
  readonly request: ChatRequest;
  readonly isChanged: boolean;
  readonly guard: AnswerGuard | undefined;
}

/** A chat that was read and may be sent. */
export class PreparedAsk implements ChatAsk {
  readonly face: Face;
  readonly body: Body;
  readonly text: string;
  readonly payer: Payer;
  readonly span: Span;
  readonly startedAt: number;
  readonly isAnnotated: boolean;
  readonly headers: ChatAsk['headers'];
  readonly request: ChatRequest;
  /** The bytes as they came must not be sent: a guardrail changed what they say. */
  readonly isChanged: boolean;
  /** Looks at the answer, which must not pass through as bytes then. */
  readonly guard: AnswerGuard | undefined;
  readonly strategy: Strategy;
  readonly fallbacks: readonly string[];
  readonly wish: CacheWish;
  readonly cancellation: Cancellation;
  readonly #ask: ChatAsk;

  constructor(ask: ChatAsk, { request, isChanged, guard }: Reading) {
    this.#ask = ask;
    this.face = ask.face;
    this.body = ask.body;
    this.text = ask.text;
    this.payer = ask.payer;
    this.span = ask.span;
    this.cancellation = ask.cancellation;
    this.startedAt = ask.startedAt;
    this.isAnnotated = ask.isAnnotated;
    this.headers = ask.headers;
    this.request = request;
    this.isChanged = isChanged;
    this.guard = guard;
    this.strategy = strategyOf(ask.body);
    this.fallbacks = fallbacksOf(ask.body);
    this.wish = wishOf(ask.body);
  }

  /** The same chat with more said in it. */
  withRequest(request: ChatRequest): PreparedAsk {
    return new PreparedAsk(this.#ask, { request, isChanged: true, guard: this.guard });
  }
}

/** For callers whose face passes none on. */
export const noHeaders: ChatAsk['headers'] = {};

/** Fields of a request that are for the gateway alone. */
export const ownFields = ['routing_strategy', 'cache', 'fallbacks'] as const;

/** Reads a chat and takes it through the guardrails; throws `invalid` where it makes no sense. */
export function prepare(ask: ChatAsk, guardrails: readonly Guardrail[]): PreparedAsk {
  const body = withExactNumbers(ask.body, ask.text);
  const read = ask.face.read(withoutOwn(body));
  const { request, answer } = guardRequest(guardrails, read);
  const exact = body === ask.body ? ask : { ...ask, body };
  return new PreparedAsk(exact, { request, isChanged: request !== read, guard: answer });
}

/** What the body of a chat asks the router; throws as `prepare` does. */
export function questionOf(face: Face, body: Body): RoutingQuestion {
  return {
    request: face.read(withoutOwn(body)),
    strategy: strategyOf(body),
    fallbacks: fallbacksOf(body),
    dialect: face.dialect,
    isComplete: true,
  };
}

export function hasOwnFields(body: Body): boolean {
  return ownFields.some((name) => body[name] !== undefined);
}

function withoutOwn(body: Body): Body {
  if (!hasOwnFields(body)) return body;
  const rest: Record<string, unknown> = { ...body };
  for (const name of ownFields) delete rest[name];
  return rest;
}

function strategyOf({ routing_strategy: wanted }: Body): Strategy {
  if (wanted === undefined || wanted === null || wanted === 'cost') return 'cost';
  if (wanted === 'performance' || wanted === 'quality') return wanted;
  throw refusal('routing_strategy', 'must be performance or quality, or absent for the cheapest');
}

const fallbacksMax = 16;
const nameCharsMax = 256;

function fallbacksOf({ fallbacks }: Body): readonly string[] {
  if (fallbacks === undefined || fallbacks === null) return [];
  const isList = Array.isArray(fallbacks) && fallbacks.length <= fallbacksMax;
  if (isList && fallbacks.every(isName)) return fallbacks;
  throw refusal('fallbacks', `must be a list of at most ${fallbacksMax} names of models`);
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= nameCharsMax;
}

const noWish: CacheWish = {};

function wishOf({ cache }: Body): CacheWish {
  if (cache === undefined || cache === null) return noWish;
  if (!isRecord(cache)) throw refusal('cache', 'must be an object');
  const { enabled, ttl, key } = cache;
  return {
    enabled: given(enabled, isBoolean, { param: 'cache.enabled', must: 'be true or false' }),
    ttl: given(ttl, isSeconds, { param: 'cache.ttl', must: 'be whole seconds, 0 or more' }),
    key: given(key, isNamespace, {
      param: 'cache.key',
      must: `be a text of at most ${nameCharsMax} characters`,
    }),
  };
}

/** A field that may be absent; throws `invalid` where it is something else. */
function given<T>(
  value: unknown,
  is: (value: unknown) => value is T,
  { param, must }: { readonly param: string; readonly must: string },
): T | undefined {
  if (value === undefined || value === null) return undefined;
  if (is(value)) return value;
  throw refusal(param, `must ${must}`);
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

function isSeconds(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isNamespace(value: unknown): value is string {
  return typeof value === 'string' && value.length <= nameCharsMax;
}

function refusal(param: string, what: string): Fault {
  const detail = { param };
  return new Fault('invalid', `${param} ${what}`, { reason: 'invalid_value', detail });
}
