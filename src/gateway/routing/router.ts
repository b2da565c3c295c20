import { Fault } from '../../kit/errors.ts';
import { priceOf } from '../../kit/prices/pricing.ts';
import type { Standings } from '../measure/standing.ts';
import type { ProviderList, Target } from '../providers/provider.ts';
import { expectTimes, orderProspects, putBelowLast } from './ordering.ts';
import type { Candidate, Plan, Router, RoutingQuestion, TaskKind } from './plan.ts';
import { Prospect } from './prospect.ts';
import { RoutedPlan } from './routed-plan.ts';
import { Screen, type Dialects, type Refusal, type TaskWish } from './screening.ts';
import { manyTargets, shortlist } from './shortlist.ts';
import { floorOf, taskDemands } from './task-demands.ts';
import { findTaskKind } from './task-kind.ts';
import { estimateInputTokens } from './tokens.ts';

/** The model that lets the gateway choose. */
export const automaticModel = 'auto-route';

export interface RouterOptions {
  readonly providers: ProviderList;
  readonly standings: Standings;
  readonly dialects: Dialects;
  /** 0 to 1, for the choice among equals. */
  readonly random?: () => number;
}

/** Decides by rules that a plan tells: who can take a request, and in which order they are asked. */
export class CandidateRouter implements Router {
  readonly #options: RouterOptions;
  /** Whom automatic routing may choose, of the list of providers that it was made from. */
  #choice: { readonly of: unknown; readonly targets: readonly Target[] } = { of: [], targets: [] };

  constructor(options: RouterOptions) {
    this.#options = options;
  }

  plan(question: RoutingQuestion): Plan {
    const { request, fallbacks, strategy } = question;
    const state = new Planning(question, this.#options);
    this.#addModel(request.model, state);
    if (fallbacks.length > 0) {
      const models = new Set(fallbacks.filter((model) => model !== request.model));
      for (const model of models) this.#addModel(model, state);
    }
    if (state.candidates.length === 0) throw state.failure();
    const { candidates, excluded, inputTokens } = state;
    const lastResorts = () => this.#lastResorts(question, state);
    return new RoutedPlan({ request, strategy, candidates, excluded, inputTokens, lastResorts });
  }

  #lastResorts({ request, fallbacks }: RoutingQuestion, state: Planning): readonly Candidate[] {
    return [request.model, ...fallbacks].some(isAutomaticModel)
      ? state.findTooWeak(this.#choosable())
      : [];
  }

  #addModel(model: string, state: Planning): void {
    const isAutomatic = isAutomaticModel(model);
    const targets = isAutomatic ? this.#choosable() : this.#options.providers.targetsOf(model);
    state.add(targets, isAutomatic);
  }

  #choosable(): readonly Target[] {
    const providers = this.#options.providers.all();
    if (this.#choice.of !== providers) {
      const all = providers.flatMap((provider) =>
        [...provider.models.values()].map((model) => ({ provider, model })),
      );
      const targets = all.filter(
        ({ model }) => model.capabilities.has('chat') && !model.isOnlyByName,
      );
      this.#choice = { of: providers, targets };
    }
    return this.#choice.targets;
  }
}

interface Task {
  readonly kind: TaskKind;
  readonly outputTokens: number;
}

/** A shortlist that leaves fewer is not trusted. */
const fewCandidates = 4;

/** One plan while it is made. */
class Planning {
  readonly candidates: Prospect[] = [];
  readonly excluded: Refusal[] = [];
  readonly inputTokens: number;
  readonly #question: RoutingQuestion;
  readonly #standings: Standings;
  readonly #random: () => number;
  readonly #screen: Screen;
  #isKnown = false;

  constructor(question: RoutingQuestion, { standings, dialects, random }: RouterOptions) {
    const { request, dialect } = question;
    this.inputTokens = estimateInputTokens(request);
    this.#question = question;
    this.#standings = standings;
    this.#random = random ?? Math.random;
    const { inputTokens } = this;
    this.#screen = new Screen({ request, inputTokens, dialects, dialect });
  }

  /** Adds those of the targets that can be asked, behind the ones that are there. */
  add(targets: readonly Target[], isAutomatic: boolean): void {
    if (targets.length === 0) return;
    this.#isKnown = true;
    const fresh = this.candidates.length > 0 ? this.#without(targets) : targets;
    const task = this.#taskOf(isAutomatic);
    const found = isAutomatic
      ? (this.#chooseQuickly(fresh, task) ?? this.#choose(fresh, task))
      : this.#take(fresh, task.outputTokens);
    this.#order(found, task.outputTokens);
    const { floor } = this.#wish(task.kind);
    if (isAutomatic && floor) putBelowLast(found, floor.quality);
    for (const one of found) this.candidates.push(one);
  }

  /** Those that could be asked now if their quality were not too low for the task; best first. */
  findTooWeak(targets: readonly Target[]): readonly Prospect[] {
    const { kind, outputTokens } = this.#taskOf(true);
    const wish = this.#wish(kind);
    const found: Prospect[] = [];
    for (const target of this.#without(targets)) {
      const standing = this.#standings.of(target);
      const refusal = this.#screen.judgeChosen(target, standing, wish);
      if (refusal?.rule !== 'quality') continue;
      found.push(this.#prospect({ target, standing, outputTokens, drawback: refusal.reason }));
    }
    this.#order(found, outputTokens);
    if (wish.floor) putBelowLast(found, wish.floor.quality);
    return found;
  }

  failure(): Fault {
    const { model } = this.#question.request;
    if (!this.#isKnown) return modelNotFound(model);
    const waits = this.excluded.filter(({ weight }) => weight === 'wait');
    if (waits.length > 0) return unavailable(waits);
    const [first] = this.excluded;
    if (!first) return modelNotFound(model);
    const { reason, code, param } = first;
    return new Fault('invalid', reason, { reason: code, detail: { param } });
  }

  #taskOf(isAutomatic: boolean): Task {
    const { request } = this.#question;
    const kind = isAutomatic ? findTaskKind(request).kind : 'chat';
    const outputTokens = Math.min(request.maxTokens ?? Infinity, taskDemands[kind].typicalOutput);
    return { kind, outputTokens };
  }

  #order(found: Prospect[], outputTokens: number): void {
    const { strategy } = this.#question;
    if (strategy === 'performance' && found.length > 1) expectTimes(found, outputTokens);
    orderProspects(found, strategy, this.#random);
  }

  #without(targets: readonly Target[]): readonly Target[] {
    const isThere = ({ provider, model }: Target) =>
      this.candidates.some(({ target }) => target.provider === provider && target.model === model);
    return targets.filter((target) => !isThere(target));
  }

  #take(targets: readonly Target[], outputTokens: number): Prospect[] {
    const found: Prospect[] = [];
    for (const target of targets) {
      const standing = this.#standings.of(target);
      const refusal = this.#screen.judgeNamed(target, standing);
      if (refusal) this.excluded.push(refusal);
      else found.push(this.#prospect({ target, standing, outputTokens }));
    }
    return found;
  }

  /** Of many, by a shortlist; undefined when that leaves too few, or all are wanted. */
  #chooseQuickly(targets: readonly Target[], { kind, outputTokens }: Task): Prospect[] | undefined {
    const { strategy, isComplete } = this.#question;
    // How fast somebody is stands in no list that could be made before.
    if (isComplete || strategy === 'performance' || targets.length < manyTargets) return undefined;
    const { inputTokens } = this;
    const options = { screen: this.#screen, wish: this.#wish(kind), strategy, inputTokens };
    const found: Prospect[] = [];
    for (const target of shortlist(targets, { ...options, outputTokens })) {
      const standing = this.#standings.of(target);
      if (standing.closedBecause !== undefined) continue;
      found.push(this.#prospect({ target, standing, outputTokens }));
    }
    return found.length >= fewCandidates ? found : undefined;
  }

  #wish(kind: TaskKind): TaskWish {
    const isHeld = this.#question.strategy !== 'quality';
    return { kind, floor: isHeld ? floorOf(kind, this.#screen.needs) : undefined };
  }

  #choose(targets: readonly Target[], { kind, outputTokens }: Task): Prospect[] {
    const found: Prospect[] = [];
    const spare: { readonly refusal: Refusal; readonly prospect: Prospect }[] = [];
    const wish = this.#wish(kind);
    for (const target of targets) {
      const standing = this.#standings.of(target);
      const refusal = this.#screen.judgeChosen(target, standing, wish);
      if (!refusal) {
        found.push(this.#prospect({ target, standing, outputTokens }));
      } else if (refusal.weight === 'soft') {
        const facts = { target, standing, outputTokens, drawback: refusal.reason };
        spare.push({ refusal, prospect: this.#prospect(facts) });
      } else {
        this.excluded.push(refusal);
      }
    }
    if (found.length === 0) return spare.map(({ prospect }) => prospect);
    for (const { refusal } of spare) this.excluded.push(refusal);
    return found;
  }

  #prospect(
    facts: Omit<Prospect['facts'], 'strategy' | 'estimatedCost' | 'expectedMs'> & {
      readonly outputTokens: number;
    },
  ): Prospect {
    const { target, standing, drawback, outputTokens } = facts;
    const { strategy } = this.#question;
    const usage = { inputTokens: this.inputTokens, outputTokens };
    const estimatedCost = priceOf(usage, target.model.prices);
    return new Prospect({ target, standing, strategy, estimatedCost, expectedMs: 0, drawback });
  }
}

function isAutomaticModel(model: string): boolean {
  return model === automaticModel || model === '';
}

function modelNotFound(model: string): Fault {
  const message = isAutomaticModel(model)
    ? 'no provider has a model that chats'
    : `there is no model ${model}`;
  return new Fault('not_found', message, { reason: 'model_not_found', detail: { param: 'model' } });
}

function unavailable(waits: readonly Refusal[]): Fault {
  const soonest = waits.reduce((first, one) => (one.waitMs < first.waitMs ? one : first));
  const { provider, model } = soonest.target;
  const message = `nobody can answer now: of ${provider.name}/${model.name}, ${soonest.reason}`;
  const retryAfter = Math.max(1, Math.ceil(soonest.waitMs / 1000));
  if (waits.every(({ rule }) => rule === 'rate-limit')) {
    return new Fault('exhausted', message, { reason: 'provider_rate_limited', retryAfter });
  }
  return new Fault('unavailable', message, { reason: 'provider_unavailable', retryAfter });
}
