import { Fault } from '../../../kit/errors.ts';
import { readGgufHeader, type GgufHeader } from './gguf-header.ts';

/** The state of a model's files by which a change of them is seen. */
interface SeenFile {
  readonly path: string;
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
}

interface Entry {
  readonly key: string;
  readonly header: Promise<GgufHeader | undefined>;
}

/** Headers of files, each read once for every state of its file. */
export class HeaderCache {
  readonly #entries = new Map<string, Entry>();

  /** The header; undefined for a file that is no usable model. */
  read({ path, ino, size, mtimeMs }: SeenFile): Promise<GgufHeader | undefined> {
    const key = [ino, size, mtimeMs].join('|');
    const known = this.#entries.get(path);
    if (known?.key === key) return known.header;
    const header = readGgufHeader(path).catch((error: unknown) => {
      // A failure that is not the file's own may pass.
      if (!(error instanceof Fault)) this.#entries.delete(path);
      return undefined;
    });
    this.#entries.set(path, { key, header });
    return header;
  }

  /** Forgets the files that are no more. */
  keepOnly(paths: ReadonlySet<string>): void {
    for (const path of this.#entries.keys()) if (!paths.has(path)) this.#entries.delete(path);
  }
}
