import type { ChatRequest } from '../conversation/request.ts';
import type { Candidate, Exclusion, Plan, Strategy, TaskKind } from './plan.ts';
import { findTaskKind, type TaskFinding } from './task-kind.ts';

export interface PlanParts {
  readonly request: ChatRequest;
  readonly strategy: Strategy;
  readonly candidates: readonly Candidate[];
  readonly excluded: readonly Exclusion[];
  readonly inputTokens: number;
}

/** A plan that finds out what the request is about when somebody asks. */
export class RoutedPlan implements Plan {
  readonly strategy: Strategy;
  readonly inputTokens: number;
  readonly candidates: readonly Candidate[];
  readonly excluded: readonly Exclusion[];
  readonly #request: ChatRequest;
  #task: TaskFinding | undefined;

  constructor({ request, strategy, candidates, excluded, inputTokens }: PlanParts) {
    this.strategy = strategy;
    this.inputTokens = inputTokens;
    this.candidates = candidates;
    this.excluded = excluded;
    this.#request = request;
  }

  get taskKind(): TaskKind {
    return this.#find().kind;
  }

  get taskRule(): string {
    return this.#find().rule;
  }

  #find(): TaskFinding {
    this.#task ??= findTaskKind(this.#request);
    return this.#task;
  }
}
