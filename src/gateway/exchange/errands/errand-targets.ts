import { Fault } from '../../../kit/errors.ts';
import { priceOf } from '../../../kit/prices/pricing.ts';
import { targetId, type ProviderList, type Target } from '../../providers/provider.ts';
import type { Candidate } from '../../routing/plan.ts';
import { automaticModel } from '../../routing/router.ts';
import type { Errand, ErrandRequest } from './errand.ts';
import type { Dialects } from '../outgoing.ts';

/** Who can run errands of one kind. */
export class ErrandTargets<Request extends ErrandRequest, Made> {
  readonly #errand: Errand<Request, Made>;
  readonly #dialects: Dialects;
  readonly #providers: ProviderList;

  constructor(errand: Errand<Request, Made>, dialects: Dialects, providers: ProviderList) {
    this.#errand = errand;
    this.#dialects = dialects;
    this.#providers = providers;
  }

  /**
   * Those who can, in the order in which they are asked: by priority, then the cheapest, those whose
   * price nobody knows last. Throws `not_found` (`model_not_found`), or `invalid` with the field that
   * nobody can do.
   */
  candidates(request: Request): readonly Candidate[] {
    const isNamed = request.model !== automaticModel;
    const targets = isNamed ? this.#providers.targetsOf(request.model) : this.#choosable();
    const able = targets.filter((target) => this.#objection(request, target) === undefined);
    const [first] = targets;
    if (!first) throw this.#missing(request.model, isNamed);
    if (able.length === 0) throw this.#unable(first, this.#objection(request, first) ?? 'model');
    const usage = this.#errand.likely(request);
    return able
      .map((target) => ({
        target,
        estimatedCost: priceOf(usage, target.model.prices),
        reasons: [],
      }))
      .toSorted(compare);
  }

  #choosable(): readonly Target[] {
    const { capability } = this.#errand;
    return this.#providers
      .all()
      .flatMap((provider) =>
        [...provider.models.values()]
          .filter(({ capabilities }) => capabilities.has(capability))
          .map((model) => ({ provider, model })),
      );
  }

  /** The field that a target cannot do. */
  #objection(request: Request, { provider, model }: Target): string | undefined {
    const { capabilities, areCapabilitiesAssumed } = model;
    // A model that nobody knows may well do more: who names it gets the provider's own word.
    const isAble = capabilities.has(this.#errand.capability) || areCapabilitiesAssumed;
    const words = isAble && this.#errand.wordsOf(this.#dialects[provider.dialect]);
    return words ? words.unsupported(request, model.name) : 'model';
  }

  #missing(model: string, isNamed: boolean): Fault {
    const { made } = this.#errand;
    const what = isNamed ? `there is no model ${model}` : `no provider has a model for ${made}`;
    return new Fault('not_found', what, { reason: 'model_not_found', detail: { param: 'model' } });
  }

  #unable(target: Target, param: string): Fault {
    const isModel = param === 'model';
    const what = isModel ? `makes no ${this.#errand.made}` : `has no word for ${param}`;
    return new Fault('invalid', `${targetId(target)} ${what}`, {
      reason: isModel ? 'unsupported_capability' : 'unsupported_parameter',
      detail: { param },
    });
  }
}

function compare(one: Candidate, other: Candidate): number {
  const [a, b] = [one.target, other.target];
  return (
    a.provider.priority - b.provider.priority ||
    Number(a.model.isPriceUnknown ?? false) - Number(b.model.isPriceUnknown ?? false) ||
    one.estimatedCost - other.estimatedCost
  );
}
