import { roundResult, roundsOf } from './walk-edges.ts';
import { Frame, type FrameOptions, type Step } from './walk-frame.ts';

export interface WalkLoopsParts {
  readonly frames: FrameOptions;
  readonly settingsOf: (loop: Step) => Readonly<Record<string, unknown>>;
  readonly onOpened: (loop: Step) => void;
  readonly enter: (frame: Frame) => void;
  readonly close: (loop: Step, output: unknown) => void;
  /** Has the Loop fail by what the flow's author wrote. */
  readonly guard: (loop: Step, work: () => void) => void;
}

/** The rounds of the Loops of one walk. */
export class WalkLoops {
  readonly #parts: WalkLoopsParts;

  constructor(parts: WalkLoopsParts) {
    this.#parts = parts;
  }

  /** Throws `invalid` when its items are none. */
  open(loop: Step): void {
    const { settingsOf, onOpened, frames: options } = this.#parts;
    const { items, atOnce } = roundsOf(settingsOf(loop));
    const frames = new Set<Frame>();
    loop.rounds = { items, concurrency: atOnce, results: [], frames, nextIndex: 0, endedCount: 0 };
    loop.state = 'active';
    onOpened(loop);
    // A Loop that nothing leads back to has no body.
    if (!options.shapes.has(loop.nodeId)) loop.rounds.results.push(...items.map(() => null));
    if (loop.rounds.results.length === items.length) this.#close(loop);
    else for (let round = 0; round < atOnce; round += 1) this.#openRound(loop);
  }

  /** Of a round whose nodes have ended. */
  endRound(frame: Frame): void {
    const { loop, index } = frame.round ?? {};
    const rounds = loop?.rounds;
    if (!loop || !rounds || index === undefined) return;
    this.#parts.guard(loop, () => {
      rounds.results[index] = roundResult(loop, frame);
    });
    rounds.frames.delete(frame);
    rounds.endedCount += 1;
    if (rounds.endedCount === rounds.items.length) this.#close(loop);
    else this.#openRound(loop);
  }

  #openRound(loop: Step): void {
    const { rounds } = loop;
    if (!rounds || rounds.nextIndex >= rounds.items.length) return;
    const index = rounds.nextIndex;
    rounds.nextIndex += 1;
    const frame = new Frame(this.#parts.frames, { loop, index });
    rounds.frames.add(frame);
    this.#parts.enter(frame);
  }

  #close(loop: Step): void {
    const results = loop.rounds?.results ?? [];
    loop.rounds = undefined;
    this.#parts.close(loop, { results, count: results.length });
  }
}
