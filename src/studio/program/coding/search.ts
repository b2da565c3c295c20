import { open, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { constants } from 'node:fs';
import type { JobWorkspace } from '../job.ts';

const fileBytesMax = 512 * 1024;
const filesMax = 5_000;
const filesMaxOverHttp = 100;
const lineChars = 200;

export interface FoundLine {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/**
 * The lines of the workspace that hold a text, whatever its case; at most so many. Read from the folder
 * where there is one, else over the studio's interface, then of the first 100 files only.
 */
export async function searchWorkspace(
  { door, folder }: JobWorkspace,
  text: string,
  { prefix = '', limit }: { readonly prefix?: string; readonly limit: number },
): Promise<readonly FoundLine[]> {
  const root = folder === undefined ? undefined : await realpath(folder);
  const listed = (await door.list(prefix)).filter(({ size }) => size <= fileBytesMax);
  const found: FoundLine[] = [];
  for (const { path } of listed.slice(0, root === undefined ? filesMaxOverHttp : filesMax)) {
    const content = root === undefined ? await door.read(path) : await readBelow(root, path);
    found.push(...linesWith(text, path, content ?? ''));
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}

/** Undefined for what is no plain text there, and for what a link leads to. */
async function readBelow(root: string, path: string): Promise<string | undefined> {
  const file = join(root, path);
  try {
    if ((await realpath(file)) !== root + sep + path.split('/').join(sep)) return undefined;
    await using handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
    const content = (await handle.readFile()).toString('utf8');
    return content.includes('\0') ? undefined : content;
  } catch {
    // It went since it was listed.
    return undefined;
  }
}

function linesWith(text: string, path: string, content: string): FoundLine[] {
  const wanted = text.toLowerCase();
  return content
    .split(/\r?\n/)
    .flatMap((line, index) =>
      line.toLowerCase().includes(wanted)
        ? [{ path, line: index + 1, text: line.trim().slice(0, lineChars) }]
        : [],
    );
}
