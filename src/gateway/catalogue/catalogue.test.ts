import { calcPrice, findProvider } from '@pydantic/genai-prices';
import { expect, test } from 'vitest';
import type { Usage } from '../conversation/answer.ts';
import { capabilitiesOf } from './capabilities.ts';
import { openCatalogue } from './catalogue.ts';
import { roomOf } from './context-windows.ts';
import { findPreset, presets } from './presets.ts';
import { priceOf } from '../../kit/prices/pricing.ts';
import { qualityOf } from './quality.ts';

const catalogue = await openCatalogue();
const at = new Date('2026-11-20T12:00:00Z');

const usages: readonly Usage[] = [
  { inputTokens: 0, outputTokens: 0 },
  { inputTokens: 1234, outputTokens: 567 },
  { inputTokens: 100_000, outputTokens: 8_000, cachedInputTokens: 90_000 },
  {
    inputTokens: 20_001,
    outputTokens: 333,
    cachedInputTokens: 5000,
    cacheWriteTokens: 7000,
    longCacheWriteTokens: 2000,
  },
  { inputTokens: 300_000, outputTokens: 1000, cacheWriteTokens: 10_000 },
  { inputTokens: 1_000_000, outputTokens: 0, audioInputTokens: 1_000_000 },
  {
    inputTokens: 250_000,
    outputTokens: 2_000,
    cachedInputTokens: 30_000,
    audioInputTokens: 90_000,
    cachedAudioInputTokens: 20_000,
    audioOutputTokens: 1_500,
  },
];

test('a price is what the catalogue itself computes, for every priced model of six providers', () => {
  const ids = ['openai', 'anthropic', 'google', 'mistral', 'xai', 'deepseek'];
  let compared = 0;
  for (const id of ids) {
    const preset = presets.find(({ name, priceId }) => name === id || priceId === id)!;
    const { models } = findProvider({ providerId: preset.priceId! })!;
    for (const { id: model } of models) {
      const question = { provider: preset.name, baseUrl: preset.baseUrl!, model, at };
      const { prices } = catalogue.find(question);
      if (!prices || !calcPrice({}, model, { providerId: preset.priceId!, timestamp: at }))
        continue;
      for (const usage of usages) {
        const options = { providerId: preset.priceId!, timestamp: at };
        const expected = calcPrice(toTheirs(usage), model, options)!.total_price;
        expect(priceOf(usage, prices), `${id} ${model}`).toBeCloseTo(expected, 10);
        compared += 1;
      }
    }
  }
  expect(compared).toBeGreaterThan(500);
});

test('pictures have a price of their own where the catalogue has one', () => {
  const question = { provider: 'openai', baseUrl: '', model: 'gpt-image-1.5', at };
  const { prices } = catalogue.find(question);
  const usage = { inputTokens: 0, outputTokens: 1_000_000, imageTokens: 900_000, images: 1 };
  const expected = calcPrice(
    { output_tokens: 1_000_000, output_image_tokens: 900_000 },
    'gpt-image-1.5',
    { providerId: 'openai', timestamp: at },
  );
  expect(priceOf(usage, prices!)).toBeCloseTo(expected!.total_price, 10);
  expect(priceOf(usage, prices!)).toBeGreaterThan(priceOf({ ...usage, imageTokens: 0 }, prices!));
});

test('a price that changes with the hour is that of its hour', () => {
  const find = (hour: string) =>
    catalogue.find({
      provider: 'deepseek',
      baseUrl: '',
      model: 'deepseek-chat',
      at: new Date(`2026-11-20T${hour}:00:00Z`),
    }).prices?.input;
  expect([find('12'), find('20')]).toEqual([0.27, 0.135]);
});

test('a runtime of the operator costs nothing, and an unknown model has no price', () => {
  const base = { baseUrl: 'http://gpu.internal:8000/v1', at };
  expect(catalogue.find({ ...base, provider: 'vllm', model: 'gpt-4o' }).prices?.input).toBe(0);
  const unknown = { ...base, provider: 'mine', model: 'house-model-7' };
  expect(catalogue.find(unknown).prices).toBeUndefined();
});

test('a provider is known by its address before its name', () => {
  expect(findPreset('work', 'https://api.anthropic.com/v1')?.name).toBe('anthropic');
  expect(findPreset('openai', 'http://127.0.0.1:9/v1')?.name).toBe('openai');
  expect(findPreset('eu', 'https://x.openai.azure.com/openai/v1')?.name).toBe('azure');
  expect(findPreset('mine', 'http://10.0.0.1/v1')).toBeUndefined();
});

test.each([
  ['gpt-5.5', 'gpt-5-mini'],
  ['gpt-5-mini', 'gpt-5-nano'],
  ['claude-opus-5', 'claude-sonnet-4-5'],
  ['claude-sonnet-4-5-20250929', 'claude-haiku-4-5'],
  ['claude-haiku-4-5', 'claude-3-haiku-20240307'],
  ['gemini-2.5-pro', 'gemini-2.5-flash-lite'],
  ['meta-llama/Llama-3.3-70B-Instruct', 'llama3.2:1b'],
  ['openai/gpt-oss-120b', 'gpt-oss:20b'],
  ['qwen3:32b', 'qwen2.5:0.5b'],
  ['unheard-of', 'stories260K'],
])('%s ranks above %s', (better, worse) => {
  expect(qualityOf(better)).toBeGreaterThan(qualityOf(worse));
});

test.each([
  ['gpt-5-mini', ['vision', 'tools', 'json', 'reasoning'], []],
  ['openai/gpt-oss-20b', ['tools', 'reasoning'], ['vision']],
  ['claude-3-haiku-20240307', ['vision', 'tools'], ['reasoning']],
  ['text-embedding-3-small', ['embedding'], ['chat']],
  ['gpt-image-1', ['image'], ['chat']],
  ['whisper-1', [], ['chat', 'embedding']],
  ['gpt-4o-mini-tts', [], ['chat']],
  ['deepseek-reasoner', ['reasoning'], ['vision']],
  ['gpt-audio-mini', ['chat', 'tools'], ['vision']],
  ['gpt-4o-mini-audio-preview', ['chat', 'tools'], ['vision']],
  ['mistralai/Voxtral-Small-24B-2507', ['chat', 'tools', 'json'], ['vision']],
  ['voxtral-mini-transcribe-2507', [], ['chat']],
  ['gemini-2.5-flash-native-audio-preview-12-2025', [], ['chat']],
] as const)('%s can do what its maker says', (model, able, unable) => {
  const capabilities = capabilitiesOf(model);
  for (const one of able) expect(capabilities?.has(one), one).toBe(true);
  for (const one of unable) expect(capabilities?.has(one), one).toBe(false);
});

test('every model that a preset names is known to all tables, with a price', () => {
  for (const { name, baseUrl = '', models = [] } of presets) {
    for (const model of models) {
      const { prices } = catalogue.find({ provider: name, baseUrl, model, at });
      expect(prices, `${name} ${model}`).toBeDefined();
      expect(capabilitiesOf(model)?.size, `${name} ${model}`).toBeGreaterThan(0);
      expect(roomOf(model), `${name} ${model}`).toBeDefined();
    }
  }
});

function toTheirs(usage: Usage): Record<string, number> {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_tokens: usage.cachedInputTokens ?? 0,
    cache_write_tokens: usage.cacheWriteTokens ?? 0,
    cache_write_1h_tokens: usage.longCacheWriteTokens ?? 0,
    input_audio_tokens: usage.audioInputTokens ?? 0,
    cache_audio_read_tokens: usage.cachedAudioInputTokens ?? 0,
    output_audio_tokens: usage.audioOutputTokens ?? 0,
  };
}

test.each([
  ['text-embedding-3-small', 0.02],
  ['openai/text-embedding-3-large', 0.13],
  ['text-embedding-ada-002', 0.1],
])('the vectors of %s have their price whatever the provider is called', (model, input) => {
  const question = { provider: 'x', baseUrl: 'https://proxy.test/v1', model, at };
  expect(catalogue.find(question).prices).toEqual({ input, output: 0 });
  expect(catalogue.find({ ...question, provider: 'vllm' }).prices?.input).toBe(0);
});
