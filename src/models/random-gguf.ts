import { randomUUID } from 'node:crypto';
import { access, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  alignment,
  arrayEntry,
  encodeGguf,
  entry,
  floats,
  numberEntry,
  string,
  stringEntry,
  uint16,
  uint32,
  valueType,
  type Tensor,
} from './gguf-encoding.ts';

/** The name of the file in a models folder, for tests and measurements. */
export const randomModelFile = 'ennead-random.gguf';

/** What `general.name` of the file says, so that nobody takes its answers for a model's. */
export const randomModelName = 'Ennead random weights';

/** What `general.description` says, and what a listing should show. */
export const randomModelDescription =
  'Random weights, never trained: the output is gibberish. It proves the path from request to tokens.';

/** The context that the file declares, in tokens. */
export const randomModelContextTokens = 2048;

/** Another model than the built-in one, for tests and measurements. */
export interface RandomModelOptions {
  readonly shape?: RandomModelShape;
  /** Makes it an embedding model: its vectors are means over the tokens. */
  readonly isEmbedding?: boolean;
  /** A Jinja template; a plain one that knows no tools when absent. */
  readonly chatTemplate?: string;
  /** Never writes the end mark, so an answer is as long as it may be. */
  readonly isEndless?: boolean;
}

export interface RandomModelShape {
  readonly width: number;
  readonly layers: number;
  readonly heads: number;
  readonly hidden: number;
}

/**
 * Writes the built-in model unless the file is already there. Same bytes on every machine; the file
 * appears whole or not at all, also when two processes write it at once.
 */
export async function writeRandomModel(
  path: string,
  options: RandomModelOptions = {},
): Promise<void> {
  if (await isPresent(path)) return;
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.${randomUUID()}.part`;
  try {
    const { metadata, tensors } = makeRandomModel(options);
    await writeFile(temporary, encodeGguf(metadata, tensors), { flag: 'wx' });
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

async function isPresent(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

const smallShape: RandomModelShape = { width: 64, layers: 2, heads: 4, hidden: 128 };
const seed = 0x9e3779b9;

// llama.cpp's numbers for kinds of tokens.
const meanPooling = 1;
const tokenKind = { normal: 1, unknown: 2, control: 3, byte: 6 };

const plainTemplate =
  "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] + " +
  "'<|im_end|>' + '\\n'}}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

/** Only these words and the end mark have weight in the output, so that gibberish stays readable. */
const words = (
  'the a of and to in is it that for you was with on as are this be at one have not from or had by ' +
  'hot word but what some we can out other were all there when up use your how said each she which ' +
  'do their time if will way about many then them write would like so these her long make thing ' +
  'see him two has look more day could go come did number sound no most people my over know water ' +
  'user assistant system'
).split(' ');

interface VocabularyToken {
  readonly text: string;
  readonly kind: number;
  readonly isSpoken: boolean;
}

/** The same model in several files, for the names that llama.cpp gives the parts of a split one. */
export function encodeSplitModel(partCount: number, options: RandomModelOptions = {}): Buffer[] {
  const { metadata, tensors } = makeRandomModel(options);
  const share = Math.ceil(tensors.length / partCount);
  return Array.from({ length: partCount }, (_, part) => {
    const own = [
      entry('split.no', valueType.uint16, uint16(part)),
      entry('split.count', valueType.uint16, uint16(partCount)),
      entry('split.tensors.count', valueType.int32, uint32(tensors.length)),
    ];
    const told = part === 0 ? [...metadata, ...own] : own;
    return encodeGguf(told, tensors.slice(part * share, (part + 1) * share));
  });
}

function makeRandomModel(options: RandomModelOptions) {
  const { shape = smallShape, isEmbedding = false, isEndless = false } = options;
  const { chatTemplate = plainTemplate } = options;
  const tokens = buildVocabulary(!isEndless);
  const pooling = isEmbedding ? [numberEntry('llama.pooling_type', meanPooling)] : [];
  const template = stringEntry('tokenizer.chat_template', chatTemplate);
  const metadata = [...describeModel(tokens, shape), template, ...pooling];
  return { metadata, tensors: drawTensors(tokens, shape) };
}

/**
 * SentencePiece with byte fallback. It merges pairs from left to right, so a word can only be
 * reached when all of its prefixes are pieces too.
 */
function buildVocabulary(isEndSpoken: boolean): VocabularyToken[] {
  const specials = [
    makeToken('<unk>', tokenKind.unknown),
    makeToken('<s>', tokenKind.control),
    makeToken('</s>', tokenKind.control),
    makeToken('<|im_start|>', tokenKind.control),
    makeToken('<|im_end|>', tokenKind.control, isEndSpoken),
  ];
  const bytes = Array.from({ length: 256 }, (_, byte) =>
    makeToken(`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`, tokenKind.byte),
  );
  const wholes = new Set(words.map((word) => `▁${word}`));
  const pieces = new Set(Array.from({ length: 94 }, (_, i) => String.fromCodePoint(0x21 + i)));
  for (const whole of wholes) {
    for (let end = 1; end <= whole.length; end++) pieces.add(whole.slice(0, end));
  }
  const normal = [...pieces].map((text) => makeToken(text, tokenKind.normal, wholes.has(text)));
  return [...specials, ...bytes, ...normal];
}

function makeToken(text: string, kind: number, isSpoken = false): VocabularyToken {
  return { text, kind, isSpoken };
}

function describeModel(tokens: readonly VocabularyToken[], shape: RandomModelShape): Buffer[] {
  const index = (text: string) => tokens.findIndex((token) => token.text === text);
  return [
    stringEntry('general.architecture', 'llama'),
    stringEntry('general.name', randomModelName),
    stringEntry('general.description', randomModelDescription),
    numberEntry('general.file_type', 0),
    numberEntry('general.alignment', alignment),
    numberEntry('llama.context_length', randomModelContextTokens),
    numberEntry('llama.embedding_length', shape.width),
    numberEntry('llama.block_count', shape.layers),
    numberEntry('llama.feed_forward_length', shape.hidden),
    numberEntry('llama.attention.head_count', shape.heads),
    numberEntry('llama.attention.head_count_kv', shape.heads),
    numberEntry('llama.rope.dimension_count', shape.width / shape.heads),
    numberEntry('llama.vocab_size', tokens.length),
    entry('llama.attention.layer_norm_rms_epsilon', valueType.float32, floats([1e-5])),
    stringEntry('tokenizer.ggml.model', 'llama'),
    arrayEntry(
      'tokenizer.ggml.tokens',
      valueType.string,
      tokens.map((token) => string(token.text)),
    ),
    arrayEntry(
      'tokenizer.ggml.scores',
      valueType.float32,
      tokens.map((_, i) => floats([-i])),
    ),
    arrayEntry(
      'tokenizer.ggml.token_type',
      valueType.int32,
      tokens.map((token) => uint32(token.kind)),
    ),
    numberEntry('tokenizer.ggml.unknown_token_id', index('<unk>')),
    numberEntry('tokenizer.ggml.bos_token_id', index('<s>')),
    numberEntry('tokenizer.ggml.eos_token_id', index('</s>')),
    numberEntry('tokenizer.ggml.eot_token_id', index('<|im_end|>')),
    entry('tokenizer.ggml.add_bos_token', valueType.bool, Buffer.from([1])),
  ];
}

function drawTensors(tokens: readonly VocabularyToken[], shape: RandomModelShape): Tensor[] {
  const random = createRandom(seed);
  const { width, hidden, layers } = shape;
  const norm = (name: string) => ({
    name: `${name}.weight`,
    dimensions: [width],
    values: new Float32Array(width).fill(1),
  });
  const matrix = (name: string, columns: number, rows: number) => ({
    name: `${name}.weight`,
    dimensions: [columns, rows],
    values: draw(columns * rows, random, 1 / Math.sqrt(columns)),
  });
  const block = (layer: number) => [
    norm(`blk.${layer}.attn_norm`),
    ...['attn_q', 'attn_k', 'attn_v', 'attn_output'].map((name) =>
      matrix(`blk.${layer}.${name}`, width, width),
    ),
    norm(`blk.${layer}.ffn_norm`),
    matrix(`blk.${layer}.ffn_gate`, width, hidden),
    matrix(`blk.${layer}.ffn_up`, width, hidden),
    matrix(`blk.${layer}.ffn_down`, hidden, width),
  ];
  const output = {
    name: 'output.weight',
    dimensions: [width, tokens.length],
    values: drawOutput(tokens, shape.width, random),
  };
  return [
    matrix('token_embd', width, tokens.length),
    ...Array.from({ length: layers }, (_, layer) => block(layer)).flat(),
    norm('output_norm'),
    output,
  ];
}

/** A deviation of 3 among the logits makes answers varied, yet far from uniform. */
function drawOutput(
  tokens: readonly VocabularyToken[],
  width: number,
  random: () => number,
): Float32Array {
  const values = new Float32Array(tokens.length * width);
  for (const [row, token] of tokens.entries()) {
    if (!token.isSpoken) continue;
    values.set(draw(width, random, 3 / Math.sqrt(width)), row * width);
  }
  return values;
}

/** Uniform values: only multiplication, so every machine rounds them alike. */
function draw(count: number, random: () => number, deviation: number): Float32Array {
  const reach = deviation * Math.sqrt(3);
  return Float32Array.from({ length: count }, () => (random() * 2 - 1) * reach);
}

/** The generator mulberry32: 32 bits of state, the same sequence everywhere. */
function createRandom(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
