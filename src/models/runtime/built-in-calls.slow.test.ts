import { join } from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { ChatMessage, Tool } from '../inference/request.ts';
import { builtInFolder } from '../library/built-in.ts';
import { writeToolsAsText } from './child/plain-tools.ts';
import type { RuntimeRequest } from './request.ts';
import type { Runtime } from './runtime.ts';
import { ChildRuntime } from './child-runtime.ts';

const cities = ['Paris', 'London', 'Berlin', 'Rome', 'Madrid', 'Oslo', 'Vienna', 'Lisbon'];
const questions = cities.flatMap((city) =>
  [
    `What is the weather in ${city}?`,
    `Tell me the weather in ${city}.`,
    `Get the weather for ${city}`,
  ].map((content) => ({ city, messages: [{ role: 'user', content }] satisfies ChatMessage[] })),
);

const weather: Tool = {
  name: 'get_weather',
  description: 'the weather of a city',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

/** The answer as it was trained to be written. */
async function write(runtime: Runtime, request: Omit<RuntimeRequest, 'modelPath'>) {
  const modelPath = join(builtInFolder, 'ennead-tiny.gguf');
  const asked = { modelPath, temperature: 0, maxTokens: 100, ...request };
  let written = '';
  for await (const event of runtime.generate(asked, { subject: 'anna' })) {
    if (event.type === 'text') written += event.text;
    if (event.type !== 'tool-call') continue;
    const { name, arguments: given } = event.call;
    written += JSON.stringify({ name, arguments: given });
  }
  return written.replaceAll(/(?<=[:,]) /g, '');
}

test('a call is at least as often right by the grammar as the model writes it by itself', async () => {
  await using runtime = new ChildRuntime({ log: pino({ level: 'silent' }), threads: 1 });
  const right = { alone: 0, auto: 0, required: 0 };
  for (const { city, messages } of questions) {
    const wanted = JSON.stringify({ name: weather.name, arguments: { city } });
    const tools = [weather];
    const alone = { prompt: { messages: writeToolsAsText(messages, tools) } };
    const asked = { prompt: { messages }, tools };
    if ((await write(runtime, alone)) === wanted) right.alone++;
    if ((await write(runtime, asked)) === wanted) right.auto++;
    if ((await write(runtime, { ...asked, toolChoice: 'required' })) === wanted) right.required++;
  }
  expect(right.alone).toBeGreaterThan(questions.length / 2);
  expect(right.auto).toBeGreaterThanOrEqual(right.alone);
  expect(right.required).toBeGreaterThanOrEqual(right.alone);
});
