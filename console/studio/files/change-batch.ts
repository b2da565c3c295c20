import type { WorkspaceEvent } from './workspace-stream.ts';

/** Long enough for a thousand changes to be drawn once, too short to be noticed. */
const restMs = 50;

/** Gathers changes that come in a row, as each costs a copy of the list of files. */
export class ChangeBatch {
  readonly #take: (events: readonly WorkspaceEvent[]) => void;
  #events: WorkspaceEvent[] = [];

  constructor(take: (events: readonly WorkspaceEvent[]) => void) {
    this.#take = take;
  }

  add(event: WorkspaceEvent): void {
    if (this.#events.length === 0) setTimeout(() => this.flush(), restMs);
    this.#events.push(event);
  }

  /** Hands over what there is, at once. */
  flush(): void {
    const events = this.#events;
    this.#events = [];
    if (events.length > 0) this.#take(events);
  }
}
