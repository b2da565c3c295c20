import type { Notice } from './notice.ts';

/** The way to one socket, whatever its protocol. */
export interface Wire {
  /** Queues an event. False: it was dropped, because the reader is too slow or has gone. */
  push(notice: Notice): boolean;
  /** Resolves when `push` takes events again after it refused one, and when the socket ends. */
  room(): Promise<void>;
  /** Ends it: its reader leaves too much unread. */
  close(code: number, reason: string): void;
}
