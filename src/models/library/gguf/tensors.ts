import { badModelFile, type ByteCursor } from './byte-cursor.ts';
import { tensorTypes } from './tensor-types.ts';

/** What the tensor table of a GGUF header says about the weights behind it. */
export interface TensorTable {
  readonly parameterCount: number;
  /** The type that most weights have; empty when it is not known here. */
  readonly mainType: string;
  readonly tensorCount: number;
  /** How many blocks have a tensor at least. */
  readonly blocksFound: number;
  /** The dimensions of `token_embd.weight`, innermost first. */
  readonly tokenEmbedding: readonly number[] | undefined;
  readonly hasAttention: boolean;
}

const nameBytesMax = 1024;
const dimensionsMax = 4;
const weightsMax = 2 ** 46;

/** One tensor as the table announces it. */
export interface TensorEntry {
  readonly name: string;
  /** Innermost first. */
  readonly dimensions: readonly number[];
  readonly weights: number;
  readonly type: number;
  /** From the start of the data of its own file. */
  readonly offset: number;
}

/** Reads the table of one file, never the tensors. */
export function readTensors(cursor: ByteCursor, tensorCount: number): TensorEntry[] {
  return Array.from({ length: tensorCount }, () => readTensor(cursor));
}

/** Where the last tensor of a file ends, counted from the start of the file's data. */
export function dataBytesOf(tensors: readonly TensorEntry[]): number {
  return tensors.reduce(
    (end, { type, weights, offset }) => Math.max(end, offset + bytesOf(type, weights)),
    0,
  );
}

/** What the tensors of a model tell, those of all its files together. */
export function describeTensors(tensors: readonly TensorEntry[]): TensorTable {
  const weightsByType = new Map<number, number>();
  const blocks = new Set<string>();
  let parameterCount = 0;
  for (const { name, weights, type } of tensors) {
    parameterCount += weights;
    weightsByType.set(type, (weightsByType.get(type) ?? 0) + weights);
    const [, block] = /(?:^|\.)blk\.(\d+)\./.exec(name) ?? [];
    if (block !== undefined) blocks.add(block);
  }
  return {
    parameterCount,
    mainType: commonest(weightsByType),
    tensorCount: tensors.length,
    blocksFound: blocks.size,
    tokenEmbedding: tensors.find(({ name }) => name === 'token_embd.weight')?.dimensions,
    hasAttention: tensors.some(({ name }) => /\.attn_(q|qkv)\.weight$/.test(name)),
  };
}

function readTensor(cursor: ByteCursor): TensorEntry {
  const name = cursor.text(nameBytesMax);
  const count = cursor.uint32();
  if (count > dimensionsMax) throw badModelFile(`a tensor has ${count} dimensions`);
  const dimensions = Array.from({ length: count }, () => cursor.count(weightsMax, 'weights'));
  const weights = dimensions.reduce((product, one) => product * one, 1);
  if (weights > weightsMax) throw badModelFile('a tensor has more weights than any model');
  const type = cursor.uint32();
  return {
    name,
    dimensions,
    weights,
    type,
    offset: cursor.count(Number.MAX_SAFE_INTEGER, 'bytes'),
  };
}

/** 0 for types that are not known here: then nothing is claimed about their bytes. */
function bytesOf(type: number, weights: number): number {
  const known = tensorTypes.get(type);
  return known ? Math.ceil(weights / known.blockWeights) * known.blockBytes : 0;
}

function commonest(weightsByType: ReadonlyMap<number, number>): string {
  const [first] = [...weightsByType].toSorted(([, a], [, b]) => b - a);
  return first ? (tensorTypes.get(first[0])?.name ?? '') : '';
}
