import { foldersOf, foldPath } from './paths.ts';

/**
 * Cuts items, in their order, into runs whose paths are not in each other's way: no two are equal but for
 * their case, none is the folder of another, and no folder is written in two ways.
 */
export function cutWaves<Item>(
  items: readonly Item[],
  pathsOf: (item: Item) => readonly string[],
  countMax: number,
): Item[][] {
  const waves: Item[][] = [];
  let wave: Item[] = [];
  let names = new Names();
  for (const item of items) {
    const paths = pathsOf(item);
    if (wave.length === countMax || !paths.every((path) => names.allow(path))) {
      if (wave.length > 0) waves.push(wave);
      wave = [];
      names = new Names();
    }
    for (const path of paths) names.add(path);
    wave.push(item);
  }
  if (wave.length > 0) waves.push(wave);
  return waves;
}

class Names {
  readonly #files = new Set<string>();
  /** How folders are written, by their names in lower case. */
  readonly #folders = new Map<string, string>();

  allow(path: string): boolean {
    const folded = foldPath(path);
    if (this.#files.has(folded) || this.#folders.has(folded)) return false;
    return foldersOf(path).every((folder) => {
      const lower = foldPath(folder);
      if (this.#files.has(lower)) return false;
      return (this.#folders.get(lower) ?? folder) === folder;
    });
  }

  add(path: string): void {
    this.#files.add(foldPath(path));
    for (const folder of foldersOf(path)) this.#folders.set(foldPath(folder), folder);
  }
}
