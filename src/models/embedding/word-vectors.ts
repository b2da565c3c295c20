import { createHash } from 'node:crypto';
import { Fault } from '../../kit/errors.ts';

/**
 * The content of an embedder's file. All numbers are little-endian.
 *
 *     0  8 bytes   `ENNEMBED`
 *     8  uint32    version of this format, 1
 *    12  uint32    dimensions
 *    16  uint32    words
 *    20  uint32    buckets for the pieces of unknown words
 *    24  uint32    bytes of the word list, a multiple of 4
 *    28  uint32    bytes of the notice, a multiple of 4
 *    32  32 bytes  SHA-256 over bytes 0 to 32 and 64 to the end
 *    64            notice (UTF-8): what the vectors were made of, with the licences; spaces at the end
 *                  word list (UTF-8): a word a line; line feeds at the end
 *                  float32 a row: what its numbers are multiplied by; the rows of words, then of buckets
 *                  int8 a dimension, row after row
 */
export interface WordVectors {
  readonly dimensions: number;
  readonly buckets: number;
  readonly notice: string;
  /** The first 12 hexadecimal digits of the file's SHA-256. */
  readonly revision: string;
  /** The row of each word; the buckets' rows follow those of the words. */
  readonly rows: ReadonlyMap<string, number>;
  readonly scales: Float32Array;
  readonly values: Int8Array;
}

/** Reads an embedder's file; throws `unavailable` for one that is cut, altered or of another kind. */
export function parseWordVectors(file: Uint8Array): WordVectors {
  const header = readHeader(file);
  const { dimensions, words, buckets, listBytes, noticeBytes } = header;
  const rowCount = words + buckets;
  const listAt = headerBytes + noticeBytes;
  const scalesAt = listAt + listBytes;
  const valuesAt = scalesAt + rowCount * 4;
  if (file.length !== valuesAt + rowCount * dimensions) refuse('has another length than it says');
  const revision = checkedRevision(file);
  const rows = readWords(file.subarray(listAt, scalesAt));
  if (rows.size !== words) refuse('has another number of words than it says');
  return {
    dimensions,
    buckets,
    notice: new TextDecoder().decode(file.subarray(headerBytes, listAt)).trimEnd(),
    revision,
    rows,
    // Copied, because a float32 must start at a multiple of 4 and a buffer may start anywhere.
    scales: new Float32Array(Uint8Array.from(file.subarray(scalesAt, valuesAt)).buffer),
    values: new Int8Array(file.buffer, file.byteOffset + valuesAt, rowCount * dimensions),
  };
}

const magic = 'ENNEMBED';
const formatVersion = 1;
const checksumAt = 32;
const headerBytes = 64;

function readHeader(file: Uint8Array) {
  if (file.length < headerBytes) refuse('is too short');
  if (new TextDecoder('latin1').decode(file.subarray(0, 8)) !== magic) refuse('is no such file');
  const view = new DataView(file.buffer, file.byteOffset, headerBytes);
  const version = view.getUint32(8, true);
  if (version !== formatVersion) refuse(`has format ${version}, not ${formatVersion}`);
  return {
    dimensions: view.getUint32(12, true),
    words: view.getUint32(16, true),
    buckets: view.getUint32(20, true),
    listBytes: view.getUint32(24, true),
    noticeBytes: view.getUint32(28, true),
  };
}

function checkedRevision(file: Uint8Array): string {
  const hash = createHash('sha256');
  hash.update(file.subarray(0, checksumAt)).update(file.subarray(headerBytes));
  const found = hash.digest();
  if (!found.equals(file.subarray(checksumAt, headerBytes))) refuse('does not match its checksum');
  return found.toString('hex').slice(0, 12);
}

function readWords(bytes: Uint8Array): Map<string, number> {
  const words = new TextDecoder().decode(bytes).trimEnd().split('\n');
  return new Map(words.map((word, row) => [word, row]));
}

function refuse(flaw: string): never {
  throw new Fault('unavailable', `the embedder's file ${flaw}`, { reason: 'embedder_damaged' });
}
