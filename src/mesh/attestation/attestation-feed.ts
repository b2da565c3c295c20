import { UnheardWritersWatch } from '../../kit/bus/unheard-writers.ts';
import type { Subscription, Topic } from '../../kit/bus/bus.ts';
import type { Log } from '../../kit/log.ts';
import { validityMs, type Attestation, type AttestationEvent } from './attestation.ts';
import {
  deleteEndedBefore,
  readChangedSince,
  readNewestIndex,
  type AttestationSql,
} from './attestation-store.ts';
import { deleteExpiredChallenges } from './challenge-store.ts';
import type { LiveAttestations } from './live-attestations.ts';
import type { SigningKeys } from './signing-key.ts';
import type { StatusLists } from './status-lists.ts';

/** The topic by which replicas tell each other of attestations. */
export const attestationTopic = 'mesh.attestations';

export interface AttestationFeedOptions {
  readonly sql: AttestationSql;
  readonly topic: Topic<AttestationEvent>;
  readonly live: LiveAttestations;
  readonly lists: StatusLists;
  readonly keys: Pick<SigningKeys, 'read' | 'sweep'>;
  /** Whether other replicas may change keys now and no bus tells of it: then they are read every 2 s. */
  readonly hasUnheardWriters: () => boolean;
  readonly log: Log;
  readonly now: () => number;
}

const sweepMs = 60_000;
/** By how much the clocks of replicas may differ, and how long a statement may take. */
const marginMs = 30_000;
const keptMs = 7 * 86_400_000;
// An event of the bus holds at most 512 KiB.
const eventMax = 300;

/** Keeps the memory of this replica equal to the database: by the bus, and by reading what it lost. */
export class AttestationFeed implements AsyncDisposable {
  readonly #options: AttestationFeedOptions;
  #subscription: Subscription | undefined;
  #timer: NodeJS.Timeout | undefined;
  #watch: UnheardWritersWatch | undefined;
  #sweeping: Promise<void> = Promise.resolve();
  #readFromMs: number;

  constructor(options: AttestationFeedOptions) {
    this.#options = options;
    // Whatever is good now was written within its validity.
    this.#readFromMs = options.now() - validityMs;
  }

  /** Resolves when memory is what the database says. */
  async start(): Promise<void> {
    const { topic, sql, live } = this.#options;
    this.#subscription = await topic.subscribe(({ data }) => this.#take(data), {
      onGap: () => void this.sweep(),
    });
    live.noteIndex(await readNewestIndex(sql));
    await this.#read();
    this.#timer = setInterval(() => void this.sweep(), sweepMs);
    this.#watch = new UnheardWritersWatch(
      this.#options.hasUnheardWriters,
      () => void this.readKeys(),
    );
  }

  /** Takes in what this replica has written, and tells the others. */
  tell(event: AttestationEvent): void {
    this.#take(event);
    for (const part of partsOf(event)) {
      this.#options.topic.publish(part).catch((err: unknown) => {
        this.#options.log.warn({ err }, 'other replicas learn of an attestation only later');
      });
    }
  }

  /** Reads what the bus has lost and forgets what has ended; one after another, never rejects. */
  sweep(): Promise<void> {
    const { log } = this.#options;
    this.#sweeping = this.#sweeping
      .then(() => this.#sweep())
      .catch((err: unknown) => log.warn({ err }, 'the attestations could not be swept'));
    return this.#sweeping;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#watch?.[Symbol.dispose]();
    await this.#subscription?.close();
    await this.#sweeping;
  }

  #take(event: AttestationEvent): void {
    if (event.kind === 'attested') this.#note(event.attestation);
    else if (event.kind === 'keys-changed') void this.readKeys();
    else for (const attestation of event.attestations) this.#note(attestation);
  }

  #note(attestation: Attestation): void {
    const { live, lists } = this.#options;
    live.note(attestation);
    if (attestation.revokedAtMs !== undefined) lists.drop(attestation.statusIndex);
  }

  /** Reads which keys of the mesh hold; never rejects. */
  async readKeys(): Promise<void> {
    const { keys, lists, log } = this.#options;
    try {
      if (await keys.read()) lists.dropAll();
    } catch (err) {
      log.warn({ err }, 'the keys of the mesh could not be read; they are with the next sweep');
    }
  }

  async #sweep(): Promise<void> {
    const { sql, live, lists, keys, now } = this.#options;
    if (await keys.sweep()) lists.dropAll();
    await this.#read();
    live.sweep(now());
    await deleteExpiredChallenges(sql, new Date(now()));
    await deleteEndedBefore(sql, new Date(now() - keptMs));
  }

  async #read(): Promise<void> {
    const { sql, live, now } = this.#options;
    const startMs = now();
    const changed = await readChangedSince(sql, new Date(this.#readFromMs - marginMs));
    for (const attestation of changed) {
      const isOver = attestation.validUntilMs <= startMs;
      if (isOver) live.noteIndex(attestation.statusIndex);
      else this.#note(attestation);
    }
    this.#readFromMs = startMs;
  }
}

function partsOf(event: AttestationEvent): AttestationEvent[] {
  if (event.kind !== 'revoked') return [event];
  const parts: AttestationEvent[] = [];
  for (let at = 0; at < event.attestations.length; at += eventMax) {
    parts.push({ kind: 'revoked', attestations: event.attestations.slice(at, at + eventMax) });
  }
  return parts;
}
