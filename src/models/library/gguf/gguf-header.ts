import { open, type FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import { badModelFile, ByteCursor, OutOfBytes } from './byte-cursor.ts';
import { readMetadata, type Metadata } from './metadata.ts';
import { dataBytesOf, describeTensors, readTensors } from './tensors.ts';
import type { TensorEntry, TensorTable } from './tensors.ts';
import { fileTypes } from './tensor-types.ts';
import { pathsOfParts } from '../split-files.ts';

/** How an embedding model makes one vector of many (`llama_pooling_type` in llama.h). */
export type Pooling = 'none' | 'mean' | 'cls' | 'last' | 'rank';

/** What a GGUF file says about its model (ggml's docs/gguf.md). */
export interface GgufHeader extends Omit<TensorTable, 'parameterCount' | 'mainType'> {
  /** `llama`, `qwen3`, `bert`, … */
  readonly architecture: string;
  readonly title: string | undefined;
  readonly licence: string | undefined;
  /** Counted from the tensors, so always true. */
  readonly parameterCount: number;
  /** `Q4_K_M`, `F16`, …; empty when unknown. */
  readonly quantization: string;
  readonly contextTokens: number | undefined;
  readonly embeddingDimensions: number | undefined;
  readonly blockCount: number | undefined;
  readonly headCount: number | undefined;
  /** What one token takes of a context's memory with 16-bit keys and values; undefined when unknown. */
  readonly contextBytesPerToken: number | undefined;
  readonly vocabularySize: number | undefined;
  readonly chatTemplate: string | undefined;
  readonly pooling: Pooling | undefined;
  /** Every key of the header; long arrays only as their length. */
  readonly metadata: Metadata;
  /** Files that are shorter than this together were cut. */
  readonly fileBytesMin: number;
}

const firstReadBytes = 256 * 1024;
const headerBytesMax = 64 * 1024 * 1024;
const tensorsMax = 65_536;

/** What one file says; of a split model only the first has more than its own tensors to tell. */
interface FileHeader {
  readonly metadata: Metadata;
  readonly tensors: readonly TensorEntry[];
  readonly fileBytesMin: number;
}

/**
 * Reads the header of the model in these files, never its tensors; by default those that the name of
 * the first announces. Fault `invalid` (`bad_model_file`) for what is no GGUF file, is cut, lacks a
 * part, or announces what no model has; that the first is not there is left to the caller.
 */
export async function readGgufHeader(
  path: string,
  files: readonly string[] = pathsOfParts(path),
): Promise<GgufHeader> {
  const headers: FileHeader[] = [];
  for (const [index, file] of files.entries()) {
    const isFirst = index === 0;
    headers.push(await readFileHeader(file).catch((error) => refusePart(error, file, isFirst)));
  }
  headers.forEach((header, index) => checkPart(header, index, files.length));
  return joinHeaders(headers);
}

function refusePart(error: NodeJS.ErrnoException, file: string, isFirst: boolean): never {
  if (isFirst || error.code !== 'ENOENT') throw error;
  throw badModelFile(`its part ${basename(file)} is missing`, error);
}

/** llama.cpp finds the parts by the name of the first, and so has to find all of them. */
function checkPart({ metadata }: FileHeader, index: number, count: number): void {
  const told = numberAt(metadata, 'split.count') ?? 1;
  if (told > 1 && told !== count) {
    throw badModelFile(`it is one of ${told} parts, and its name does not say so`);
  }
  if (count === 1) return;
  const number = numberAt(metadata, 'split.no');
  if (told === count && number === index) return;
  throw badModelFile(`its part ${index + 1} of ${count} is another file`);
}

async function readFileHeader(path: string): Promise<FileHeader> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const header = await readGrowing(file, size);
    if (size >= header.fileBytesMin) return header;
    throw badModelFile(`it has ${size} of at least ${header.fileBytesMin} bytes`);
  } finally {
    await file.close();
  }
}

/** Reads ever more of the beginning until the header is complete. */
async function readGrowing(file: FileHandle, fileBytes: number): Promise<FileHeader> {
  const limit = Math.min(fileBytes, headerBytesMax);
  for (let wanted = firstReadBytes; ; wanted *= 4) {
    const bytes = await readStart(file, Math.min(wanted, limit));
    try {
      return parseFileHeader(bytes);
    } catch (error) {
      if (!(error instanceof OutOfBytes)) throw error;
      if (bytes.length >= limit || bytes.length < Math.min(wanted, limit)) {
        throw badModelFile('it ends within its header', error);
      }
    }
  }
}

async function readStart(file: FileHandle, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

/** Parses a header; throws `OutOfBytes` when the bytes end before it, Fault `invalid` when it is unsound. */
export function parseGgufHeader(bytes: Buffer): GgufHeader {
  return joinHeaders([parseFileHeader(bytes)]);
}

function parseFileHeader(bytes: Buffer): FileHeader {
  const cursor = new ByteCursor(bytes);
  const start = cursor.take(4);
  if (bytes.toString('latin1', start, start + 4) !== 'GGUF') {
    throw badModelFile('it does not begin with "GGUF"');
  }
  const version = cursor.uint32();
  if (version !== 2 && version !== 3) throw badModelFile(`its version is ${version}, not 2 or 3`);
  const tensorCount = cursor.count(tensorsMax, 'tensors');
  const metadata = readMetadata(cursor, cursor.uint64());
  const tensors = readTensors(cursor, tensorCount);
  const alignment = alignmentOf(metadata);
  const dataStart = Math.ceil(cursor.offset / alignment) * alignment;
  return { metadata, tensors, fileBytesMin: dataStart + dataBytesOf(tensors) };
}

function joinHeaders(files: readonly FileHeader[]): GgufHeader {
  const metadata: Metadata = files[0]?.metadata ?? new Map();
  const tensors = describeTensors(files.flatMap((file) => file.tensors));
  const fileBytesMin = files.reduce((sum, file) => sum + file.fileBytesMin, 0);
  return { ...describe(metadata, tensors.mainType), ...tensors, metadata, fileBytesMin };
}

function alignmentOf(metadata: Metadata): number {
  const alignment = numberAt(metadata, 'general.alignment') ?? 32;
  if (Number.isInteger(alignment) && alignment >= 1 && alignment <= 65_536) return alignment;
  throw badModelFile('its alignment is out of range');
}

function describe(metadata: Metadata, mainType: string) {
  const architecture = textAt(metadata, 'general.architecture');
  if (!architecture) throw badModelFile('it names no architecture');
  const own = (key: string) => numberAt(metadata, `${architecture}.${key}`);
  return {
    architecture,
    title: textAt(metadata, 'general.name'),
    licence: textAt(metadata, 'general.license'),
    quantization: fileTypes.get(numberAt(metadata, 'general.file_type') ?? -1) ?? mainType,
    contextTokens: own('context_length'),
    embeddingDimensions: own('embedding_length'),
    blockCount: own('block_count'),
    headCount: own('attention.head_count'),
    contextBytesPerToken: contextBytesPerToken(metadata, architecture),
    vocabularySize: own('vocab_size') ?? lengthAt(metadata, 'tokenizer.ggml.tokens'),
    chatTemplate: textAt(metadata, 'tokenizer.chat_template'),
    pooling: poolings[own('pooling_type') ?? -1],
  };
}

const poolings: readonly Pooling[] = ['none', 'mean', 'cls', 'last', 'rank'];
const bytesPerKeptNumber = 2;

function contextBytesPerToken(metadata: Metadata, architecture: string): number | undefined {
  const own = (key: string) => numberAt(metadata, `${architecture}.${key}`);
  const blocks = own('block_count');
  const width = own('embedding_length');
  const heads =
    own('attention.head_count') ?? largestAt(metadata, `${architecture}.attention.head_count`);
  if (blocks === undefined || width === undefined || !heads) return undefined;
  const kvHeads = kvHeadsOf(metadata, architecture, { blocks, heads });
  const keyLength = own('attention.key_length') ?? width / heads;
  const valueLength = own('attention.value_length') ?? width / heads;
  return Math.ceil(kvHeads * (keyLength + valueLength) * bytesPerKeptNumber);
}

/** The heads of all blocks together; some models have another count in each block. */
function kvHeadsOf(
  metadata: Metadata,
  architecture: string,
  { blocks, heads }: { readonly blocks: number; readonly heads: number },
): number {
  const value = metadata.get(`${architecture}.attention.head_count_kv`);
  if (Array.isArray(value)) return value.reduce((sum: number, one: number) => sum + one, 0);
  return blocks * (typeof value === 'number' ? value : heads);
}

function numberAt(metadata: Metadata, key: string): number | undefined {
  const value = metadata.get(key);
  return typeof value === 'number' ? value : undefined;
}

function textAt(metadata: Metadata, key: string): string | undefined {
  const value = metadata.get(key);
  return typeof value === 'string' ? value : undefined;
}

function largestAt(metadata: Metadata, key: string): number | undefined {
  const value = metadata.get(key);
  return Array.isArray(value) ? Math.max(...(value as number[])) : undefined;
}

function lengthAt(metadata: Metadata, key: string): number | undefined {
  const value = metadata.get(key);
  return typeof value === 'object' ? value.length : undefined;
}
