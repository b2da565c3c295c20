import type { ChatRequest } from '../conversation/request.ts';
import type { Candidate, Exclusion, Plan, Strategy, TaskKind } from './plan.ts';
import { findTaskKind, type TaskFinding } from './task-kind.ts';

export interface PlanParts {
  readonly request: ChatRequest;
  readonly strategy: Strategy;
  readonly candidates: readonly Candidate[];
  readonly excluded: readonly Exclusion[];
  readonly inputTokens: number;
  readonly lastResorts: () => readonly Candidate[];
}

/** A plan that finds out what the request is about when somebody asks. */
export class RoutedPlan implements Plan {
  readonly strategy: Strategy;
  readonly inputTokens: number;
  readonly candidates: readonly Candidate[];
  readonly excluded: readonly Exclusion[];
  readonly lastResorts: () => readonly Candidate[];
  readonly #request: ChatRequest;
  #task: TaskFinding | undefined;

  constructor(parts: PlanParts) {
    this.strategy = parts.strategy;
    this.inputTokens = parts.inputTokens;
    this.candidates = parts.candidates;
    this.excluded = parts.excluded;
    this.lastResorts = parts.lastResorts;
    this.#request = parts.request;
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
