import type { Bus } from '../../kit/bus/bus.ts';
import type { Log } from '../../kit/log.ts';
import { ReplicaTopic } from '../replica-topic.ts';
import type { LiveTurn } from './live-turn.ts';
import type { Turn } from './turn.ts';
import type { LogEntry } from './turn-log.ts';

/** What happened in a turn on one replica, as the others hear of it. */
export interface TurnTold {
  readonly turn: Turn;
  readonly entries: readonly LogEntry[];
}

type News =
  | { readonly kind: 'events'; readonly replica: string; readonly turns: readonly TurnTold[] }
  | { readonly kind: 'stop'; readonly replica: string; readonly turnId: string };

export interface TurnNewsOptions {
  readonly bus: Bus;
  readonly log: Log;
  readonly replica: string;
  /** How long tokens wait for company. */
  readonly delayMs: number;
  readonly onEvents: (told: TurnTold) => void;
  readonly onStop: (turnId: string) => void;
  readonly onMissed: () => void;
}

/** Below what an event of the bus holds, whatever its characters weigh: in JSON six bytes at most. */
const charsMax = 80 * 1024;
const piecesMax = 4;

/** The replicas' common topic. What is lost on it is found in the database, only later. */
export class TurnNews implements AsyncDisposable {
  readonly #options: TurnNewsOptions;
  readonly #topic: ReplicaTopic<News>;
  readonly #dirty = new Set<LiveTurn>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: TurnNewsOptions) {
    this.#options = options;
    this.#topic = new ReplicaTopic<News>({
      ...options,
      name: 'chat.turns',
      // Nobody replays it: what was missed is in the database.
      retention: { retainCount: 50, retainSeconds: 10 },
      what: 'events of chat',
      onHeard: (news) => this.#hear(news),
    });
  }

  open(): Promise<void> {
    return this.#topic.open();
  }

  /** Something new is in the turn's log; others hear of it soon. */
  note(live: LiveTurn): void {
    this.#dirty.add(live);
    this.#timer ??= setTimeout(this.#tellAll, this.#options.delayMs);
  }

  /** Tells at once what happened in a turn that does not run. */
  tell(told: TurnTold): void {
    this.#publish([told]);
  }

  stop(turnId: string): void {
    this.#topic.tell({ kind: 'stop', replica: this.#options.replica, turnId });
  }

  /** Resolves when what was noted is on its way. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#tellAll();
    await this.#topic[Symbol.asyncDispose]();
  }

  readonly #tellAll = (): void => {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    let batch: TurnTold[] = [];
    let chars = 0;
    for (const live of this.#dirty) {
      const entries = live.feed.log.entriesSince(live.toldSeq);
      live.toldSeq = live.feed.log.lastSeq;
      for (const part of partsOf(entries)) {
        if (chars + part.chars > charsMax && batch.length > 0) {
          this.#publish(batch);
          batch = [];
          chars = 0;
        }
        batch.push({ turn: live.turn, entries: part.entries });
        chars += part.chars;
      }
    }
    this.#dirty.clear();
    if (batch.length > 0) this.#publish(batch);
  };

  #publish(turns: readonly TurnTold[]): void {
    this.#topic.tell({ kind: 'events', replica: this.#options.replica, turns });
  }

  #hear(news: News): void {
    const { onEvents, onStop } = this.#options;
    if (news.kind === 'stop') onStop(news.turnId);
    else for (const told of news.turns) onEvents(told);
  }
}

interface Part {
  readonly entries: readonly LogEntry[];
  readonly chars: number;
}

/** Each has room in an event of the bus; only what cannot be cut, the call of a tool, may have none. */
function partsOf(entries: readonly LogEntry[]): Part[] {
  const parts: Part[] = [];
  let last: { entries: LogEntry[]; chars: number } | undefined;
  for (const entry of entries.flatMap(cut)) {
    const chars = charsOf(entry);
    if (!last || last.chars + chars > charsMax) {
      last = { entries: [], chars: 0 };
      parts.push(last);
    }
    last.entries.push(entry);
    last.chars += chars;
  }
  return parts;
}

/** A run with too much text becomes several. */
function cut(entry: LogEntry): LogEntry[] {
  if (!('pieces' in entry) || charsOf(entry) <= charsMax) return [entry];
  const { type, seq, pieces } = entry;
  const runs: LogEntry[] = [];
  for (let at = 0; at < pieces.length; at += piecesMax) {
    runs.push({ type, seq: seq + at, pieces: pieces.slice(at, at + piecesMax) });
  }
  return runs;
}

function charsOf(entry: LogEntry): number {
  if ('pieces' in entry) return entry.pieces.reduce((sum, piece) => sum + piece.length + 3, 0);
  if (entry.type === 'tool-call') return entry.call.arguments.length;
  return entry.type === 'tool-result' ? entry.content.length : 0;
}
