import type { Answer } from '../../api/contracts.ts';
import { call, requestOf } from '../../api/call.ts';
import { Refusal } from '../../api/refusal.ts';
import { send } from '../../api/send.ts';
import { saveFile } from '../../ui/download.ts';
import { textOfBytes } from './text-form.ts';

/** Where a file is. */
export interface FilePlace {
  readonly workspaceId: string;
  readonly path: string;
}

/** What a file holds, as far as it can be shown. */
export interface FileContent {
  readonly hash: string;
  /** Bytes. */
  readonly size: number;
  /** Absent when it is none, or too long. */
  readonly text?: string;
  readonly isTooLong?: boolean;
}

/** What has to be there for a write to be done: a known content, or nothing at all. */
export type Condition = { readonly hash: string } | 'free';

export type Applied = Answer<'studio', 'DELETE /api/v1/workspaces/:id/files/*'>;

/** Longer texts make an editor slow. */
export const shownBytesMax = 2 * 1024 * 1024;

/** A file, or what it held before; a `Refusal` when there is none. */
export async function readContent(place: FilePlace, version?: string): Promise<FileContent> {
  const response = await readBytes(place, version);
  const hash = response.headers.get('etag')?.replaceAll('"', '') ?? '';
  const size = Number(response.headers.get('content-length') ?? 0);
  if (size > shownBytesMax) {
    await response.body?.cancel();
    return { hash, size, isTooLong: true };
  }
  const bytes = new Uint8Array(await response.arrayBuffer());
  const text = textOfBytes(bytes);
  return { hash, size: bytes.length, ...(text === undefined ? {} : { text }) };
}

/** Undefined when there is no such file any more. */
export async function readIfThere(place: FilePlace): Promise<FileContent | undefined> {
  try {
    return await readContent(place);
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return undefined;
    throw error;
  }
}

/** Writes a file if the condition holds; else rejects with a `Refusal` of which `isChangedSince` holds. */
export async function writeContent(
  place: FilePlace,
  content: string | Blob,
  condition: Condition,
): Promise<Applied> {
  const plain = requestOf('studio', 'PUT /api/v1/workspaces/:id/files/*', {
    params: paramsOf(place),
    headers: headersOf(condition),
  });
  const response = await send(new Request(plain, { method: 'PUT', body: content }));
  // The studio answers by its contract.
  return (await response.json()) as Applied;
}

/** Deletes a file if it is still what was known of it. */
export function deleteContent(place: FilePlace, hash: string): Promise<Applied> {
  return call('studio', 'DELETE /api/v1/workspaces/:id/files/*', {
    params: paramsOf(place),
    headers: headersOf({ hash }),
  });
}

export function moveFile(place: FilePlace, to: string): Promise<Applied> {
  return call('studio', 'POST /api/v1/workspaces/:id/files/*', {
    params: paramsOf(place),
    body: { operation: 'move', to },
  });
}

export function restoreFile(place: FilePlace, version: string): Promise<Applied> {
  return call('studio', 'POST /api/v1/workspaces/:id/files/*', {
    params: paramsOf(place),
    body: { operation: 'restore', version },
  });
}

/** Has the browser save a file under its name. */
export async function downloadFile(place: FilePlace): Promise<void> {
  const response = await readBytes(place);
  saveFile(place.path.split('/').at(-1) ?? '', await response.blob());
}

/** Whether a write was refused because something else is there by now. */
export function isChangedSince(error: unknown): boolean {
  return error instanceof Refusal && error.status === 412;
}

function readBytes(place: FilePlace, version?: string): Promise<Response> {
  return send(
    requestOf('studio', 'GET /api/v1/workspaces/:id/files/*', {
      params: paramsOf(place),
      query: version === undefined ? {} : { version },
    }),
  );
}

function paramsOf({ workspaceId, path }: FilePlace) {
  return { id: workspaceId, '*': path };
}

function headersOf(condition: Condition): Record<string, string> {
  return condition === 'free' ? { 'if-none-match': '*' } : { 'if-match': `"${condition.hash}"` };
}
