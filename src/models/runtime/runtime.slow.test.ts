import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { randomModelFile, randomModelName, writeRandomModel } from '../random-model/random-gguf.ts';
import type { GenerateEnd, SpokenEvent, ToolCall } from '../inference/request.ts';
import type { RuntimeRequest } from './request.ts';
import type { Runtime, RuntimeOptions } from './runtime.ts';
import { ChildRuntime } from './child-runtime.ts';

const log = pino({ level: 'silent' });
let folder: string;
let modelPath: string;
let shared: Runtime;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ennead-runtime-'));
  modelPath = join(folder, randomModelFile);
  await writeRandomModel(modelPath);
  shared = create();
});

afterAll(async () => {
  await shared[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

function create(options: Partial<RuntimeOptions> = {}): Runtime {
  return new ChildRuntime({ log, threads: 1, ...options });
}

/** A request that runs for about a thousand tokens, unless told otherwise. */
function ask(options: Partial<RuntimeRequest> = {}): RuntimeRequest {
  return { modelPath, prompt: { text: 'one two three' }, temperature: 0, ...options };
}

interface Answer {
  readonly texts: readonly string[];
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly end: GenerateEnd;
}

async function collect(events: AsyncIterable<SpokenEvent>): Promise<Answer> {
  const texts: string[] = [];
  const calls: ToolCall[] = [];
  for await (const event of events) {
    if (event.type === 'end') return { texts, text: texts.join(''), calls, end: event };
    if (event.type === 'text') texts.push(event.text);
    else calls.push(event.call);
  }
  throw new Error('the stream ended without an end event');
}

async function write(options: Partial<RuntimeRequest>): Promise<string> {
  const answer = await collect(shared.generate(ask({ maxTokens: 60, ...options })));
  return answer.text;
}

async function countChatTokens(content: string): Promise<number> {
  const prompt = { messages: [{ role: 'user', content } as const] };
  const { end } = await collect(shared.generate(ask({ prompt, maxTokens: 1 })));
  return end.usage.promptTokens;
}

/** Starts a request and answers it once its first text is there. */
async function begin(
  runtime: Runtime,
  options: Partial<RuntimeRequest> = {},
  signal?: AbortSignal,
) {
  const events = runtime.generate(ask(options), signal ? { signal } : {})[Symbol.asyncIterator]();
  const first = await events.next();
  expect(first.value).toMatchObject({ type: 'text' });
  const rest = { [Symbol.asyncIterator]: () => events };
  return { rest, leave: () => events.return?.() };
}

describe('a request that cannot be served', () => {
  test('for a file that is not there is not_found, and starts no process', async () => {
    await using runtime = create();
    const request = ask({ modelPath: join(folder, 'absent.gguf') });
    await expect(collect(runtime.generate(request))).rejects.toMatchObject({ code: 'not_found' });
    expect(runtime.state).toBe('idle');
  });

  test('for a folder or a file that is no GGUF file is invalid', async () => {
    const path = join(folder, 'text.gguf');
    await writeFile(path, 'GIF89a');
    for (const wrong of [path, folder]) {
      const answer = collect(shared.generate(ask({ modelPath: wrong })));
      await expect(answer).rejects.toMatchObject({ code: 'invalid' });
    }
  });

  test('for a GGUF file that is cut off is invalid, and the runtime lives on', async () => {
    const path = join(folder, 'cut.gguf');
    const whole = await readFile(modelPath);
    await writeFile(path, whole.subarray(0, whole.length / 2));
    const answer = collect(shared.generate(ask({ modelPath: path })));
    await expect(answer).rejects.toMatchObject({ code: 'invalid' });
    expect(await shared.flawOf(path)).toMatchObject({ code: 'invalid' });
    expect(await shared.flawOf(modelPath)).toBeUndefined();
    const next = await collect(shared.generate(ask({ maxTokens: 1 })));
    expect(next.end.usage.completionTokens).toBe(1);
    expect(shared.loaded().map((model) => model.path)).toEqual([modelPath]);
  });

  test('with a prompt beyond the context is invalid and names both sizes', async () => {
    const prompt = { text: 'the '.repeat(3000) };
    await expect(collect(shared.generate(ask({ prompt })))).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringMatching(/3\d\d\d tokens, the context 2048/),
    });
  });

  test('with a text that no tokenizer could fit is refused before a process is started', async () => {
    await using runtime = create();
    const text = 'the '.repeat(40_000);
    const embedder = join(folder, 'short-embedder.gguf');
    await writeRandomModel(embedder, { isEmbedding: true });
    const refusal = {
      code: 'invalid',
      reason: 'context_length_exceeded',
      message: expect.stringContaining('the context of 2048 tokens takes at most 131072'),
    };
    const tools = [{ name: 'a', description: text }];
    const messages = [{ role: 'user', content: 'a' } as const];
    for (const request of [{ prompt: { text } }, { prompt: { messages }, tools }]) {
      await expect(collect(runtime.generate(ask(request)))).rejects.toMatchObject(refusal);
    }
    const embedding = runtime.embed({ modelPath: embedder, texts: ['a', text] });
    await expect(embedding).rejects.toMatchObject(refusal);
    expect(runtime.state).toBe('idle');
  });

  test.for<Partial<RuntimeRequest>>([
    { temperature: -1 },
    { temperature: Number.NaN },
    { topP: 0 },
    { topK: 1.5 },
    { seed: 0.5 },
    { maxTokens: 0 },
    { deadlineMs: 0 },
    { stop: [''] },
    { stop: Array.from({ length: 17 }, () => 'x') },
    { prompt: { messages: [] } },
  ])('with %j is invalid', async (options) => {
    const answer = collect(shared.generate(ask(options)));
    await expect(answer).rejects.toMatchObject({ code: 'invalid' });
  });

  test('whose signal is aborted already is cancelled, and starts no process', async () => {
    await using runtime = create();
    const answer = collect(runtime.generate(ask(), { signal: AbortSignal.abort() }));
    await expect(answer).rejects.toMatchObject({ code: 'cancelled' });
    expect(runtime.state).toBe('idle');
  });

  test('within its deadline is deadline, also while it waits', async () => {
    const answer = collect(shared.generate(ask({ deadlineMs: 1 })));
    await expect(answer).rejects.toMatchObject({ code: 'deadline' });
  });

  test('because too many wait is exhausted and says when to come again', async () => {
    await using runtime = create({ parallel: 1, queueMax: 1 });
    const answers = Array.from({ length: 3 }, () =>
      collect(runtime.generate(ask({ maxTokens: 3 }))),
    );
    const outcomes = await Promise.allSettled(answers);
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused.map(({ reason }) => reason)).toMatchObject([{ code: 'exhausted' }]);
    expect(refused[0]?.reason.retryAfter).toBeGreaterThanOrEqual(1);
  });
});

describe('a place in the batch', () => {
  // Sixty whole answers would take far longer than the test may.
  test('is free again when callers abort or leave', async () => {
    await using runtime = create({ parallel: 1 });
    for (let i = 0; i < 30; i++) {
      const { leave } = await begin(runtime);
      await leave();
      const controller = new AbortController();
      const { rest } = await begin(runtime, {}, controller.signal);
      controller.abort();
      await expect(collect(rest)).rejects.toMatchObject({ code: 'cancelled' });
    }
    const after = await collect(runtime.generate(ask({ maxTokens: 2 })));
    expect(after.end.usage.completionTokens).toBe(2);
  });

  test('is free again when a request runs out of its time, or of the time of all', async () => {
    await using runtime = create({ parallel: 1, deadlineMs: 60_000 });
    await runtime.load({ modelPath });
    const late = collect(runtime.generate(ask({ deadlineMs: 5 })));
    await expect(late).rejects.toMatchObject({ code: 'deadline' });
    const after = await collect(runtime.generate(ask({ maxTokens: 2 })));
    expect(after.end.usage.completionTokens).toBe(2);
    await using hasty = create({ deadlineMs: 1 });
    await expect(collect(hasty.generate(ask()))).rejects.toMatchObject({ code: 'deadline' });
  });

  test('is shared: a short request overtakes three long ones that began before it', async () => {
    const controller = new AbortController();
    const long = await Promise.all([1, 2, 3].map(() => begin(shared, {}, controller.signal)));
    const { end } = await collect(shared.generate(ask({ maxTokens: 5 })));
    controller.abort();
    expect(end.usage.completionTokens).toBe(5);
    const outcomes = await Promise.allSettled(long.map(({ rest }) => collect(rest)));
    expect(outcomes).toMatchObject([1, 2, 3].map(() => ({ reason: { code: 'cancelled' } })));
  });
});

describe('the memory', () => {
  test('that is full is given up by an idle model, and never by a busy one', async () => {
    const other = join(folder, 'other.gguf');
    await copyFile(modelPath, other);
    // Enough for one of them.
    await using runtime = create({ memoryBytes: 30 * 2 ** 20 });
    const { leave } = await begin(runtime);
    const second = collect(runtime.generate(ask({ modelPath: other, maxTokens: 1 })));
    expect(runtime.loaded().map(({ path }) => path)).toEqual([modelPath]);
    await leave();
    expect((await second).end.usage.completionTokens).toBe(1);
    expect(runtime.loaded().map(({ path }) => path)).toEqual([other]);
    await using small = create({ memoryBytes: 2 ** 20 });
    await expect(collect(small.generate(ask()))).rejects.toMatchObject({
      code: 'invalid',
      reason: 'insufficient_memory',
      detail: { budgetBytes: 2 ** 20, neededBytes: expect.any(Number) },
    });
    expect(small.state).toBe('idle');
    expect(await small.flawOf(modelPath)).toMatchObject({ reason: 'insufficient_memory' });
  });
});

describe('a completion', () => {
  test('comes in pieces while it is made', async () => {
    const { texts } = await collect(shared.generate(ask({ maxTokens: 300 })));
    expect(texts.length).toBeGreaterThan(1);
  });

  test('is counted exactly as it was evaluated', async () => {
    const prompt = { text: 'the user' };
    const { text, end } = await collect(shared.generate(ask({ prompt, maxTokens: 20 })));
    expect(text.trim().split(' ')).toHaveLength(20);
    expect(end.finishReason).toBe('length');
    // The begin mark and two words.
    expect(end.usage).toMatchObject({ promptTokens: 3, completionTokens: 20 });
    expect(end.timings.promptMs).toBeGreaterThan(0);
    expect(end.timings.generateMs).toBeGreaterThan(0);
  });

  test('fills the context and no more when nothing else ends it', async () => {
    const prompt = { text: 'the '.repeat(2000) };
    const { end } = await collect(shared.generate(ask({ prompt })));
    expect(end.finishReason).toBe('length');
    expect(end.usage.promptTokens + end.usage.completionTokens).toBe(2047);
  });

  test('reads a prompt of many blocks', async () => {
    const prompt = { text: 'the '.repeat(1500) };
    const { end } = await collect(shared.generate(ask({ prompt, maxTokens: 2 })));
    expect(end.usage.promptTokens).toBeGreaterThan(1500);
  });

  test('ends with stop when the model samples its end mark', async () => {
    const seeds = Array.from({ length: 20 }, (_, seed) => seed);
    const answers = await Promise.all(
      seeds.map((seed) => collect(shared.generate(ask({ temperature: 1, seed, maxTokens: 400 })))),
    );
    const stopped = answers.filter(({ end }) => end.finishReason === 'stop');
    expect(stopped.length).toBeGreaterThan(0);
    for (const { text, end } of stopped) {
      expect(text).not.toContain('<|im_end|>');
      expect(end.usage.completionTokens).toBeLessThan(400);
    }
  });

  test('ends before a stop text that spans tokens', async () => {
    const { text } = await collect(shared.generate(ask({ maxTokens: 12 })));
    const [, , third = '', fourth = ''] = text.trim().split(' ');
    const stop = `${third.slice(-1)} ${fourth.slice(0, 1)}`;
    const stopped = await collect(shared.generate(ask({ stop: [stop] })));
    expect(stopped.text).toBe(text.slice(0, text.indexOf(stop)));
    expect(stopped.end.finishReason).toBe('stop');
  });

  test('is the same again at temperature 0 or with the same seed, and another with another', async () => {
    expect(await write({})).toBe(await write({}));
    const sampled = await write({ temperature: 1, seed: 7 });
    expect(await write({ temperature: 1, seed: 7 })).toBe(sampled);
    expect(await write({ temperature: 1, seed: 8 })).not.toBe(sampled);
  });

  test('of messages uses the template of the file, and no caller can forge its marks', async () => {
    // Two turns of four marks and the letters of their frame; far less than as plain letters.
    expect(await countChatTokens('a')).toBeLessThan(16);
    expect((await countChatTokens('a<|im_end|>')) - (await countChatTokens('a'))).toBe(
      '<|im_end|>'.length,
    );
  });
});

describe('the child process', () => {
  test('takes only its running requests with it, and the next request starts another', async () => {
    await using runtime = create({ parallel: 1 });
    const { rest } = await begin(runtime);
    const waiting = collect(runtime.generate(ask({ maxTokens: 5 })));
    await vi.waitUntil(() => runtime.pid !== undefined);
    const pid = runtime.pid ?? 0;
    process.kill(pid, 'SIGKILL');
    await expect(collect(rest)).rejects.toMatchObject({ code: 'unavailable' });
    expect((await waiting).end.usage.completionTokens).toBe(5);
    expect(runtime.pid).not.toBe(pid);
    expect(runtime.state).toBe('ready');
  });

  test('takes the requests of all its models with it, embeddings too, and all come back', async () => {
    const embedder = join(folder, 'embedder.gguf');
    await writeRandomModel(embedder, { isEmbedding: true });
    await using runtime = create();
    const texts = Array.from({ length: 2000 }, () => 'the water is hot '.repeat(40));
    const { rest } = await begin(runtime);
    await runtime.load({ modelPath: embedder });
    const embedding = runtime.embed({ modelPath: embedder, texts });
    const refused = expect(embedding).rejects.toMatchObject({ code: 'unavailable' });
    await vi.waitUntil(() => runtime.loaded().some(({ expiresAt }) => !expiresAt));
    process.kill(runtime.pid ?? 0, 'SIGKILL');
    await refused;
    await expect(collect(rest)).rejects.toMatchObject({ code: 'unavailable' });
    const [vectors, text] = await Promise.all([
      runtime.embed({ modelPath: embedder, texts: ['the'] }),
      collect(runtime.generate(ask({ maxTokens: 1 }))),
    ]);
    expect([vectors.dimensions, text.end.usage.completionTokens]).toEqual([64, 1]);
  });

  test('is replaced when it does not let go of a request that ran out of time', async () => {
    await using runtime = create({ cancelGraceMs: 50 });
    const { rest } = await begin(runtime);
    const pid = runtime.pid ?? 0;
    process.kill(pid, 'SIGSTOP');
    const late = collect(runtime.generate(ask({ deadlineMs: 20 })));
    await expect(late).rejects.toMatchObject({ code: 'deadline' });
    await expect(collect(rest)).rejects.toMatchObject({ code: 'unavailable' });
    const next = await collect(runtime.generate(ask({ maxTokens: 2 })));
    expect(next.end.usage.completionTokens).toBe(2);
    expect(runtime.pid).not.toBe(pid);
    expect(isAlive(pid)).toBe(false);
  });

  test('is not started again at once when it keeps dying', async () => {
    await using runtime = create();
    for (let i = 0; i < 2; i++) {
      const { rest } = await begin(runtime);
      process.kill(runtime.pid ?? 0, 'SIGKILL');
      await expect(collect(rest)).rejects.toMatchObject({ code: 'unavailable' });
    }
    expect(runtime.state).toBe('crashed');
    await expect(collect(runtime.generate(ask()))).rejects.toMatchObject({
      code: 'unavailable',
      retryAfter: 1,
    });
    expect(runtime.pid).toBeUndefined();
  });

  test('ends when its models are idle, and comes back with the next request', async () => {
    await using runtime = create({ idleUnloadMs: 1 });
    const { rest } = await begin(runtime);
    const pid = runtime.pid ?? 0;
    expect(runtime.loaded()).toMatchObject([{ name: randomModelName, contextTokens: 2048 }]);
    await collect(rest);
    await vi.waitUntil(() => runtime.state === 'idle');
    expect(runtime.loaded()).toEqual([]);
    await vi.waitUntil(() => !isAlive(pid), 10_000);
    const again = await collect(runtime.generate(ask({ maxTokens: 1 })));
    expect(again.end.finishReason).toBe('length');
  });

  test('ends with the runtime, which lets the running request finish and refuses the waiting', async () => {
    const runtime = create({ parallel: 1 });
    const { rest } = await begin(runtime, { maxTokens: 300 });
    const pid = runtime.pid ?? 0;
    const refused = collect(runtime.generate(ask()));
    refused.catch(() => {});
    await Promise.all([
      runtime[Symbol.asyncDispose](),
      expect(refused).rejects.toMatchObject({ code: 'unavailable' }),
      expect(collect(rest)).resolves.toMatchObject({ end: { finishReason: 'length' } }),
    ]);
    expect(isAlive(pid)).toBe(false);
  });

  test('is ended by a runtime that has waited long enough for its requests', async () => {
    const runtime = create({ closeGraceMs: 1 });
    const { rest } = await begin(runtime);
    const cut = expect(collect(rest)).rejects.toMatchObject({ code: 'unavailable' });
    await runtime[Symbol.asyncDispose]();
    await cut;
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
