import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { generateImage } from 'ai';
import { describe, expect, test } from 'vitest';
import type { ImageRequest } from '../../conversation/image.ts';
import { failureOf, SentRequest } from '../testing.ts';
import { geminiImages } from './images.ts';

const third = 'gemini-3-pro-image';
const second = 'gemini-2.5-flash-image';
const request = (options: ImageRequest['options'] = {}, count?: number): ImageRequest => ({
  model: 'm',
  prompt: 'a cat',
  count,
  options,
});
const picture = { inlineData: { mimeType: 'image/jpeg', data: '/9j/' } };
const answerOf = (parts: readonly unknown[], finishReason = 'STOP') => ({
  candidates: [{ content: { role: 'model', parts }, finishReason, index: 0 }],
});
const read = (body: unknown) => geminiImages.read(body, request());

describe('images of Gemini', () => {
  test.each<readonly [string, ImageRequest, string]>([
    ['n', request({}, 2), third],
    ['response_format', request({ response_format: 'url' }), third],
    ['size', request({ size: '1792x1024' }), third],
    ['size', request({ size: '8192x8192' }), third],
    ['size', request({ size: '0x0' }), third],
    ['size', request({ size: 'large' }), third],
    ['size', request({ size: '2048x2048' }), second],
    ['quality', request({ quality: 'hd' }), third],
    ['style', request({ style: 'vivid' }), third],
    ['background', request({ background: 'transparent' }), third],
    ['moderation', request({ moderation: 'low' }), third],
    ['output_format', request({ output_format: 'webp' }), third],
    ['output_compression', request({ output_compression: 50 }), third],
    ['unheard', request({ unheard: 1 }), third],
    ['model', request(), 'imagen-4.0-generate-001'],
  ])('are refused for %s in %j', (param, asked, model) => {
    expect(geminiImages.unsupported(asked, model)).toBe(param);
  });

  test('are asked for with what it has words for, or need not know', () => {
    const options = {
      size: 'auto',
      quality: 'auto',
      background: null,
      response_format: 'b64_json',
      user: 'u',
    };
    expect(geminiImages.unsupported(request(options, 1), second)).toBeUndefined();
    const { body } = geminiImages.write(request(options), second);
    expect(body['generationConfig']).toEqual({ responseModalities: ['IMAGE'] });
  });

  test.each([
    ['1024x1024', third, { aspectRatio: '1:1', imageSize: '1K' }],
    ['1536x1024', third, { aspectRatio: '3:2', imageSize: '1K' }],
    ['2048x1152', third, { aspectRatio: '16:9', imageSize: '2K' }],
    ['4096x4096', third, { aspectRatio: '1:1', imageSize: '4K' }],
    ['1024x1536', second, { aspectRatio: '2:3' }],
  ])('of %s have their shape and the nearest resolution of %s', (size, model, imageConfig) => {
    expect(geminiImages.unsupported(request({ size }), model)).toBeUndefined();
    const { body } = geminiImages.write(request({ size }), model);
    expect(body['generationConfig']).toMatchObject({ imageConfig });
  });

  test("are asked for as Google's provider of the AI SDK does", async () => {
    const sent = new SentRequest(answerOf([picture]));
    const google = createGoogleGenerativeAI({ apiKey: 'k', fetch: sent.fetch });
    await generateImage({ model: google.image(second), prompt: 'a cat', aspectRatio: '3:2' });
    const { path, body } = geminiImages.write(request({ size: '1536x1024' }), second);
    expect(sent.url.endsWith(path)).toBe(true);
    expect(sent.body).toMatchObject(body);
  });

  test.each([
    ['nothing', {}, 'broken'],
    ['words alone', answerOf([{ text: 'I cannot.' }]), 'broken'],
    ['a picture that it only thought of', answerOf([{ ...picture, thought: true }]), 'broken'],
    ['a picture without bytes', answerOf([{ inlineData: {} }]), 'broken'],
    ['no picture for its safety', answerOf([], 'IMAGE_SAFETY'), 'filtered'],
    ['no picture for a reason unknown', answerOf([], 'NO_IMAGE'), 'broken'],
    ['a refused prompt', { promptFeedback: { blockReason: 'SAFETY' } }, 'filtered'],
    ['an error', { error: { code: 503, message: 'no', status: 'UNAVAILABLE' } }, 'broken'],
  ])('fail when %s comes', (_what, body, kind) => {
    expect(failureOf(() => read(body)).kind).toBe(kind);
  });

  test("come in OpenAI's words, with what they took", () => {
    const made = read({
      ...answerOf([{ text: 'Here it is.' }, picture]),
      createTime: '2026-11-22T00:00:00Z',
      usageMetadata: {
        promptTokenCount: 4,
        candidatesTokenCount: 1_300,
        thoughtsTokenCount: 100,
        candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1_290 }],
      },
    });
    expect(made).toMatchObject({
      count: 1,
      said: {
        created: 1_795_305_600,
        data: [{ b64_json: '/9j/' }],
        output_format: 'jpeg',
        usage: {
          input_tokens: 4,
          output_tokens: 1_400,
          output_tokens_details: { image_tokens: 1_290, text_tokens: 110 },
          total_tokens: 1_404,
        },
      },
      usage: { inputTokens: 4, outputTokens: 1_400, imageTokens: 1_290 },
    });
  });
});
