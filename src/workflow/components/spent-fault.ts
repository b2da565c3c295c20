import { Fault, type Code, type FaultOptions } from '../../kit/errors.ts';
import type { Usage } from './component.ts';

/** A failure of a node that cost something all the same: it counts in the budget of the execution. */
export class SpentFault extends Fault {
  readonly usage: Usage;

  constructor(code: Code, message: string, options: FaultOptions & { readonly usage: Usage }) {
    super(code, message, options);
    this.usage = options.usage;
  }
}

/** What several attempts used together; the model is that of the last which names one. */
export function sumUsage(...parts: readonly (Usage | undefined)[]): Usage | undefined {
  const known = parts.filter((part) => part !== undefined);
  const [first, ...others] = known;
  return others.reduce<Usage | undefined>((sum, next) => sum && addUsage(sum, next), first);
}

function addUsage(sum: Usage, next: Usage): Usage {
  return {
    ...sum,
    ...next,
    promptTokens: sum.promptTokens + next.promptTokens,
    completionTokens: sum.completionTokens + next.completionTokens,
    cost: sum.cost + next.cost,
  };
}
