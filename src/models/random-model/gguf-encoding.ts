/** The numbers of the GGUF v3 specification for types of metadata. */
export const valueType = {
  uint16: 2,
  uint32: 4,
  int32: 5,
  float32: 6,
  bool: 7,
  string: 8,
  array: 9,
} as const;

/** The bytes that the data of a tensor begins at a multiple of, unless the file says otherwise. */
export const alignment = 32;

/** How the numbers of a tensor are stored, as the specification numbers it. */
const tensorType = { f32: 0, q8_0: 8 } as const;

export type TensorType = keyof typeof tensorType;

export interface Tensor {
  readonly name: string;
  /** Innermost dimension first, as GGUF stores them. */
  readonly dimensions: readonly number[];
  readonly type: TensorType;
  /** As the type stores them. */
  readonly bytes: Uint8Array;
}

/** A whole file of metadata entries and tensors. */
export function encodeGguf(metadata: readonly Buffer[], tensors: readonly Tensor[]): Buffer {
  const parts = [
    Buffer.from('GGUF'),
    uint32(3),
    uint64(tensors.length),
    uint64(metadata.length),
    ...metadata,
    ...describeTensors(tensors),
  ];
  const header = padded(Buffer.concat(parts));
  return Buffer.concat([header, ...tensors.map(({ bytes }) => padded(bytes))]);
}

/** A metadata entry of a value that is encoded already. */
export function entry(key: string, type: number, value: Buffer): Buffer {
  return Buffer.concat([string(key), uint32(type), value]);
}

/** A metadata entry of a text. */
export function stringEntry(key: string, value: string): Buffer {
  return entry(key, valueType.string, string(value));
}

/** A metadata entry of an unsigned 32-bit number. */
export function numberEntry(key: string, value: number): Buffer {
  return entry(key, valueType.uint32, uint32(value));
}

/** A metadata entry of elements that are encoded already. */
export function arrayEntry(key: string, type: number, elements: readonly Buffer[]): Buffer {
  const head = [uint32(type), uint64(elements.length)];
  return entry(key, valueType.array, Buffer.concat([...head, ...elements]));
}

/** Text behind its length in bytes. */
export function string(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([uint64(bytes.length), bytes]);
}

/** Two bytes, little-endian. */
export function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

/** Four bytes, little-endian. */
export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** Eight bytes, little-endian. */
export function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

/** Four bytes each, little-endian. */
export function floats(values: ArrayLike<number>): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (let i = 0; i < values.length; i++) bytes.writeFloatLE(values[i] ?? 0, i * 4);
  return bytes;
}

function describeTensors(tensors: readonly Tensor[]): Buffer[] {
  let offset = 0;
  return tensors.map(({ name, dimensions, type, bytes }) => {
    const described = [
      string(name),
      uint32(dimensions.length),
      ...dimensions.map(uint64),
      uint32(tensorType[type]),
      uint64(offset),
    ];
    offset += Math.ceil(bytes.byteLength / alignment) * alignment;
    return Buffer.concat(described);
  });
}

function padded(bytes: Uint8Array): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(-bytes.length & (alignment - 1))]);
}
