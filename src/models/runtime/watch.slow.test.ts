import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { silentLog } from '../../kit/testing.ts';
import type { SpokenEvent } from '../inference/request.ts';
import { randomModelFile, writeRandomModel } from '../random-model/random-gguf.ts';
import { readActivity } from './activity.ts';
import type { Runtime } from './runtime.ts';
import { ChildRuntime } from './child-runtime.ts';

let folder: string;
let modelPath: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ennead-watch-'));
  modelPath = join(folder, randomModelFile);
  await writeRandomModel(modelPath, { isEndless: true });
});

afterAll(() => rm(folder, { recursive: true }));

function create(stallMs: number): Runtime {
  return new ChildRuntime({ log: silentLog, threads: 1, stallMs });
}

function ask(runtime: Runtime, maxTokens: number): AsyncIterable<SpokenEvent> {
  return runtime.generate({ modelPath, prompt: { text: 'one two' }, temperature: 0, maxTokens });
}

async function count(events: AsyncIterable<SpokenEvent>): Promise<number | undefined> {
  for await (const event of events) if (event.type === 'end') return event.usage.completionTokens;
  return undefined;
}

/** Starts an answer and stops the child in the middle of it. */
async function stopInAnswer(runtime: Runtime) {
  const events = ask(runtime, 1000)[Symbol.asyncIterator]();
  await events.next();
  const pid = runtime.pid ?? 0;
  process.kill(pid, 'SIGSTOP');
  return { pid, rest: { [Symbol.asyncIterator]: () => events } };
}

describe.runIf(process.platform === 'linux')('a model process', () => {
  test('that is stopped in an answer is replaced, and its requests fail as in a crash', async () => {
    await using runtime = create(3_000);
    const { pid, rest } = await stopInAnswer(runtime);
    await expect(count(rest)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'the local model process died',
    });
    expect(await readActivity(pid)).toBeUndefined();
    expect(await count(ask(runtime, 2))).toBe(2);
    expect(runtime.pid).not.toBe(pid);
  });

  test('that is stopped while it has nothing to do is noticed before anybody asks', async () => {
    await using runtime = create(3_000);
    await count(ask(runtime, 1));
    process.kill(runtime.pid ?? 0, 'SIGSTOP');
    await vi.waitUntil(() => runtime.state === 'crashed', 20_000);
    expect(await count(ask(runtime, 2))).toBe(2);
  });

  test('that is stopped and goes on in time answers as if nothing had been', async () => {
    await using runtime = create(60_000);
    const { pid, rest } = await stopInAnswer(runtime);
    process.kill(pid, 'SIGCONT');
    expect(await count(rest)).toBe(1000);
    expect(runtime.pid).toBe(pid);
  });

  test('that works is left alone far beyond the limit, also while it cannot answer', async () => {
    await using runtime = create(1000);
    await count(ask(runtime, 1));
    const { pid } = runtime;
    const before = await readActivity(pid ?? 0);
    // Of one long word llama.cpp makes tokens in seconds, at once.
    const text = 'a'.repeat(16_000);
    const answers = [1, 2, 3].map(() =>
      count(runtime.generate({ modelPath, prompt: { text }, maxTokens: 1 })).catch(() => 0),
    );
    await Promise.all([...answers, count(ask(runtime, 1500))]);
    const after = await readActivity(pid ?? 0);
    expect((after?.cpuMs ?? 0) - (before?.cpuMs ?? 0)).toBeGreaterThan(1000);
    expect(runtime.pid).toBe(pid);
  });
});
