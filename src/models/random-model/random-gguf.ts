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
  type TensorType,
} from './gguf-encoding.ts';
import { norm, WeightDrawer } from './random-weights.ts';

/** The name of the file in a models folder, for tests and measurements. */
export const randomModelFile = 'ennead-random.gguf';

/** What `general.name` of the file says, so that nobody takes its answers for a model's. */
export const randomModelName = 'Ennead random weights';

/** What `general.description` says, and what a listing should show. */
export const randomModelDescription =
  'Random weights, never trained: the output is gibberish. It proves the path from request to tokens.';

/** The context that the file declares, in tokens. */
export const randomModelContextTokens = 2048;

/** What is not as usual about it: else it is small, completes texts, and its template knows no tools. */
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
  /** Heads of keys and values, where they are fewer than those of queries. */
  readonly kvHeads?: number;
  readonly hidden: number;
  /** Of the matrices; `f32` when absent. */
  readonly weights?: TensorType;
  /** At least so many tokens; those beyond the words and bytes are never written. */
  readonly vocabulary?: number;
}

/**
 * Writes a model of random weights unless the file is already there. Same bytes on every machine; the file
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

// llama.cpp's numbers for kinds of tokens.
const meanPooling = 1;
const fileType = { f32: 0, q8_0: 7 };
const tokenKind = { normal: 1, unknown: 2, control: 3, unused: 5, byte: 6 };

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
  const tokens = buildVocabulary(!isEndless, shape.vocabulary);
  const pooling = isEmbedding ? [numberEntry('llama.pooling_type', meanPooling)] : [];
  const template = stringEntry('tokenizer.chat_template', chatTemplate);
  const metadata = [...describeModel(tokens, shape), template, ...pooling];
  return { metadata, tensors: drawTensors(tokens, shape) };
}

/**
 * SentencePiece with byte fallback. It merges pairs from left to right, so a word can only be
 * reached when all of its prefixes are pieces too.
 */
function buildVocabulary(isEndSpoken: boolean, size = 0): VocabularyToken[] {
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
  const used = [...specials, ...bytes, ...normal];
  const unused = Array.from({ length: Math.max(0, size - used.length) }, (_, i) =>
    makeToken(`<unused_${i}>`, tokenKind.unused),
  );
  return [...used, ...unused];
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
    numberEntry('general.file_type', fileType[shape.weights ?? 'f32']),
    numberEntry('general.alignment', alignment),
    numberEntry('llama.context_length', randomModelContextTokens),
    numberEntry('llama.embedding_length', shape.width),
    numberEntry('llama.block_count', shape.layers),
    numberEntry('llama.feed_forward_length', shape.hidden),
    numberEntry('llama.attention.head_count', shape.heads),
    numberEntry('llama.attention.head_count_kv', kvHeadsOf(shape)),
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
  const drawer = new WeightDrawer(shape.weights ?? 'f32');
  const { width, hidden, layers } = shape;
  const kvWidth = (width / shape.heads) * kvHeadsOf(shape);
  const matrix = (name: string, columns: number, rows: number) =>
    drawer.matrix(name, { columns, rows });
  const block = (layer: number) => [
    norm(`blk.${layer}.attn_norm`, width),
    matrix(`blk.${layer}.attn_q`, width, width),
    matrix(`blk.${layer}.attn_k`, width, kvWidth),
    matrix(`blk.${layer}.attn_v`, width, kvWidth),
    matrix(`blk.${layer}.attn_output`, width, width),
    norm(`blk.${layer}.ffn_norm`, width),
    matrix(`blk.${layer}.ffn_gate`, width, hidden),
    matrix(`blk.${layer}.ffn_up`, width, hidden),
    matrix(`blk.${layer}.ffn_down`, hidden, width),
  ];
  const output = drawer.output(
    width,
    tokens.map(({ isSpoken }) => isSpoken),
  );
  return [
    matrix('token_embd', width, tokens.length),
    ...Array.from({ length: layers }, (_, layer) => block(layer)).flat(),
    norm('output_norm', width),
    output,
  ];
}

function kvHeadsOf({ heads, kvHeads = heads }: RandomModelShape): number {
  return kvHeads;
}
