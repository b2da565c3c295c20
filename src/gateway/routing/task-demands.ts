import type { Capability } from '../providers/provider.ts';
import type { Need } from './demand.ts';
import type { TaskKind } from './plan.ts';

/** What a kind of task asks of a model. */
export interface TaskDemand {
  /** The least quality that automatic routing takes while anybody who has it answers. */
  readonly qualityFloor: number;
  /** Tokens that such an answer has, where the request sets no lower limit; for estimates of cost. */
  readonly typicalOutput: number;
}

/** The least quality of a model, and what wants it. */
export interface QualityFloor {
  readonly quality: number;
  readonly purpose: string;
}

/** Who reads the answer judges it at once, but models for a first try (0.05) know too little to talk. */
const readFloor = 0.2;
/**
 * What a program works with, and code, costs more when it is wrong than a small model saves: the
 * smallest (below 0.3: one to four billion parameters) are left out.
 */
const usedFloor = 0.3;

export const taskDemands: Readonly<Record<TaskKind, TaskDemand>> = {
  chat: { qualityFloor: readFloor, typicalOutput: 400 },
  code: { qualityFloor: usedFloor, typicalOutput: 900 },
  summarization: { qualityFloor: readFloor, typicalOutput: 300 },
};

const needFloors: Readonly<Partial<Record<Capability, number>>> = {
  tools: usedFloor,
  json: usedFloor,
};

/** The highest floor of all that a request is about and cannot do without. */
export function floorOf(kind: TaskKind, needs: readonly Need[]): QualityFloor {
  let floor: QualityFloor = { quality: taskDemands[kind].qualityFloor, purpose: kind };
  for (const { capability } of needs) {
    const quality = needFloors[capability] ?? 0;
    if (quality > floor.quality) floor = { quality, purpose: capability };
  }
  return floor;
}
