import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Fault } from '../../../kit/errors.ts';
import { randomModelContextTokens, randomModelName } from '../../random-model/random-gguf.ts';
import { readRandomModel } from '../testing.ts';
import { OutOfBytes } from './byte-cursor.ts';
import { capabilitiesOf } from './capabilities.ts';
import { parseGgufHeader, readGgufHeader } from './gguf-header.ts';

let folder: string;
let sound: Buffer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ennead-header-'));
  sound = await readRandomModel();
});
afterAll(() => rm(folder, { recursive: true }));

async function read(bytes: Buffer) {
  const path = join(folder, 'model.gguf');
  await writeFile(path, bytes);
  return readGgufHeader(path);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function uint64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}

function text(value: string): Buffer {
  return Buffer.concat([uint64(BigInt(Buffer.byteLength(value))), Buffer.from(value)]);
}

/** A file with these keys and no tensor. */
function file(entries: Readonly<Record<string, string | number | readonly number[]>>): Buffer {
  const keys = Object.entries(entries).map(([key, value]) => {
    if (typeof value === 'string') return [text(key), uint32(8), text(value)];
    if (typeof value === 'number') return [text(key), uint32(4), uint32(value)];
    const elements = value.map((one) => uint32(one));
    return [text(key), uint32(9), uint32(4), uint64(BigInt(value.length)), ...elements];
  });
  const head = [Buffer.from('GGUF'), uint32(3), uint64(0n), uint64(BigInt(keys.length))];
  return Buffer.concat([...head, ...keys.flat(), Buffer.alloc(32)]);
}

describe('a file that is unsound', () => {
  test.each([
    ['empty', Buffer.alloc(0)],
    ['text', Buffer.from('not a model at all, but long enough to be one')],
    ['an unknown version', Buffer.concat([Buffer.from('GGUF'), uint32(9), Buffer.alloc(64)])],
    [
      'the other byte order',
      Buffer.concat([Buffer.from('GGUF'), Buffer.from([0, 0, 0, 3]), Buffer.alloc(64)]),
    ],
    [
      'more keys than anything has',
      Buffer.concat([Buffer.from('GGUF'), uint32(3), uint64(0n), uint64(2n ** 63n)]),
    ],
    [
      'a key longer than the file',
      Buffer.concat([Buffer.from('GGUF'), uint32(3), uint64(0n), uint64(1n), uint64(60_000n)]),
    ],
    ['no architecture', file({ 'general.name': 'nobody' })],
    ['an alignment of zero', file({ 'general.architecture': 'llama', 'general.alignment': 0 })],
  ])('is refused: %s', async (_, bytes) => {
    await expect(read(bytes)).rejects.toMatchObject({ code: 'invalid', reason: 'bad_model_file' });
  });

  test('is refused wherever it was cut', async () => {
    const { length } = sound;
    for (const size of [3, 4, 20, 200, 5_000, 20_000, Math.floor(length / 2), length - 33]) {
      await expect(read(sound.subarray(0, size))).rejects.toMatchObject({
        reason: 'bad_model_file',
      });
    }
  });

  test('is refused or read, but nothing else, wherever its header was garbled', () => {
    const headerBytes = 24_000;
    let state = 1;
    const random = (limit: number) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state % limit;
    };
    const outcomes = new Set<string>();
    for (let round = 0; round < 2_000; round++) {
      const bytes = Buffer.from(sound.subarray(0, headerBytes * 2));
      for (let flips = 0; flips <= round % 8; flips++) {
        bytes[random(round % 2 === 0 ? 2_000 : headerBytes)] = random(256);
      }
      outcomes.add(outcomeOf(bytes));
    }
    expect([...outcomes].toSorted()).toEqual(['cut', 'read', 'refused']);
  });

  function outcomeOf(bytes: Buffer): string {
    try {
      parseGgufHeader(bytes);
      return 'read';
    } catch (error) {
      if (error instanceof OutOfBytes) return 'cut';
      if (error instanceof Fault && error.reason === 'bad_model_file') return 'refused';
      throw error;
    }
  }
});

test('a sound file says what its model is', async () => {
  const header = await read(sound);
  expect(header).toMatchObject({
    architecture: 'llama',
    title: randomModelName,
    quantization: 'F32',
    contextTokens: randomModelContextTokens,
    embeddingDimensions: 64,
    blockCount: 2,
    headCount: 4,
    // 2 blocks of 64 keys and 64 values of 2 bytes
    contextBytesPerToken: 2 * (64 + 64) * 2,
    pooling: undefined,
  });
  expect(header.fileBytesMin).toBeLessThanOrEqual(sound.length);
  expect(header.fileBytesMin).toBeGreaterThan(sound.length - 32);
  expect(header.parameterCount * 4).toBeLessThan(sound.length);
  expect(header.parameterCount * 4).toBeGreaterThan(sound.length * 0.9);
});

test('a header that is larger than the first read is read whole', async () => {
  const template = 'x'.repeat(1_500_000);
  const bytes = file({ 'general.architecture': 'llama', 'tokenizer.chat_template': template });
  expect((await read(bytes)).chatTemplate).toBe(template);
});

test('heads that differ from block to block are added up', () => {
  const header = parseGgufHeader(
    file({
      'general.architecture': 'llama',
      'llama.block_count': 3,
      'llama.embedding_length': 64,
      'llama.attention.head_count': 4,
      'llama.attention.head_count_kv': [4, 2, 1],
    }),
  );
  expect(header.contextBytesPerToken).toBe(7 * (16 + 16) * 2);
});

test.each([
  [{ 'general.architecture': 'bert' }, ['embedding']],
  [{ 'general.architecture': 'qwen3', 'qwen3.pooling_type': 3 }, ['embedding']],
  [{ 'general.architecture': 'bert', 'bert.pooling_type': 4 }, []],
  [{ 'general.architecture': 'clip' }, []],
  [{ 'general.architecture': 'llama' }, ['completion', 'json', 'tools']],
])('the capabilities of %o are %o', (entries: Record<string, string | number>, expected) => {
  expect(capabilitiesOf(parseGgufHeader(file(entries)))).toEqual(expected);
});
