import { badModelFile, type ByteCursor } from './byte-cursor.ts';
import { tensorTypes } from './tensor-types.ts';

/** What the tensor table of a GGUF header says about the weights behind it. */
export interface TensorTable {
  readonly parameterCount: number;
  /** Where the last tensor ends, counted from the start of the data. */
  readonly dataBytes: number;
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

/** Reads the table, never the tensors. */
export function readTensorTable(cursor: ByteCursor, tensorCount: number): TensorTable {
  const weightsByType = new Map<number, number>();
  let parameterCount = 0;
  let dataBytes = 0;
  const seen = new SeenTensors();
  for (let index = 0; index < tensorCount; index++) {
    const { name, dimensions, weights, type, offset } = readTensor(cursor);
    seen.add(name, dimensions);
    parameterCount += weights;
    weightsByType.set(type, (weightsByType.get(type) ?? 0) + weights);
    dataBytes = Math.max(dataBytes, offset + bytesOf(type, weights));
  }
  const mainType = commonest(weightsByType);
  return { parameterCount, dataBytes, mainType, tensorCount, ...seen.facts() };
}

/** What the names of the tensors tell. */
class SeenTensors {
  readonly #blocks = new Set<string>();
  #tokenEmbedding: readonly number[] | undefined;
  #hasAttention = false;

  add(name: string, dimensions: readonly number[]): void {
    const [, block] = /(?:^|\.)blk\.(\d+)\./.exec(name) ?? [];
    if (block !== undefined) this.#blocks.add(block);
    if (name === 'token_embd.weight') this.#tokenEmbedding = dimensions;
    if (/\.attn_(q|qkv)\.weight$/.test(name)) this.#hasAttention = true;
  }

  facts() {
    return {
      blocksFound: this.#blocks.size,
      tokenEmbedding: this.#tokenEmbedding,
      hasAttention: this.#hasAttention,
    };
  }
}

function readTensor(cursor: ByteCursor) {
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
