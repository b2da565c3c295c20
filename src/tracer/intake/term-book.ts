import type { SpanHead } from '../trace/span.ts';
import { agentTerm, operationTerm, serviceTerm } from '../trace/terms.ts';

const rememberedMax = 50_000;

/** Finds the terms of spans; names repeat endlessly, so those of each set of names are made once. */
export class TermBook {
  readonly #known = new Map<string, Map<string, Map<string, readonly number[]>>>();
  #count = 0;

  of({ service, name, agent }: SpanHead): readonly number[] {
    const known = this.#known.get(service)?.get(name)?.get(agent);
    if (known) return known;
    if (this.#count >= rememberedMax) {
      this.#known.clear();
      this.#count = 0;
    }
    this.#count += 1;
    const terms = [agentTerm(agent), serviceTerm(service), operationTerm(service, name)];
    const ofService = this.#known.get(service) ?? new Map<string, Map<string, readonly number[]>>();
    this.#known.set(service, ofService);
    const ofName = ofService.get(name) ?? new Map<string, readonly number[]>();
    ofService.set(name, ofName);
    ofName.set(agent, terms);
    return terms;
  }
}
