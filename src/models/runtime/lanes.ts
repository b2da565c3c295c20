import { Fault } from '../../kit/errors.ts';
import type { Job } from './job.ts';
import type { ModelFile } from './model-file.ts';
import type { LoadedModel, ModelKey } from './protocol.ts';

/** What the child holds, or is loading, for one model. */
export interface Lane {
  readonly file: ModelFile;
  /** Requests in the child. */
  active: number;
  readonly activeBySubject: Map<string, number>;
  loaded: LoadedModel | undefined;
  /** Set once somebody wants the model out: it takes no more requests and goes when it is idle. */
  isLeaving: boolean;
  /** How long it stays after its last request, as last asked for; undefined leaves it to the runtime. */
  keepAliveMs: number | undefined;
  /** Until when it stays after its last request; undefined for ever, or while it has one. */
  expiresAt: Date | undefined;
  /** Runs while the lane has no request. */
  idleTimer: NodeJS.Timeout | undefined;
}

export interface LanesOptions {
  readonly parallel: number;
  readonly memoryBytes: number;
}

/** The models in the child, within their memory. */
export class Lanes {
  readonly #options: LanesOptions;
  /** The longest unused lane comes first. */
  readonly #lanes = new Map<ModelKey, Lane>();

  constructor(options: LanesOptions) {
    this.#options = options;
  }

  get all(): readonly Lane[] {
    return [...this.#lanes.values()];
  }

  find(key: ModelKey): Lane | undefined {
    return this.#lanes.get(key);
  }

  /** Fault `invalid` when the model is larger than all memory that models may take. */
  checkFits({ memoryBytes: neededBytes }: ModelFile): void {
    const { memoryBytes: budgetBytes } = this.#options;
    if (neededBytes <= budgetBytes) return;
    const needed = `${toMebibytes(neededBytes)} MiB`;
    const figures = `${needed} of the ${toMebibytes(budgetBytes)} MiB that models may take`;
    throw new Fault('invalid', `the model can never be loaded: it needs about ${figures}`, {
      reason: 'insufficient_memory',
      detail: { neededBytes, budgetBytes },
    });
  }

  canStart(file: ModelFile): boolean {
    const lane = this.#lanes.get(file.key);
    if (lane) return !lane.isLeaving && lane.active < this.#options.parallel;
    return this.#findRoom(file) !== undefined;
  }

  activeOf({ file, subject }: Job): number {
    return this.#lanes.get(file.key)?.activeBySubject.get(subject) ?? 0;
  }

  /** Counts a job that can start; answers the models that have to leave for it, closed already. */
  admit({ file, subject }: Job): readonly Lane[] {
    const known = this.#lanes.get(file.key);
    const evicted = known ? [] : (this.#findRoom(file) ?? []);
    for (const lane of evicted) this.close(lane);
    const lane = known ?? newLane(file);
    lane.active++;
    lane.activeBySubject.set(subject, (lane.activeBySubject.get(subject) ?? 0) + 1);
    lane.expiresAt = undefined;
    clearTimeout(lane.idleTimer);
    this.#lanes.delete(file.key);
    this.#lanes.set(file.key, lane);
    return evicted;
  }

  release({ file, subject, keepAliveMs }: Job): Lane | undefined {
    const lane = this.#lanes.get(file.key);
    if (!lane) return undefined;
    lane.active--;
    lane.keepAliveMs = keepAliveMs ?? lane.keepAliveMs;
    const left = (lane.activeBySubject.get(subject) ?? 1) - 1;
    if (left > 0) lane.activeBySubject.set(subject, left);
    else lane.activeBySubject.delete(subject);
    return lane;
  }

  close(lane: Lane): void {
    clearTimeout(lane.idleTimer);
    if (this.#lanes.get(lane.file.key) === lane) this.#lanes.delete(lane.file.key);
  }

  /** The fewest idle models, longest unused first, whose memory the file needs. */
  #findRoom({ memoryBytes }: ModelFile): Lane[] | undefined {
    const lanes = this.all;
    const used = lanes.reduce((sum, { file }) => sum + file.memoryBytes, 0);
    let missing = used + memoryBytes - this.#options.memoryBytes;
    const evicted: Lane[] = [];
    for (const lane of lanes) {
      if (missing <= 0) break;
      if (lane.active > 0) continue;
      evicted.push(lane);
      missing -= lane.file.memoryBytes;
    }
    return missing <= 0 ? evicted : undefined;
  }
}

function newLane(file: ModelFile): Lane {
  return {
    file,
    active: 0,
    activeBySubject: new Map(),
    loaded: undefined,
    isLeaving: false,
    keepAliveMs: undefined,
    expiresAt: undefined,
    idleTimer: undefined,
  };
}

function toMebibytes(bytes: number): number {
  return Math.ceil(bytes / 2 ** 20);
}
