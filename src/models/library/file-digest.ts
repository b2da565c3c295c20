import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';

/** Feeds a file, or its first bytes, into a hash; answers how many bytes that were. */
export async function hashFile(
  path: string,
  hash: Hash,
  { end, signal }: { readonly end?: number; readonly signal?: AbortSignal } = {},
): Promise<number> {
  if (end === 0) return 0;
  const stream = createReadStream(path, {
    highWaterMark: 1024 * 1024,
    ...(end === undefined ? {} : { end: end - 1 }),
    ...(signal ? { signal } : {}),
  });
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return bytes;
}

/** SHA-256 of a file in hex; its memory use does not grow with the file. */
export async function digestOf(path: string, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  await hashFile(path, hash, signal ? { signal } : {});
  return hash.digest('hex');
}
