import { describe, expect, test } from 'vitest';
import { newModel, newProvider, toForm, toSettings, type Configured } from './provider-settings.ts';

const configured: Configured = {
  name: 'acme',
  origin: 'api',
  dialect: 'anthropic',
  baseUrl: 'https://acme.example/v1',
  hasApiKey: true,
  keyCount: 1,
  models: [
    {
      name: 'large',
      capabilities: ['chat', 'tools'],
      inputCostPerMToken: 2,
      outputCostPerMToken: 8,
      cachedInputCostPerMToken: 0.5,
      quality: 0.8,
      contextWindow: 128_000,
      maxOutput: 16_384,
    },
  ],
  weight: 2,
  priority: -1,
  rateLimit: { requestsPerMinute: 600 },
  timeouts: { firstTokenMs: 1_000, idleMs: 2_000, totalMs: 3_000 },
  limits: { stopsMax: 4 },
  headers: { 'x-team': '***' },
};

describe('the settings of a provider', () => {
  test('come back from the form as they were, without a key', () => {
    const settings = toSettings({ ...toForm(configured), modelSource: 'settings' });
    const { name: _name, origin: _origin, hasApiKey, keyCount, ...same } = configured;
    expect([hasApiKey, keyCount]).toEqual([true, 1]);
    expect(settings).toEqual(same);
  });

  test('name models only where they are not the provider’s own', () => {
    expect(toSettings({ ...toForm(configured), modelSource: 'provider' }).models).toBeUndefined();
  });

  test('leave out what a new one does not say', () => {
    const form = { ...newProvider, baseUrl: ' https://a.example/v1 ' };
    expect(toSettings(form)).toEqual({ dialect: 'openai', baseUrl: 'https://a.example/v1' });
    const models = [{ ...newModel, name: 'm' }];
    expect(toSettings({ ...form, modelSource: 'settings', models }).models).toEqual([
      { name: 'm' },
    ]);
  });

  test('have one key, several, none, or those that are stored', () => {
    const keysOf = (keys: string, dropsKeys = false) => {
      const { apiKey, apiKeys } = toSettings({ ...newProvider, keys, dropsKeys });
      return { apiKey, apiKeys };
    };
    expect(keysOf('one')).toEqual({ apiKey: 'one', apiKeys: undefined });
    expect(keysOf('one\n\ntwo')).toEqual({ apiKey: undefined, apiKeys: ['one', 'two'] });
    expect(keysOf('', true)).toEqual({ apiKey: null, apiKeys: undefined });
    expect(keysOf('')).toEqual({ apiKey: undefined, apiKeys: undefined });
  });

  test('have headers as they are written', () => {
    const { headers } = toSettings({ ...newProvider, headers: 'x-a: b:c\n x-d:***' });
    expect(headers).toEqual({ 'x-a': 'b:c', 'x-d': '***' });
  });
});
