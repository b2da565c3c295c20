import { LRUCache } from 'lru-cache';
import { newId } from '../../kit/ids.ts';

/** What a yes would do. */
export type Pending =
  /** A command that was not heard well. */
  | { readonly kind: 'command'; readonly transcription: string }
  | { readonly kind: 'deletion'; readonly conversationId: string; readonly title: string }
  | {
      readonly kind: 'approval';
      readonly turnId: string;
      readonly callIds: readonly string[];
      /** Its events up to this one are known. */
      readonly after: number;
    };

/** What one who speaks is in the middle of. */
export class VoiceSession {
  readonly id: string;
  conversationId: string | undefined;
  orchestrationId: string | undefined;
  #pending: { readonly what: Pending; readonly endsAtMs: number } | undefined;

  constructor(id: string) {
    this.id = id;
  }

  /** Asks for a yes, which must come within two minutes and before anything else. */
  ask(what: Pending): void {
    this.#pending = { what, endsAtMs: Date.now() + pendingMs };
  }

  /** What the next words may be the yes to, once. */
  takePending(): Pending | undefined {
    const pending = this.#pending;
    this.#pending = undefined;
    return pending && Date.now() < pending.endsAtMs ? pending.what : undefined;
  }
}

const pendingMs = 120_000;
const idleMs = 30 * 60_000;
const sessionsMax = 10_000;

/** The sessions of all who speak: in memory, for half an hour after the last command. */
export class VoiceSessions {
  readonly #sessions = new LRUCache<string, VoiceSession>({
    max: sessionsMax,
    ttl: idleMs,
    updateAgeOnGet: true,
  });

  /** The owner's session of this id; one that is not known, or no more, begins anew. */
  open(ownerId: string, id = newId('vse')): VoiceSession {
    const key = JSON.stringify([ownerId, id]);
    const known = this.#sessions.get(key);
    if (known) return known;
    const session = new VoiceSession(id);
    this.#sessions.set(key, session);
    return session;
  }
}
