import { recentEntries } from '../../kit/recent-entries.ts';
import type { DiskFile } from './workspace-folder.ts';

const knownMax = 200_000;

/** What files held when they were last read, by what tells that they may have changed since. */
export class DiskStamps {
  readonly #known = recentEntries<{ readonly stamp: string; readonly hash: string }>(knownMax);

  /** The hash of a file that is as it was; undefined when it has to be read. */
  hashOf(workspaceId: string, path: string, { stamp }: DiskFile): string | undefined {
    const known = this.#known.get(`${workspaceId}/${path}`);
    return known?.stamp === stamp ? known.hash : undefined;
  }

  /** A file that was written a moment ago may change once more without another stamp: not kept yet. */
  note(workspaceId: string, path: string, { file, hash }: { file: DiskFile; hash: string }): void {
    const ageMs = Date.now() - file.modifiedAtMs;
    if (ageMs < 50) return;
    this.#known.set(`${workspaceId}/${path}`, { stamp: file.stamp, hash });
  }

  forget(workspaceId: string, path: string): void {
    this.#known.delete(`${workspaceId}/${path}`);
  }
}
