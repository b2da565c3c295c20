import type { Connection } from '../connections/connection.ts';
import { capabilityNames } from '../connections/capability-names.ts';
import type { Meter } from '../traffic/meter.ts';
import { hashOf } from './hash.ts';
import type { Reason } from './strategy.ts';
import { summaryHead, type SummaryHead } from './summary-head.ts';

/** Requests that a connection takes at once, unless its metadata say `capacity`. */
export const capacityDefault = 16;

const capacityMax = 1_000_000;
const weightMin = 0.01;
const weightMax = 100;
/** How long a new connection gets less than its share. */
const slowStartMs = 30_000;
const slowStartShareMin = 0.1;

/** A connection among which one is chosen; it stays while the connection changes. */
export class Candidate {
  // What each draw and each answer reads stands first, in one line of the processor's cache.
  /** Requests that run, here and at other replicas. */
  active: number;
  /** What discovery told of it last; empty when that is true no more. */
  toldText = '';
  toldFor: Reason = 'none';
  /** Until when the text is true, milliseconds since the epoch. */
  toldUntilMs = 0;
  readonly id: string;
  readonly hash: number;
  readonly meter: Meter;
  /** 0 while it is no outlier. */
  ejectedUntilMs = 0;
  ejectionReason = '';
  #connection: Connection;
  #names: ReadonlySet<string>;
  #capacity: number;
  #weight: number;
  #head: SummaryHead | undefined;
  /** When it began; held here as each draw asks for it. */
  #createdAtMs: number;

  constructor(connection: Connection, meter: Meter) {
    this.active = meter.active;
    this.id = connection.id;
    this.hash = hashOf(connection.id);
    this.meter = meter;
    meter.watch(() => {
      this.active = meter.active;
      this.toldText = '';
    });
    this.#connection = connection;
    this.#createdAtMs = connection.createdAtMs;
    this.#names = new Set(capabilityNames(connection));
    this.#capacity = capacityOf(connection);
    this.#weight = weightOf(connection);
  }

  get connection(): Connection {
    return this.#connection;
  }

  /** What it declares and offers. */
  get names(): ReadonlySet<string> {
    return this.#names;
  }

  get capacity(): number {
    return this.#capacity;
  }

  get weight(): number {
    return this.#weight;
  }

  /** Active requests over capacity, 0..1. */
  get load(): number {
    return Math.min(1, this.active / this.#capacity);
  }

  /** What a summary of it begins with, written once for every change. */
  get head(): SummaryHead {
    this.#head ??= summaryHead(this.#connection, [...this.#names]);
    return this.#head;
  }

  /** Takes the connection over as it is now; true when its capabilities are others. */
  change(connection: Connection): boolean {
    const { declared, offer } = this.#connection;
    const isSame = connection.declared === declared && connection.offer === offer;
    this.#connection = connection;
    this.#createdAtMs = connection.createdAtMs;
    this.#head = undefined;
    this.toldText = '';
    this.#capacity = capacityOf(connection);
    this.#weight = weightOf(connection);
    if (!isSame) this.#names = new Set(capabilityNames(connection));
    return !isSame;
  }

  /** When it gets all of its share, milliseconds since the epoch. */
  get grownAtMs(): number {
    return this.#createdAtMs + slowStartMs;
  }

  /** How much of its share it gets by now, above 0 to 1. */
  slowStartShare(nowMs: number): number {
    const ageMs = nowMs - this.#createdAtMs;
    if (ageMs >= slowStartMs) return 1;
    return Math.max(slowStartShareMin, ageMs / slowStartMs);
  }

  weightAt(nowMs: number): number {
    return this.#weight * this.slowStartShare(nowMs);
  }
}

function capacityOf({ metadata }: Connection): number {
  const { capacity } = metadata;
  if (typeof capacity !== 'number' || !(capacity >= 1)) return capacityDefault;
  return Math.min(Math.floor(capacity), capacityMax);
}

function weightOf({ metadata }: Connection): number {
  const { weight } = metadata;
  if (typeof weight !== 'number' || Number.isNaN(weight)) return 1;
  return Math.min(Math.max(weight, weightMin), weightMax);
}
