import { readdir } from 'node:fs/promises';
import type { FileRecord } from './file.ts';
import { IgnoreRules } from './ignore-rules.ts';
import { flawOf } from './paths.ts';
import type { WorkspaceFolder } from './workspace-folder.ts';

export interface Rescan {
  readonly folder: WorkspaceFolder;
  /** A page of what is known, by path, behind one; empty at the end. */
  readonly known: (after: string) => Promise<readonly FileRecord[]>;
  /** Notes what paths hold; answers for how many that is new. */
  readonly look: (paths: readonly string[]) => Promise<number>;
}

const filesMax = 200_000;
const depthMax = 64;
const lookMax = 500;

/** Compares a folder with what is known of it. Files beyond 200,000 are left alone. */
export async function rescanFolder({
  folder,
  known,
  look,
}: Rescan): Promise<{ readonly changed: number; readonly files: number }> {
  await folder.requireRoot();
  const rules = await IgnoreRules.of(folder.root);
  const seen = new Map<string, string>();
  for await (const path of walk(folder, rules)) {
    if (seen.size >= filesMax) break;
    seen.set(path.normalize('NFC'), path);
  }
  let changed = 0;
  // What has gone is first: its place may have been taken under a name that differs by case.
  let page = await known('');
  while (page.length > 0) {
    const gone = page.filter(({ path }) => !seen.has(path)).map(({ path }) => path);
    if (gone.length > 0) changed += await look(gone);
    page = await known(page.at(-1)?.path ?? '');
  }
  const paths = [...seen.values()];
  for (let start = 0; start < paths.length; start += lookMax) {
    changed += await look(paths.slice(start, start + lookMax));
  }
  return { changed, files: seen.size };
}

/** The plain files of a folder that are not ignored; links are no files. */
async function* walk(folder: WorkspaceFolder, rules: IgnoreRules): AsyncGenerator<string> {
  const open: string[] = [''];
  for (let current = open.pop(); current !== undefined; current = open.pop()) {
    const absolute = current === '' ? folder.root : folder.absolute(current);
    const entries = await readdir(absolute, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = current === '' ? entry.name : `${current}/${entry.name}`;
      if (flawOf(path) !== undefined) continue;
      const isDeep = path.split('/').length >= depthMax;
      if (entry.isDirectory() && !isDeep && !rules.ignoresFolder(path)) open.push(path);
      else if (entry.isFile() && !rules.ignores(path)) yield path;
    }
  }
}
