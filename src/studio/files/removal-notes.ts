import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ownFolder } from './paths.ts';
import type { WorkspaceFolder } from './workspace-folder.ts';

const kind = 'rmv';

/** Notes in the folder what is about to be deleted and is not in the log yet; discard what it answers. */
export function noteRemovals(
  folder: WorkspaceFolder,
  paths: readonly string[],
): Promise<readonly string[]> {
  if (paths.length === 0) return Promise.resolve([]);
  return folder.stage([paths], write, kind);
}

/** What was noted and not discarded: a crash came between. Undefined where a note cannot be read. */
export async function readRemovals({
  root,
}: WorkspaceFolder): Promise<readonly string[] | undefined> {
  const own = join(root, ownFolder);
  const names = await readdir(own).catch(() => []);
  const notes = names.filter((name) => name.startsWith(`${kind}_`));
  try {
    const texts = await Promise.all(notes.map((name) => readFile(join(own, name), 'utf8')));
    // Written above.
    return texts.flatMap((text) => JSON.parse(text) as string[]);
  } catch {
    return undefined;
  }
}

function write(noted: readonly string[], target: string): Promise<void> {
  return writeFile(target, JSON.stringify(noted));
}
