// Completes prompts, as its parent orders, in one way: `bare` is node-llama-cpp alone, `runtime` the
// runtime of models, `http` its service behind HTTP, `llama-server` llama.cpp's own server.
import { openBare } from './ways/bare.ts';
import { openHttp } from './ways/http.ts';
import { openLlamaServer } from './ways/llama-server.ts';
import { openRuntime } from './ways/runtime.ts';
import type { Account, Order } from './orders.ts';
import { readCpuMs, readMemoryBytes } from './proc.ts';
import type { Way } from './ways/way.ts';

const ways: Readonly<Record<string, (modelPath: string) => Promise<Way>>> = {
  bare: openBare,
  runtime: openRuntime,
  http: openHttp,
  'llama-server': openLlamaServer,
};
const [name = '', modelPath = ''] = process.argv.slice(2);
const open = ways[name];
if (!open) throw new Error(`there is no way ${name}`);
const way = await open(modelPath);
process.on('message', (order: Order) => void carryOut(order));
process.on('disconnect', () => process.exit());
process.send?.('ready');

async function carryOut(order: Order): Promise<void> {
  const { parallel, requests, promptWords, answerTokens } = order;
  const before = await readCpu();
  const startedAt = performance.now();
  const counts = { promptTokens: 0, answerTokens: 0, taken: 0 };
  const firstMs: number[] = [];
  const tookMs: number[] = [];
  const work = async () => {
    while (counts.taken < requests) {
      const number = counts.taken++;
      const from = performance.now();
      const text = promptOf(promptWords, number);
      const done = await way.complete({ text, answerTokens }, () => {
        firstMs.push(performance.now() - from);
      });
      tookMs.push(performance.now() - from);
      counts.promptTokens += done.promptTokens;
      counts.answerTokens += done.answerTokens;
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  const wallMs = performance.now() - startedAt;
  const after = await readCpu();
  process.send?.({
    wallMs,
    promptTokens: counts.promptTokens,
    answerTokens: counts.answerTokens,
    firstMs,
    tookMs,
    cpuMs: after.own - before.own,
    modelCpuMs: after.model - before.model,
    memoryBytes: await readMemoryBytes(way.modelPid()),
  } satisfies Account);
}

async function readCpu() {
  const modelPid = way.modelPid();
  const model = modelPid === process.pid ? 0 : await readCpuMs(modelPid);
  return { own: await readCpuMs(process.pid), model };
}

/** Words of the model's vocabulary, each about one token; no prompt begins as another one. */
function promptOf(words: number, number: number): string {
  const some = ['water', 'people', 'number', 'sound', 'word', 'time', 'way', 'day'];
  const texts = Array.from({ length: words }, (_, i) => some[(i * 5 + number * 3 + (i >> 3)) % 8]);
  return `${number} ${texts.join(' ')}`;
}
