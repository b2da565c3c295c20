import type { AuditEvent } from './audit-event.ts';

interface Tally {
  /** The last one. */
  event: AuditEvent;
  /** How many came since one was last told of. */
  count: number;
}

const windowMs = 60_000;
const causesMax = 10_000;

/**
 * Events that anybody can cause for nothing and without end: of each kind and cause the first is told
 * of at once, and those that follow once a minute, as one that says in `count` how many there were.
 */
export class Tallies implements Disposable {
  readonly #tell: (event: AuditEvent) => void;
  readonly #tallies = new Map<string, Tally>();
  readonly #timer: NodeJS.Timeout;

  constructor(tell: (event: AuditEvent) => void) {
    this.#tell = tell;
    this.#timer = setInterval(() => this.#tellAll(), windowMs).unref();
  }

  /** Counts an event; beyond 10,000 causes in a minute the rest have one in common. */
  add(event: AuditEvent, cause: string): void {
    const own = `${event.eventType} ${cause}`;
    const isRoom = this.#tallies.has(own) || this.#tallies.size < causesMax;
    const key = isRoom ? own : event.eventType;
    const tally = this.#tallies.get(key);
    if (tally) {
      tally.count += 1;
      tally.event = event;
      return;
    }
    this.#tallies.set(key, { event, count: 0 });
    this.#tell(withCount(event, 1));
  }

  /** Tells of what has not been told of. */
  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#tellAll();
  }

  #tellAll(): void {
    for (const [key, tally] of this.#tallies) {
      if (tally.count === 0) this.#tallies.delete(key);
      else this.#tell(withCount(tally.event, tally.count));
      tally.count = 0;
    }
  }
}

function withCount(event: AuditEvent, count: number): AuditEvent {
  return { ...event, facts: { ...event.facts, count } };
}
