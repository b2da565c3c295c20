import { badModelFile, type ByteCursor } from './byte-cursor.ts';
import { tensorTypes } from './tensor-types.ts';

/** What the tensor table of a GGUF header says about the weights behind it. */
export interface TensorTable {
  readonly parameterCount: number;
  /** Where the last tensor ends, counted from the start of the data. */
  readonly dataBytes: number;
  /** The type that most weights have; empty when it is not known here. */
  readonly mainType: string;
}

const nameBytesMax = 1024;
const dimensionsMax = 4;
const weightsMax = 2 ** 46;

/** Reads the table, never the tensors. */
export function readTensorTable(cursor: ByteCursor, tensorCount: number): TensorTable {
  const weightsByType = new Map<number, number>();
  let parameterCount = 0;
  let dataBytes = 0;
  for (let index = 0; index < tensorCount; index++) {
    const { weights, type, offset } = readTensor(cursor);
    parameterCount += weights;
    weightsByType.set(type, (weightsByType.get(type) ?? 0) + weights);
    dataBytes = Math.max(dataBytes, offset + bytesOf(type, weights));
  }
  return { parameterCount, dataBytes, mainType: commonest(weightsByType) };
}

function readTensor(cursor: ByteCursor) {
  cursor.skipText(nameBytesMax);
  const dimensions = cursor.uint32();
  if (dimensions > dimensionsMax) throw badModelFile(`a tensor has ${dimensions} dimensions`);
  let weights = 1;
  for (let index = 0; index < dimensions; index++) weights *= cursor.count(weightsMax, 'weights');
  if (weights > weightsMax) throw badModelFile('a tensor has more weights than any model');
  const type = cursor.uint32();
  return { weights, type, offset: cursor.count(Number.MAX_SAFE_INTEGER, 'bytes') };
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
