import type { TaskKind } from './plan.ts';

/** What a kind of task asks of a model. */
export interface TaskDemand {
  /**
   * The least quality that automatic routing takes while anybody has it. Chat and summaries are
   * judged by their reader at once, so that the cheapest may try; code that is wrong costs more than
   * what a small model saves, so that the smallest models (below 0.3: one to four billion
   * parameters) are left out.
   */
  readonly qualityFloor: number;
  /** Tokens that such an answer has, where the request sets no lower limit; for estimates of cost. */
  readonly typicalOutput: number;
}

export const taskDemands: Readonly<Record<TaskKind, TaskDemand>> = {
  chat: { qualityFloor: 0, typicalOutput: 400 },
  code: { qualityFloor: 0.3, typicalOutput: 900 },
  summarization: { qualityFloor: 0, typicalOutput: 300 },
};
