import ignore, { type Ignore } from 'ignore';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { ownFolder } from './paths.ts';

/** The file in a folder that names what is not kept, as gitignore does. */
export const ignoreFile = '.enneadignore';

const always = [ownFolder, '.git/', '*.sync-tmp'];
const bytesMax = 64 * 1024;

/** Which files of a folder are left alone. */
export class IgnoreRules {
  readonly #rules: Ignore;

  private constructor(text: string) {
    this.#rules = ignore().add(always).add(text);
  }

  /** Reads the rules of a folder; without a file of its own, or with one that is too large, the built-in ones. */
  static async of(root: string): Promise<IgnoreRules> {
    return new IgnoreRules(await readRules(join(root, ignoreFile)).catch(() => ''));
  }

  /** Of a relative POSIX path. */
  ignores(path: string): boolean {
    return this.#rules.ignores(path);
  }

  /** Of a folder, below which nothing need be looked at then. */
  ignoresFolder(path: string): boolean {
    return this.#rules.ignores(`${path}/`);
  }
}

/** Whoever works in the folder may have put a pipe or an endless device in the place of the file. */
async function readRules(path: string): Promise<string> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const found = await file.stat();
    return found.isFile() && found.size <= bytesMax ? await file.readFile('utf8') : '';
  } finally {
    await file.close();
  }
}
