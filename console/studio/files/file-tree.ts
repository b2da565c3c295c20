import type { HeldFile } from '../answers.ts';

/** A line of the tree that can be seen: a folder, or a file. */
export interface TreeRow {
  readonly path: string;
  readonly name: string;
  /** How many folders it lies in. */
  readonly depth: number;
  /** Of folders alone. */
  readonly isOpen?: boolean;
}

interface Folder {
  readonly folders: Map<string, Folder>;
  readonly files: string[];
}

/** The paths as folders in folders. */
export function growTree(paths: Iterable<string>): Folder {
  const root: Folder = { folders: new Map(), files: [] };
  for (const path of paths) {
    const parts = path.split('/');
    const name = parts.pop() ?? '';
    folderAt(root, parts).files.push(name);
  }
  return root;
}

function folderAt(root: Folder, parts: readonly string[]): Folder {
  let at = root;
  for (const part of parts) {
    const next = at.folders.get(part) ?? { folders: new Map(), files: [] };
    at.folders.set(part, next);
    at = next;
  }
  return at;
}

/** The lines to be seen, folders before files, when these folders are open. */
export function rowsOf(root: Folder, open: ReadonlySet<string>): readonly TreeRow[] {
  const rows: TreeRow[] = [];
  const list = ({ folders, files }: Folder, above: string, depth: number) => {
    for (const [name, folder] of [...folders].toSorted(([a], [b]) => compare(a, b))) {
      const path = `${above}${name}`;
      const isOpen = open.has(path);
      rows.push({ path, name, depth, isOpen });
      if (isOpen) list(folder, `${path}/`, depth + 1);
    }
    for (const name of files.toSorted(compare)) rows.push({ path: `${above}${name}`, name, depth });
  };
  list(root, '', 0);
  return rows;
}

/** Files whose paths have the words in them, whatever their case, as lines without folders. */
export function rowsFound(paths: Iterable<string>, words: string): readonly TreeRow[] {
  const wanted = words.toLowerCase();
  const rows: TreeRow[] = [];
  for (const path of paths) {
    if (path.toLowerCase().includes(wanted)) rows.push({ path, name: path, depth: 0 });
  }
  return rows;
}

/** All folders that a path lies in: `a/b/c` in `a` and `a/b`. */
export function foldersAbove(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** What a change leaves at its path; undefined for nothing. */
export interface FileChange {
  readonly path: string;
  readonly file: HeldFile | undefined;
}

/** The files after changes, in their order. */
export function changeFiles(
  files: ReadonlyMap<string, HeldFile>,
  changes: readonly FileChange[],
): ReadonlyMap<string, HeldFile> {
  const next = new Map(files);
  for (const { path, file } of changes) {
    if (file) next.set(path, file);
    else next.delete(path);
  }
  return next;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : 1;
}
