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

export interface PendingUntil {
  readonly what: Pending;
  readonly endsAtMs: number;
}

interface Known {
  readonly conversationId?: string | undefined;
  readonly orchestrationId?: string | undefined;
  readonly pending?: PendingUntil | undefined;
}

const pendingMs = 120_000;

/** What one who speaks is in the middle of. */
export class VoiceSession {
  readonly id: string;
  conversationId: string | undefined;
  orchestrationId: string | undefined;
  readonly #known: Known;
  #pending: PendingUntil | undefined;

  constructor(id: string, known: Known = {}) {
    this.id = id;
    this.#known = known;
    this.conversationId = known.conversationId;
    this.orchestrationId = known.orchestrationId;
    this.#pending = known.pending;
  }

  /** What is asked for a yes now. */
  get pending(): PendingUntil | undefined {
    return this.#pending;
  }

  /** What is to be kept of it: another command may have changed the rest meanwhile. */
  get changes(): readonly ('conversation' | 'orchestration' | 'pending')[] {
    const { conversationId, orchestrationId } = this.#known;
    return [
      ...(this.conversationId === conversationId ? [] : ['conversation' as const]),
      ...(this.orchestrationId === orchestrationId ? [] : ['orchestration' as const]),
      ...(this.#pending === undefined ? [] : ['pending' as const]),
    ];
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

/** The sessions of all who speak. */
export interface VoiceSessions {
  /**
   * The owner's session of this id; one that is not known, or no more, begins anew. What waits for a yes
   * is handed out once, and is kept again by `save`.
   */
  open(ownerId: string, id?: string): Promise<VoiceSession>;
  save(ownerId: string, session: VoiceSession): Promise<void>;
}
