import type { Standing } from '../measure/standing.ts';
import type { Target } from '../providers/provider.ts';
import type { Candidate, Strategy } from './plan.ts';

/** What a plan looks at for each target that may be asked. */
export interface ProspectFacts {
  readonly target: Target;
  readonly standing: Standing;
  readonly strategy: Strategy;
  readonly estimatedCost: number;
  /** Milliseconds that the answer is thought to take; 0 where the strategy does not ask. */
  expectedMs: number;
  /** Why it would not be asked if there were a better one. */
  readonly drawback?: string | undefined;
}

/** A candidate whose reasons are written when somebody reads them. */
export class Prospect implements Candidate {
  readonly facts: ProspectFacts;

  constructor(facts: ProspectFacts) {
    this.facts = facts;
  }

  get target(): Target {
    return this.facts.target;
  }

  get estimatedCost(): number {
    return this.facts.estimatedCost;
  }

  get reasons(): readonly string[] {
    const { target, standing, drawback } = this.facts;
    const { provider, model } = target;
    const { inFlight, availability } = standing;
    const load = inFlight === 1 ? '1 request is' : `${inFlight} requests are`;
    return [
      ...(drawback === undefined ? [] : [`${drawback}, and nobody better may be asked`]),
      this.#mainReason(),
      ...(provider.priority === 0 ? [] : [`its provider has priority ${provider.priority}`]),
      ...(inFlight === 0 ? [] : [`${load} on the way to it`]),
      ...(availability === 1 ? [] : [`${percent(availability)} of its recent requests went well`]),
      ...(model.areCapabilitiesAssumed ? ['what it can do is only assumed'] : []),
    ];
  }

  #mainReason(): string {
    const { target, standing, strategy, estimatedCost, expectedMs } = this.facts;
    if (strategy === 'quality') return `its quality is ${target.model.quality}`;
    if (strategy === 'performance') {
      const isMeasured = standing.firstTokenMs !== undefined || standing.latencyMs !== undefined;
      const basis = isMeasured ? '' : ', though it was not measured yet';
      return `an answer is expected in ${Math.round(expectedMs)} ms${basis}`;
    }
    if (target.model.isPriceUnknown) return 'its price is not known';
    if (estimatedCost === 0) return 'it costs nothing';
    return `an answer is expected to cost ${estimatedCost.toPrecision(3)} dollars`;
  }
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
