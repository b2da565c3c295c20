import { noteDisk, type DiskNotesParts, type FilePlace } from './disk-notes.ts';
import type { FileCommits } from './file-commits.ts';
import { readUnwritten } from './file-store.ts';
import { flawOf } from './paths.ts';
import { readRemovals } from './removal-notes.ts';
import { cutWaves } from './waves.ts';

const waveMax = 500;

/**
 * Brings log and folder together where a crash came between them; the caller has the workspace's lock.
 * False where nobody can say what was under way: all is to be compared.
 */
export async function repair(
  parts: DiskNotesParts,
  commits: Pick<FileCommits, 'finish'>,
  place: FilePlace,
): Promise<boolean> {
  const { workspaceId, folder } = place;
  const removed = await readRemovals(folder);
  const paths = (removed ?? []).filter((path) => !flawOf(path));
  for (const wave of cutWaves(paths, (path) => [path], waveMax)) {
    await noteDisk(parts, place, wave);
  }
  await folder.clearStaging();
  for (const record of await readUnwritten(parts.sql, workspaceId)) {
    await commits.finish(place, record);
  }
  return removed !== undefined;
}
