import { describe, expect, test } from 'vitest';
import type { AnswerEvent } from '../conversation/answer.ts';
import { anthropicDialect } from './anthropic.ts';
import { geminiDialect } from './gemini.ts';
import { ollamaDialect } from './ollama.ts';
import { framed, readAll } from './testing.ts';

const text = 'so it is, and so it was';
const estimate = { inputTokens: 0, outputTokens: 6, isEstimated: true };
const parts = { content: { parts: [{ text }] }, finishReason: 'STOP' };
const done = { message: { content: text }, done: true, done_reason: 'stop' };

const message = { id: 'a', model: 'm', content: [{ type: 'text', text }], stop_reason: 'end_turn' };
const stream = [
  { type: 'message_start', message: { id: 'a', model: 'm' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
  { type: 'message_stop' },
];

describe('an answer whose provider counts nothing', () => {
  test.each([
    [anthropicDialect, message],
    [geminiDialect, { candidates: [parts] }],
    [ollamaDialect, done],
  ])('is counted by its text: $name', (dialect, body) => {
    expect(dialect.readAnswer(body).usage).toEqual(estimate);
    expect(dialect.readUsage(body)).toEqual(estimate);
  });

  test.each([
    [anthropicDialect, stream],
    [geminiDialect, [{ candidates: [parts] }]],
    [ollamaDialect, [done]],
  ])('says no count in a stream: $name', (dialect, values) => {
    const events: AnswerEvent[] = readAll(dialect.openReader(), values);
    expect(events.at(-1)?.type).toBe('end');
    expect(events.filter((event) => 'usage' in event)).toEqual([]);
    const watch = dialect.openWatch();
    const lines = values.map((value) => `${JSON.stringify(value)}\n`).join('');
    watch.see(dialect.framing === 'lines' ? Buffer.from(lines) : framed(values));
    expect(watch).toMatchObject({ isEnded: true, usage: undefined });
  });
});

describe('a count that cannot be one', () => {
  test.each([-3, 2.5, 1e13])('is nothing: %s', (count) => {
    const usage = { input_tokens: count, output_tokens: 2 };
    const none = { inputTokens: 0, outputTokens: 2 };
    expect(anthropicDialect.readUsage({ ...message, usage })).toEqual(none);
    const usageMetadata = { promptTokenCount: count, candidatesTokenCount: 2 };
    expect(geminiDialect.readUsage({ candidates: [parts], usageMetadata })).toEqual(none);
    const counted = { ...done, prompt_eval_count: count, eval_count: 2 };
    expect(ollamaDialect.readUsage(counted)).toEqual(none);
  });
});
