import type { Usage } from '../../conversation/answer.ts';
import type { ImageRequest, Images } from '../../conversation/image.ts';
import type { ImageDialect } from '../dialect.ts';
import { firstUnsaid } from '../harmless-fields.ts';
import { countIn, listIn, recordIn, textIn } from '../untrusted.ts';
import type { Json } from '../json.ts';
import { UpstreamError } from '../upstream-error.ts';
import { expectResponse, isCounted, readFinish, readHead, readUsage } from './answer.ts';
import { traitsOf } from './models.ts';

/**
 * `:generateContent` with pictures alone for an answer, one a request. Its pictures come as bytes; of
 * their size it is told the shape, and from its third generation on one of three resolutions.
 */
export const geminiImages: ImageDialect = { unsupported: findUnsupported, write, read };

const known: ReadonlySet<string> = new Set(['size', 'response_format']);

function findUnsupported({ count = 1, options }: ImageRequest, model: string): string | undefined {
  // Imagen had an API of its own, `:predict`, which Google has shut down.
  if (model.startsWith('imagen')) return 'model';
  if (count > 1) return 'n';
  if (options['response_format'] === 'url') return 'response_format';
  const { size } = options;
  if (isChosen(size) && !readSize(size, model)) return 'size';
  const chosen = Object.entries(options).filter(([, value]) => isChosen(value));
  return firstUnsaid(Object.fromEntries(chosen), known);
}

function write({ prompt, options: { size } }: ImageRequest, model: string) {
  const imageConfig = isChosen(size) ? readSize(size, model) : undefined;
  return {
    path: `/models/${encodeURIComponent(model)}:generateContent`,
    body: {
      contents: [{ role: 'user', parts: [{ text: prompt }] }],
      generationConfig: { responseModalities: ['IMAGE'], ...(imageConfig && { imageConfig }) },
    },
  };
}

/** `auto` is what comes when nothing is said. */
function isChosen(value: unknown): boolean {
  return value !== undefined && value !== null && value !== 'auto';
}

const shapes: readonly (readonly [number, number])[] = [
  [1, 1],
  [2, 3],
  [3, 2],
  [3, 4],
  [4, 3],
  [4, 5],
  [5, 4],
  [9, 16],
  [16, 9],
  [21, 9],
];

/** Up to so many pixels, each twice what the resolution has itself. */
const resolutions = [
  ['1K', 2 * 1024 ** 2],
  ['2K', 2 * 2048 ** 2],
  ['4K', 4096 ** 2],
] as const;

/** The shape and the nearest resolution; undefined for a size that is not of a shape it knows. */
function readSize(size: unknown, model: string): Json | undefined {
  const [, width, height] = /^(\d{1,5})x(\d{1,5})$/.exec(String(size)) ?? [];
  const [wide, high] = [Number(width), Number(height)];
  const shape = shapes.find(([across, down]) => wide * down === high * across);
  const found = resolutions.find(([, pixels]) => wide * high <= pixels);
  if (!shape || !found || wide === 0) return undefined;
  const aspectRatio = shape.join(':');
  if (traitsOf(model).isThird) return { aspectRatio, imageSize: found[0] };
  return found[0] === '1K' ? { aspectRatio } : undefined;
}

function read(body: unknown): Images {
  const response = expectResponse(body);
  const candidates = listIn(response.candidates).map(recordIn);
  const pictures = candidates.flatMap(picturesIn);
  if (pictures.length === 0) throw withoutPicture(candidates[0]);
  const usage = isCounted(response) ? readCounts(response) : undefined;
  const format = /^image\/(png|jpeg|webp)$/.exec(textIn(pictures[0]?.mimeType) ?? '')?.[1];
  const said = {
    created: readHead(response).createdAt,
    data: pictures.map(({ data }) => ({ b64_json: data })),
    ...(format !== undefined && { output_format: format }),
    ...(usage && { usage: writeCounts(usage) }),
  };
  return { said, count: pictures.length, usage };
}

/** What it drew while it thought is left out. */
function picturesIn(candidate: Json): Json[] {
  const parts = listIn(recordIn(candidate.content).parts).map(recordIn);
  return parts
    .filter(({ thought }) => thought !== true)
    .map(({ inlineData }) => recordIn(inlineData))
    .filter(({ data }) => textIn(data) !== undefined);
}

function withoutPicture(candidate: Json | undefined): UpstreamError {
  const reason = textIn(candidate?.finishReason);
  if (reason !== undefined && readFinish(reason, false) === 'content-filter') {
    const message = `the provider makes no image of this prompt: ${reason}`;
    return new UpstreamError({ kind: 'filtered', message, code: reason });
  }
  return UpstreamError.of('broken', 'the provider answered without an image');
}

/** Its thoughts, and words that it could not help, are no pictures. */
function readCounts(response: Json): Usage {
  const usage = readUsage(response);
  const { candidatesTokenCount, candidatesTokensDetails } = recordIn(response.usageMetadata);
  const details = listIn(candidatesTokensDetails).map(recordIn);
  const ofImages = details.filter(({ modality }) => modality === 'IMAGE');
  const counted = ofImages.reduce((sum, { tokenCount }) => sum + countIn(tokenCount), 0);
  const imageTokens = details.length > 0 ? counted : countIn(candidatesTokenCount);
  return { ...usage, imageTokens: Math.min(imageTokens, usage.outputTokens) };
}

function writeCounts({ inputTokens, outputTokens, imageTokens = 0 }: Usage): Json {
  return {
    input_tokens: inputTokens,
    input_tokens_details: { text_tokens: inputTokens, image_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { text_tokens: outputTokens - imageTokens, image_tokens: imageTokens },
    total_tokens: inputTokens + outputTokens,
  };
}
