import { ChunkPacker } from '../chunk/chunk-body.ts';
import type { IntakeReply } from './messages.ts';
import type { AcceptedExport } from './writes.ts';
import type { OpenTrace } from './open-trace.ts';
import { PendingWrite } from './pending-write.ts';
import type { TagPacker } from './tag-packer.ts';

export interface WriteQueueOptions {
  readonly packer: TagPacker;
  readonly owesRows: boolean;
  readonly post: (reply: IntakeReply) => void;
}

/** How long a first export waits for company, unless it fills a chunk. */
const companyMs = 10;

/** Under load an export waits for those that come meanwhile: exports that share a write share its cost. */
const spacingMs = 80;

/**
 * Gathers exports to writes, of which one is asked for at a time: so they grow with the load.
 */
export class WriteQueue {
  readonly #options: WriteQueueOptions;
  readonly #chunks = new ChunkPacker();
  readonly #waiting: PendingWrite[] = [];
  #writing: PendingWrite | undefined;
  #number = 0;
  #writtenNumber = 0;
  #wroteAt = 0;
  #wasBusy = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: WriteQueueOptions) {
    this.#options = options;
  }

  /** Whether all spans of a trace are held by writes that are over. */
  isOver({ isWritten, lastWrite }: OpenTrace): boolean {
    return isWritten && lastWrite <= this.#writtenNumber;
  }

  /** Takes an export's body, as protobuf, and the traces that it touched. */
  add(body: Uint8Array, answer: AcceptedExport, traces: Iterable<OpenTrace>): void {
    this.#pending().add(body, answer, traces);
    this.#writeSoon();
  }

  /** The write that was asked for is over; answers the traces whose spans each of its chunks held. */
  end(): readonly ReadonlySet<OpenTrace>[] {
    const traces = this.#writing?.tracesOfChunks ?? [];
    this.#writtenNumber = this.#number;
    this.#writing = undefined;
    this.#writeSoon();
    return traces;
  }

  /** The write that takes exports now. */
  #pending(): PendingWrite {
    const last = this.#waiting.at(-1);
    if (last && !last.isFull) return last;
    const pending = new PendingWrite();
    this.#waiting.push(pending);
    return pending;
  }

  #writeSoon(): void {
    const [first] = this.#waiting;
    if (!first || this.#writing) return;
    if (first.isFull) return this.#writeNext();
    const spacedMs = this.#wasBusy ? this.#wroteAt + spacingMs - performance.now() : 0;
    const waitMs = Math.max(companyMs, spacedMs);
    this.#timer ??= setTimeout(() => this.#writeNext(), waitMs);
  }

  #writeNext(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#writing) return;
    const next = this.#waiting.shift();
    if (!next) return;
    this.#writing = next;
    this.#wroteAt = performance.now();
    this.#wasBusy = next.isBusy;
    this.#number += 1;
    const { packer, owesRows, post } = this.#options;
    const write = next.build(this.#number, {
      nowMs: Date.now(),
      packer,
      chunks: this.#chunks,
      owesRows,
    });
    post({ kind: 'write', write });
  }
}
