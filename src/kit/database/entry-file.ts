import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A file of this folder that runs in a thread or process of its own, and Node's flags for it. */
export interface EntryFile {
  readonly path: string;
  readonly execArgv: string[];
}

/**
 * Finds the entry `name` beside this file: compiled `.js`, or TypeScript source, which Node 20
 * cannot run by itself and so loads through tsx.
 */
export function findEntryFile(name: string): EntryFile {
  const extension = extname(import.meta.url);
  const path = fileURLToPath(new URL(`./${name}${extension}`, import.meta.url));
  if (extension !== '.ts') return { path, execArgv: [] };
  const loader = createRequire(import.meta.url).resolve('tsx');
  return { path, execArgv: ['--import', loader] };
}
