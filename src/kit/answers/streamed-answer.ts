import { once } from 'node:events';
import type { ServerResponse } from 'node:http';

/** A source, and its first item where that was waited for. */
export interface OpenedSource<T> {
  readonly iterator: AsyncIterator<T>;
  readonly first?: IteratorResult<T>;
}

/** Waits for the first item, so that a source that fails at once can still be refused with a status. */
export async function openSource<T>(items: AsyncIterable<T>): Promise<OpenedSource<T>> {
  const iterator = items[Symbol.asyncIterator]();
  return { iterator, first: await iterator.next() };
}

export interface SourceWriteOptions<T> {
  /** Aborted when the reader has gone or the server stops. */
  readonly signal: AbortSignal;
  readonly format: (item: T) => string;
  /** The last text of a stream whose source failed half-way. */
  readonly formatFailure: (error: unknown) => string;
}

/**
 * Writes a source to a response whose head is sent already, and ends it. A slow reader slows the
 * source down; a reader that has gone ends it.
 */
export async function writeSource<T>(
  response: ServerResponse,
  { iterator, first }: OpenedSource<T>,
  { signal, format, formatFailure }: SourceWriteOptions<T>,
): Promise<void> {
  try {
    let result = first ?? (await iterator.next());
    while (!result.done && !signal.aborted) {
      await write(response, format(result.value), signal);
      result = await iterator.next();
    }
  } catch (error) {
    if (!response.destroyed) response.write(formatFailure(error));
  } finally {
    response.end();
    // A source that fails or hangs while it ends must not hold the reader.
    iterator.return?.()?.catch(() => {});
  }
}

async function write(response: ServerResponse, text: string, signal: AbortSignal): Promise<void> {
  if (response.write(text)) return;
  await once(response, 'drain', { signal }).catch(() => {});
}
