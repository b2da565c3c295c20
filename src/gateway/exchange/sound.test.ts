import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  json,
  openAiAnswer,
  startGateway,
  startProvider,
  type ScriptedProvider,
} from '../testing.ts';

let upstream: ScriptedProvider;
let gateway: Awaited<ReturnType<typeof startGateway>>;

beforeAll(async () => {
  upstream = await startProvider();
  gateway = await startGateway();
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

const sound = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } };
const heard = [{ role: 'user', content: [sound] }];

test('sound that was heard has the price of sound, in an answer that is translated', async () => {
  const models = [{ name: 'gemini-2.5-flash' }];
  await gateway.put('gemini', { dialect: 'gemini', baseUrl: `${upstream.url}/v1beta`, models });
  const audio = (tokenCount: number) => [
    { modality: 'TEXT', tokenCount: 1 },
    { modality: 'AUDIO', tokenCount },
  ];
  upstream.script(
    json({
      candidates: [{ content: { parts: [{ text: 'hi' }] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: {
        promptTokenCount: 1_000_000,
        promptTokensDetails: audio(900_000),
        cachedContentTokenCount: 200_000,
        cacheTokensDetails: audio(100_000),
        candidatesTokenCount: 0,
      },
    }),
  );
  const body = { model: 'gemini/gemini-2.5-flash', messages: heard };
  const answer = await gateway.call('POST', '/api/v1/chat/completions', body);
  expect(answer.body.usage.prompt_tokens_details).toMatchObject({ audio_tokens: 900_000 });
  // 800,000 heard at 1 dollar, of the cache 100,000 heard at 0.1 and 100,000 read at 0.03.
  expect(answer.body.usage.cost).toBe(0.813);
});

test('an operator who says what a prompt costs says it of sound too', async () => {
  const models = [{ name: 'gpt-audio', inputCostPerMToken: 1, outputCostPerMToken: 1 }];
  await gateway.put('openai', { dialect: 'openai', baseUrl: `${upstream.url}/v1`, models });
  expect(await costOfSpeaking()).toBe(0.002);
});

test('who names a model for sound is let through, and nobody else is sent there', async () => {
  const models = ['gpt-audio', 'gpt-4o-audio-preview', 'voxtral-small-latest'];
  const named = models.map((name) => ({ name }));
  await gateway.put('openai', { dialect: 'openai', baseUrl: `${upstream.url}/v1`, models: named });
  // 1,000 heard at 32 dollars a million, 1,000 spoken at 64.
  expect(await costOfSpeaking()).toBe(0.096);
  expect(upstream.received.at(-1)?.body).toMatchObject({ modalities: ['text', 'audio'] });
  for (const model of models) {
    const answer = await gateway.call('POST', '/v1/chat/completions', { model, messages: heard });
    expect(answer.status, model).toBe(200);
  }
  const messages = [{ role: 'user', content: 'hi' }];
  const decision = await gateway.call('POST', '/api/v1/route', { messages });
  const candidates: { model: string }[] = decision.body.candidates ?? [];
  expect(candidates.map(({ model }) => model)).toEqual(['gemini-2.5-flash']);
});

async function costOfSpeaking(): Promise<number> {
  upstream.script(
    json(
      openAiAnswer('hi', {
        usage: {
          prompt_tokens: 1_000,
          completion_tokens: 1_000,
          total_tokens: 2_000,
          prompt_tokens_details: { audio_tokens: 1_000 },
          completion_tokens_details: { audio_tokens: 1_000 },
        },
      }),
    ),
  );
  const modalities = ['text', 'audio'];
  const body = { model: 'openai/gpt-audio', messages: heard, modalities };
  const answer = await gateway.call('POST', '/api/v1/chat/completions', body);
  return answer.body.usage.cost;
}
