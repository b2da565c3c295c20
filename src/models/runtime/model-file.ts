import { open } from 'node:fs/promises';
import { Fault } from '../../kit/errors.ts';
import type { ModelKey } from './protocol.ts';

export interface ModelFile {
  readonly path: string;
  readonly key: ModelKey;
}

/**
 * Names the content that stands at a path. Fault `not_found` when there is no such file, `invalid`
 * when it does not begin as a GGUF file does; the rest of it is only judged when it is loaded.
 */
export async function identifyModel(path: string): Promise<ModelFile> {
  const file = await open(path).catch((error: unknown) => {
    throw new Fault('not_found', 'there is no such model file', { cause: error });
  });
  try {
    const { ino, size, mtimeMs } = await file.stat();
    const magic = Buffer.alloc(4);
    await file.read(magic, 0, 4, 0);
    if (magic.toString('latin1') !== 'GGUF') throw notGguf();
    return { path, key: [path, ino, size, mtimeMs].join('|') };
  } catch (error) {
    throw error instanceof Fault ? error : notGguf(error);
  } finally {
    await file.close();
  }
}

function notGguf(cause?: unknown): Fault {
  return new Fault('invalid', 'the model file is not a GGUF file', { cause });
}
