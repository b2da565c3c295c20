import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../kit/testing.ts';
import { writeRandomModel } from '../random-model/random-gguf.ts';
import type { Runtime } from './runtime.ts';
import { ChildRuntime } from './child-runtime.ts';

let folder: string;
let runtime: Runtime;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ennead-foreign-'));
  runtime = new ChildRuntime({ log: silentLog, threads: 1 });
});
afterEach(async () => {
  await runtime[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

async function ask(modelPath: string): Promise<void> {
  const prompt = { messages: [{ role: 'user', content: 'the user' }] } as const;
  for await (const _ of runtime.generate({ modelPath, prompt, maxTokens: 2 }));
}

const bad = { code: 'invalid', reason: 'bad_model_file' };

/** Each process that dies is followed by another, which takes its time on a busy machine. */
const timeoutMs = 180_000;

/** A model with which llama.cpp aborts at the first token. */
async function writeKiller(path: string): Promise<Buffer> {
  await writeRandomModel(path);
  const content = await readFile(path);
  const key = 'layer_norm_rms_epsilon';
  // Behind the key stands the kind of the value, which must not be below 0.
  content.writeFloatLE(-1, content.indexOf(key) + key.length + 4);
  await writeFile(path, content);
  return content;
}

test(
  'a file that ends the process at the mark that prompts begin with is bad at once',
  async () => {
    const path = join(folder, 'killer.gguf');
    await writeKiller(path);
    await expect(runtime.load({ modelPath: path })).rejects.toMatchObject(bad);
    expect(await runtime.flawOf(path)).toMatchObject(bad);
    await expect(ask(path)).rejects.toMatchObject(bad);
  },
  timeoutMs,
);

test(
  'a file without that mark that ends the process whenever it answers is bad from the second time on',
  async () => {
    const path = join(folder, 'killer.gguf');
    const content = await writeKiller(path);
    const key = 'tokenizer.ggml.add_bos_token';
    content.writeUInt8(0, content.indexOf(key) + key.length + 4);
    await writeFile(path, content);
    await runtime.load({ modelPath: path });
    await expect(ask(path)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await runtime.flawOf(path)).toBeUndefined();
    await expect(ask(path)).rejects.toMatchObject(bad);
    expect(await runtime.flawOf(path)).toMatchObject(bad);
    await expect(ask(path)).rejects.toMatchObject(bad);
  },
  timeoutMs,
);

test(
  'a chat template that does not end makes a bad file, and is run once only',
  async () => {
    await using impatient = new ChildRuntime({ log: silentLog, threads: 1, templateMs: 100 });
    const path = join(folder, 'endless.gguf');
    const loops = '{% for i in range(100000) %}'.repeat(4);
    await writeRandomModel(path, { chatTemplate: `${loops}x${'{% endfor %}'.repeat(4)}` });
    const message = 'the model file cannot be loaded: its chat template does not end';
    const load = () => impatient.load({ modelPath: path });
    await expect(load()).rejects.toMatchObject({ ...bad, message });
    const { pid } = impatient;
    await expect(load()).rejects.toMatchObject({ ...bad, message });
    expect(impatient.pid).toBe(pid);
    expect(await impatient.flawOf(path)).toMatchObject(bad);
  },
  timeoutMs,
);
