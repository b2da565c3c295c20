import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { FileRecord, FoundFile } from '../files/file.ts';

/** Content with what its answer's headers say of it. */
export interface FoundBytes extends Pick<FoundFile, 'open'> {
  readonly record: Pick<FileRecord, 'hash' | 'size'> & Partial<Pick<FileRecord, 'modifiedAtMs'>>;
}

/** The bytes, or the one range of them that was asked for (RFC 9110, section 14). */
export function answerBytes(headers: IncomingHttpHeaders, { record, open }: FoundBytes): Response {
  const { hash, size, modifiedAtMs } = record;
  const etag = `"${hash}"`;
  const common = {
    etag,
    'accept-ranges': 'bytes',
    'content-type': 'application/octet-stream',
    'content-disposition': 'attachment',
    ...(modifiedAtMs === undefined
      ? {}
      : { 'last-modified': new Date(modifiedAtMs).toUTCString() }),
    'x-content-type-options': 'nosniff',
  };
  const known = headers['if-none-match'];
  if (known?.trim() === '*' || known?.includes(etag)) {
    return new Response(null, { status: 304, headers: common });
  }
  // A part of other content than the caller has begun with would be joined to it (section 13.1.5).
  const isSame = headers['if-range'] === undefined || headers['if-range'] === etag;
  const range = isSame ? rangeOf(headers.range, size) : undefined;
  if (range === 'none') {
    const whole = { ...common, 'content-range': `bytes */${size}` };
    return new Response(null, { status: 416, headers: whole });
  }
  const length = range ? range.end - range.start + 1 : size;
  const held = { ...common, 'content-length': String(length) };
  if (!range) return new Response(bodyOf(open()), { headers: held });
  const part = { ...held, 'content-range': `bytes ${range.start}-${range.end}/${size}` };
  return new Response(bodyOf(open(range)), { status: 206, headers: part });
}

/** How many bytes the body is said to have; 0 where it does not say. */
export function announcedBytes(headers: IncomingHttpHeaders): number {
  return Number(headers['content-length'] ?? 0) || 0;
}

/** Node's web streams are those of the platform; only their types differ. */
function bodyOf(content: Readable): ReadableStream {
  return Readable.toWeb(content) as ReadableStream;
}

/** One range; undefined where all is answered, as for several, `none` where it lies behind the end. */
function rangeOf(header: string | undefined, size: number) {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (first === '' && last === '') return undefined;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  return start > end ? 'none' : { start, end };
}
