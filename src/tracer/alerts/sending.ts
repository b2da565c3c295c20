/** What became of one attempt to send a message. */
export type Sending =
  /** With a note on what was left out, if anything was. */
  | { readonly state: 'sent'; readonly note?: string }
  | {
      readonly state: 'failed';
      /** One sentence that is safe to show; it never holds a webhook's address or a password. */
      readonly reason: string;
      /** Whether a later attempt may succeed. */
      readonly isWorthRetrying: boolean;
      /** Before which the other side wants none. */
      readonly retryAfterMs?: number | undefined;
    }
  /** Nothing was sent: its address cannot be read here, where another process may have the key. */
  | { readonly state: 'unreadable'; readonly reason: string };
