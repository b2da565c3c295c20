import { sideBySide } from '../../studio/files/side-by-side.ts';
import type { Received } from './sync-folder.ts';
import { cutBatches, inlineBytesMax, type Step } from './sync-steps.ts';
import type { SyncRunOptions, SyncCounts } from './sync-options.ts';

export interface SyncReceiptsOptions extends SyncRunOptions {
  readonly counts: SyncCounts;
  /** Does what concerns one path alone, and leaves that one out when it fails. */
  readonly attempt: (path: string, work: () => Promise<void>) => Promise<void>;
  readonly leaveOut: (path: string, error: unknown) => void;
  /** The workspace has changed meanwhile. */
  readonly onStale: () => void;
}

const atOnce = 8;

/** Takes over what the workspace holds: small contents many at once, large ones one by one. */
export class SyncReceipts {
  readonly #options: SyncReceiptsOptions;

  constructor(options: SyncReceiptsOptions) {
    this.#options = options;
  }

  async take(steps: readonly Step[]): Promise<void> {
    const { folder, index, signal } = this.#options;
    const gone = steps.filter(({ there }) => !there);
    await sideBySide(gone, atOnce, (step) =>
      this.#options.attempt(step.path, async () => {
        if (!(await folder.remove(step.path, step.here))) return;
        index.note(step.path, undefined);
        this.#options.counts.deletedHere += 1;
      }),
    );
    const small = steps.filter(({ there, size }) => there && size <= inlineBytesMax);
    for (const batch of cutBatches(small, ({ size }) => size)) {
      if (signal.aborted) return;
      await this.#takeTogether(batch);
    }
    const large = steps.filter(({ there, size }) => there && size > inlineBytesMax);
    await sideBySide(large, atOnce, async (step) => {
      if (!signal.aborted)
        await this.#options.attempt(step.path, async () => void (await this.takeOne(step)));
    });
  }

  async #takeTogether(steps: readonly Step[]): Promise<void> {
    const { files, folder, workspaceId } = this.#options;
    const hashes = [...new Set(steps.flatMap(({ there }) => there?.hash ?? []))];
    const contents = await files.readMany(workspaceId, hashes);
    const received: Received[] = [];
    for (const { path, here, there } of steps) {
      const body = there && contents.get(there.hash);
      if (there && body) received.push({ ...there, path, body, expected: here });
      // It has changed meanwhile.
      else this.#options.onStale();
    }
    const outcomes = await folder.receive(received);
    for (const file of received) this.#noteReceived(file, outcomes.get(file.path) ?? false);
  }

  /** False when one of the sides changed meanwhile. */
  async takeOne({ path, here, there }: Step): Promise<boolean> {
    const { files, folder, workspaceId, deviceId } = this.#options;
    const found = await files.read({ workspaceId, deviceId, path });
    if (!found || !there) {
      this.#options.onStale();
      return false;
    }
    const file = { ...found, path, executable: there.executable, expected: here };
    try {
      const outcome = (await folder.receive([file])).get(path) ?? false;
      this.#noteReceived(file, outcome);
      return outcome === true;
    } finally {
      // Of what was refused before it was read.
      if (!found.body.locked) await found.body.cancel();
    }
  }

  #noteReceived(file: Received, outcome: boolean | Error): void {
    if (outcome instanceof Error) return this.#options.leaveOut(file.path, outcome);
    if (!outcome) return undefined;
    this.#options.index.note(file.path, file);
    this.#options.counts.received += 1;
    return undefined;
  }
}
