import { spawnSync } from 'node:child_process';
import { copyFile, cp, link, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** A copy of this repository in a temporary folder, as git would give it. The owner disposes of it. */
export class Clone implements AsyncDisposable {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Copies what git tracks, and what it would if it were added, as it lies in the working tree. */
  static async make(): Promise<Clone> {
    const folder = await mkdtemp(join(tmpdir(), 'ennead-bench-'));
    for (const path of listFiles()) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await copyFile(path, join(folder, path));
    }
    return new Clone(folder);
  }

  /** Links this repository's dependencies file by file, without what the suite keeps in their cache. */
  async linkDependencies(): Promise<void> {
    await linkTree(resolve('node_modules'), join(this.folder, 'node_modules'));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

function listFiles(): string[] {
  const options = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const { status, stdout } = spawnSync('git', options, { encoding: 'utf8', maxBuffer: 1 << 26 });
  if (status !== 0) throw new Error('the figures of starting need a git clone');
  return stdout.split('\0').filter((path) => path !== '' && existsSync(path));
}

async function linkTree(source: string, target: string): Promise<void> {
  await mkdir(target, { recursive: true });
  for (const entry of await readdir(source, { withFileTypes: true })) {
    if (entry.name === '.cache') continue;
    const [from, to] = [join(source, entry.name), join(target, entry.name)];
    if (entry.isDirectory()) await linkTree(from, to);
    else if (entry.isSymbolicLink()) await cp(from, to, { verbatimSymlinks: true });
    // A temporary folder on another disk cannot be linked to.
    else await link(from, to).catch(() => copyFile(from, to));
  }
}
