import { Fault } from '../../../kit/errors.ts';
import type { Rest, Usage } from '../../components/component.ts';
import type { Plan } from '../../flow/plan.ts';
import type { StoredExecution } from '../journal/execution-row.ts';
import type { History } from './recovery.ts';

/** Bytes of JSON, counted as UTF-16 units. */
const outputMax = 8 * 1024 * 1024;
const outputsMax = 32 * 1024 * 1024;

/** What an execution may still use. */
export class RunLimits {
  readonly #tokensMax: number;
  readonly #costMax: number;
  #tokens = 0;
  #cost = 0;
  readonly #nodeRunsMax: number;
  #outputBytes: number;
  #nodeRuns: number;

  constructor(
    { stored, plan, history }: { stored: StoredExecution; plan: Plan; history: History },
    nodeRunsMax: number,
  ) {
    ({ tokensMax: this.#tokensMax, costMax: this.#costMax } = budgetOf(stored, plan));
    this.#nodeRunsMax = nodeRunsMax;
    this.#outputBytes = history.outputBytes;
    this.#nodeRuns = history.entries.size;
    for (const { body } of history.entries.values()) {
      // What a re-run took over was used by another execution.
      if (body.usage && body.startedAtMs >= stored.startedAtMs) this.use(body.usage);
    }
    for (const { usage } of history.underway.values()) if (usage) this.use(usage);
    // What nodes used that failed is not in the journal any more.
    this.#tokens = Math.max(this.#tokens, stored.tokensUsed);
    this.#cost = Math.max(this.#cost, stored.cost);
  }

  get tokens(): number {
    return this.#tokens;
  }

  get cost(): number {
    return this.#cost;
  }

  use({ promptTokens, completionTokens, cost }: Usage): void {
    this.#tokens += promptTokens + completionTokens;
    this.#cost += cost;
  }

  /** What is left of the budget. */
  get rest(): Rest {
    return restOf(this.#tokensMax - this.#tokens, this.#costMax - this.#cost);
  }

  /** Whether no more was used than the budget has. */
  get isWithinBudget(): boolean {
    return this.#tokens <= this.#tokensMax && this.#cost <= this.#costMax;
  }

  /** Throws `invalid` (`budget_exceeded`) when more was used than the budget has. */
  checkBudget(): void {
    if (this.#tokens > this.#tokensMax) throw budgetFault(`${this.#tokensMax} tokens`);
    if (this.#cost > this.#costMax) throw budgetFault(`${this.#costMax} US dollars`);
  }

  /**
   * Counts a node that begins or is skipped, in each round of a loop anew; throws `too_large`
   * (`too_many_node_runs`) for one more than an execution may have.
   */
  countNode(): void {
    this.#nodeRuns += 1;
    if (this.#nodeRuns <= this.#nodeRunsMax) return;
    const message = `an execution runs at most ${this.#nodeRunsMax} nodes, each round of a loop counted`;
    throw tooLarge(message, 'too_many_node_runs');
  }

  /** Throws `too_large` for an output that the journal does not take. */
  checkOutput(output: string): void {
    if (output.length > outputMax) {
      throw tooLarge('the output of a node has at most 8 MiB', 'output_too_large');
    }
    this.#outputBytes += output.length;
    if (this.#outputBytes > outputsMax) {
      throw tooLarge('the outputs of an execution have at most 32 MiB', 'outputs_too_large');
    }
  }
}

/** Throws `conflict` (`budget_exceeded`) when an execution has used more than its budget has. */
export function requireBudget(
  stored: Pick<StoredExecution, 'request' | 'tokensUsed' | 'cost'>,
  plan: Plan,
): void {
  const { tokensMax, costMax } = budgetOf(stored, plan);
  if (stored.tokensUsed <= tokensMax && stored.cost <= costMax) return;
  const message = `the execution used ${stored.tokensUsed} tokens and ${stored.cost} US dollars, more than its budget: resume it with larger \`maxTokens\` or \`maxCost\`, within the settings of the flow`;
  throw new Fault('conflict', message, { reason: 'budget_exceeded' });
}

/** What is left of the budget of an execution that does not run. */
export function restOfBudget(
  stored: Pick<StoredExecution, 'request' | 'tokensUsed' | 'cost'>,
  plan: Plan,
): Omit<Rest, 'timeoutMs'> {
  const { tokensMax, costMax } = budgetOf(stored, plan);
  return restOf(tokensMax - stored.tokensUsed, costMax - stored.cost);
}

function restOf(tokens: number, cost: number): Omit<Rest, 'timeoutMs'> {
  return {
    ...(Number.isFinite(tokens) ? { maxTokens: Math.max(0, tokens) } : {}),
    ...(Number.isFinite(cost) ? { maxCost: Math.max(0, cost) } : {}),
  };
}

function budgetOf({ request }: Pick<StoredExecution, 'request'>, { flow }: Plan) {
  const { maxTokens, maxCost } = flow.settings ?? {};
  return {
    tokensMax: least(maxTokens, request.maxTokens),
    costMax: least(maxCost, request.maxCost),
  };
}

function least(...limits: readonly (number | undefined)[]): number {
  return Math.min(...limits.map((limit) => limit ?? Number.POSITIVE_INFINITY));
}

function budgetFault(what: string): Fault {
  // Nothing that time mends.
  return new Fault('invalid', `the budget of ${what} is used up`, { reason: 'budget_exceeded' });
}

function tooLarge(message: string, reason: string): Fault {
  return new Fault('too_large', message, { reason });
}
