import type { ChatRequest } from '../conversation/request.ts';
import type { Dialect, DialectName } from '../dialects/dialect.ts';
import type { Standing } from '../measure/standing.ts';
import type { Model, Target } from '../providers/provider.ts';
import { needsOf, wantsReasoning, type Need } from './demand.ts';
import { findLostLocally } from './local-fields.ts';
import type { Exclusion, TaskKind } from './plan.ts';
import type { QualityFloor } from './task-demands.ts';

export type Dialects = Readonly<Record<DialectName, Pick<Dialect, 'unsupported'>>>;

/**
 * Why a target is not asked: `hard` never for this request, `soft` only while there is a better one,
 * `wait` not now.
 */
export interface Refusal extends Exclusion {
  readonly weight: 'hard' | 'soft' | 'wait';
  /** The field of the request that does not fit. */
  readonly param: string;
  readonly code: string;
  readonly waitMs: number;
}

export interface ScreenOptions {
  readonly request: ChatRequest;
  readonly inputTokens: number;
  readonly dialects: Dialects;
  /** Of the face; its targets get what came. */
  readonly dialect: DialectName | undefined;
}

/** What automatic routing asks besides. */
export interface TaskWish {
  readonly kind: TaskKind;
  /** Absent where the best are taken first anyway. */
  readonly floor: QualityFloor | undefined;
}

/** An estimate may be this much too high before a caller's own choice of a model is refused. */
const estimateSlack = 0.7;
/** Room for an answer where the request does not say. */
const leastOutput = 256;

/** Judges targets by one request. */
export class Screen {
  readonly #options: ScreenOptions;
  /** The capabilities that the request cannot do without. */
  readonly needs: readonly Need[];
  #lost: { readonly field: string | undefined } | undefined;
  readonly #isThoughtful: boolean;

  constructor(options: ScreenOptions) {
    this.#options = options;
    this.needs = needsOf(options.request);
    this.#isThoughtful = wantsReasoning(options.request);
  }

  /** Of a target that the caller named: undefined when it can take the request now. */
  judgeNamed(target: Target, standing: Standing): Refusal | undefined {
    return (
      this.#capability(target, true) ?? this.#room(target, true) ?? this.#rest(target, standing)
    );
  }

  /** Of a target that the gateway may choose. */
  judgeChosen(target: Target, standing: Standing, wish: TaskWish): Refusal | undefined {
    return (
      this.#capability(target, false) ??
      this.#room(target, false) ??
      this.#rest(target, standing) ??
      judgeByTask(target, wish) ??
      this.#thought(target)
    );
  }

  #rest(target: Target, standing: Standing): Refusal | undefined {
    return this.#dialect(target) ?? judgeByStanding(target, standing);
  }

  /** The same as no refusal of `judgeChosen`, its standing aside, at a fraction of the cost. */
  fits(target: Target, wish: TaskWish): boolean {
    const { model } = target;
    if (this.#isThoughtless(model)) return false;
    if (this.#missing(model, false) || this.#overflow(model, false)) return false;
    if (!isMeantFor(model, wish) || isBelowFloor(model, wish)) return false;
    return this.#unsaid(target) === undefined;
  }

  #capability(target: Target, isNamed: boolean): Refusal | undefined {
    const need = this.#missing(target.model, isNamed);
    if (!need) return undefined;
    const { capability } = need;
    const param = this.#nameOf(need.param);
    const reason = `the model ${target.model.name} does not know ${capability}`;
    return hard(target, { rule: 'capability', reason, param, code: 'unsupported_capability' });
  }

  #missing({ capabilities, areCapabilitiesAssumed }: Model, isNamed: boolean): Need | undefined {
    for (const need of this.needs) {
      if (capabilities.has(need.capability)) continue;
      // A model that nobody knows may well do more: who names it gets the provider's own word.
      if (isNamed && areCapabilitiesAssumed && need.capability !== 'chat') continue;
      return need;
    }
    return undefined;
  }

  #room(target: Target, isNamed: boolean): Refusal | undefined {
    const param = this.#overflow(target.model, isNamed);
    if (param === undefined) return undefined;
    const reason = this.#overflowReason(target.model, param);
    const code = 'context_length_exceeded';
    return hard(target, { rule: 'context', reason, param: this.#nameOf(param), code });
  }

  #overflowReason({ name, contextWindow, maxOutput }: Model, param: string): string {
    const { inputTokens, request } = this.#options;
    const { maxTokens = 0 } = request;
    const fit = `do not fit the ${contextWindow} of the model ${name}`;
    if (param === 'messages') return `about ${inputTokens} tokens ${fit}`;
    if (maxOutput !== undefined && maxTokens > maxOutput) {
      return `the model ${name} answers at most ${maxOutput} tokens`;
    }
    return `an answer of ${maxTokens} tokens and about ${inputTokens} of the request ${fit}`;
  }

  /** The field that asks for more room than there is. */
  #overflow({ contextWindow, maxOutput = contextWindow }: Model, isNamed: boolean) {
    const { inputTokens, request } = this.#options;
    const { maxTokens = Math.min(leastOutput, maxOutput) } = request;
    if (isNamed) return inputTokens * estimateSlack > contextWindow ? 'messages' : undefined;
    if (inputTokens + Math.min(leastOutput, maxTokens) > contextWindow) return 'messages';
    const isTooMuch = maxTokens > maxOutput || inputTokens + maxTokens > contextWindow;
    return isTooMuch ? 'max_tokens' : undefined;
  }

  #dialect(target: Target): Refusal | undefined {
    const unsaid = this.#unsaid(target);
    if (unsaid === undefined) return undefined;
    const param = this.#nameOf(unsaid);
    const reason = `${param} cannot be said to the provider ${target.provider.name}`;
    return hard(target, { rule: 'dialect', reason, param, code: 'unsupported_parameter' });
  }

  /** The field as the caller calls it. */
  #nameOf(param: string): string {
    return this.#options.request.fieldNames?.[param] ?? param;
  }

  #thought(target: Target): Refusal | undefined {
    if (!this.#isThoughtless(target.model)) return undefined;
    return soft(target, 'capability', `the model ${target.model.name} does not know reasoning`);
  }

  #isThoughtless({ capabilities }: Model): boolean {
    return this.#isThoughtful && !capabilities.has('reasoning');
  }

  /** The first field that the target's provider, or its model, would not understand. */
  #unsaid({ provider: { dialect, origin, limits }, model }: Target): string | undefined {
    const { request, dialects, dialect: spoken } = this.#options;
    const { stop } = request;
    if (stop && limits?.stopsMax !== undefined && stop.length > limits.stopsMax) return 'stop';
    const isAsItCame = dialect === spoken;
    const said = isAsItCame ? undefined : dialects[dialect].unsupported(request, model.name);
    return said ?? (origin === 'local' ? this.#lostLocally() : undefined);
  }

  #lostLocally(): string | undefined {
    this.#lost ??= { field: findLostLocally(this.#options.request) };
    return this.#lost.field;
  }
}

type Finding = Pick<Refusal, 'rule' | 'reason' | 'param' | 'code'>;

function hard(target: Target, finding: Finding): Refusal {
  return { target, ...finding, weight: 'hard', waitMs: 0 };
}

const whys = { circuit: 'it failed too often', 'rate-limit': 'its limit is used up' };

function judgeByStanding(target: Target, standing: Standing): Refusal | undefined {
  const { closedBecause: rule, waitMs } = standing;
  if (rule === undefined) return undefined;
  const isOfKey = rule === 'circuit' && standing.circuit === 'closed';
  const why = isOfKey ? 'its key was refused' : whys[rule];
  const reason = `${why}; it may be asked again in ${Math.ceil(waitMs / 1000)} s`;
  return { target, rule, reason, param: 'model', code: 'unavailable', weight: 'wait', waitMs };
}

function judgeByTask(target: Target, wish: TaskWish): Refusal | undefined {
  const { quality, name } = target.model;
  const { kind, floor } = wish;
  if (!isMeantFor(target.model, wish)) {
    return soft(target, 'capability', `the model ${name} is not meant for ${kind}`);
  }
  if (!floor || !isBelowFloor(target.model, wish)) return undefined;
  const reason = `its quality ${quality} is below ${floor.quality}, the least for ${floor.purpose}`;
  return soft(target, 'quality', reason);
}

function isMeantFor({ capabilities }: Model, { kind }: TaskWish): boolean {
  return capabilities.has(kind);
}

function isBelowFloor({ quality }: Model, { floor }: TaskWish): boolean {
  return floor !== undefined && quality < floor.quality;
}

function soft(target: Target, rule: string, reason: string): Refusal {
  const code = 'unsupported_capability';
  return { target, rule, reason, param: 'model', code, weight: 'soft', waitMs: 0 };
}
