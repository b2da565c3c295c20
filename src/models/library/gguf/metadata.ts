import { badModelFile, type ByteCursor } from './byte-cursor.ts';

/** A value of a GGUF header that is kept; longer arrays are only counted. */
export type MetadataValue = string | number | boolean | readonly number[] | ArrayLength;

/** Stands for an array whose elements were passed over. */
export interface ArrayLength {
  readonly length: number;
}

export type Metadata = ReadonlyMap<string, MetadataValue>;

const keysMax = 4096;
const keyBytesMax = 65_535;
const textBytesMax = 4 * 1024 * 1024;
const elementsMax = 16 * 1024 * 1024;
const keptElementsMax = 1024;

const textType = 8;
const arrayType = 9;

/** Reads all keys; Fault `invalid` for counts, lengths or types that no model has. */
export function readMetadata(cursor: ByteCursor, keyCount: number): Metadata {
  if (keyCount > keysMax) throw badModelFile(`its header announces ${keyCount} keys`);
  const metadata = new Map<string, MetadataValue>();
  for (let index = 0; index < keyCount; index++) {
    const key = cursor.text(keyBytesMax);
    metadata.set(key, readValue(cursor, cursor.uint32()));
  }
  return metadata;
}

function readValue(cursor: ByteCursor, type: number): MetadataValue {
  if (type === textType) return cursor.text(textBytesMax);
  if (type === arrayType) return readArray(cursor);
  return readScalar(cursor, type);
}

function readScalar(cursor: ByteCursor, type: number): number | boolean {
  const scalar = scalars[type];
  if (!scalar) throw badModelFile(`its header has a value of the unknown type ${type}`);
  const value = scalar.read(cursor);
  return scalar.isBoolean ? value !== 0 : value;
}

function readArray(cursor: ByteCursor): readonly number[] | ArrayLength {
  const type = cursor.uint32();
  const length = cursor.count(elementsMax, 'elements');
  if (type === textType) {
    for (let index = 0; index < length; index++) cursor.skipText(textBytesMax);
    return { length };
  }
  const scalar = scalars[type];
  if (!scalar) throw badModelFile(`its header has an array of the unknown type ${type}`);
  if (length > keptElementsMax) {
    cursor.take(length * scalar.bytes);
    return { length };
  }
  return Array.from({ length }, () => scalar.read(cursor));
}

interface Scalar {
  readonly bytes: number;
  readonly read: (cursor: ByteCursor) => number;
  readonly isBoolean?: boolean;
}

/** By the numbers of `gguf_type`; 8 and 9 are text and array. */
const scalars: readonly (Scalar | undefined)[] = [
  { bytes: 1, read: (cursor) => cursor.uint8() },
  { bytes: 1, read: (cursor) => cursor.int8() },
  { bytes: 2, read: (cursor) => cursor.uint16() },
  { bytes: 2, read: (cursor) => cursor.int16() },
  { bytes: 4, read: (cursor) => cursor.uint32() },
  { bytes: 4, read: (cursor) => cursor.int32() },
  { bytes: 4, read: (cursor) => cursor.float32() },
  { bytes: 1, read: (cursor) => cursor.uint8(), isBoolean: true },
  undefined,
  undefined,
  { bytes: 8, read: (cursor) => cursor.uint64() },
  { bytes: 8, read: (cursor) => cursor.int64() },
  { bytes: 8, read: (cursor) => cursor.float64() },
];
