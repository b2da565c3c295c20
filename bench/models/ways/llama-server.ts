import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { findPortBase } from '../../harness/free-ports.ts';
import { llamaCppProgram } from '../llama-cpp.ts';
import { postStreamed } from './streamed.ts';
import { contextTokens, sequences, threads, type Way } from './way.ts';

interface LastEvent {
  readonly tokens_evaluated: number;
  readonly tokens_predicted: number;
}

/** llama.cpp's own server, asked for streams; no prompt is remembered, as in the other ways. */
export async function openLlamaServer(modelPath: string): Promise<Way> {
  const port = await findPortBase();
  const options = [...settings, '--model', modelPath, '--port', String(port)];
  const server = spawn(llamaCppProgram('llama-server') ?? '', options, { stdio: 'ignore' });
  process.on('exit', () => server.kill('SIGKILL'));
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: sequences });
  await untilReady(pool);
  return {
    modelPid: () => server.pid ?? 0,
    complete: async ({ text, answerTokens }, onFirst) => {
      const prompt = { prompt: text, n_predict: answerTokens, ignore_eos: true };
      const body = { ...prompt, temperature: 0, cache_prompt: false, stream: true };
      const events = await postStreamed(pool, { path: '/completion', body }, onFirst);
      // A figure of another shape shows as NaN.
      const { tokens_evaluated, tokens_predicted } = events.at(-1) as LastEvent;
      return { promptTokens: tokens_evaluated, answerTokens: tokens_predicted };
    },
  };
}

const settings = [
  ['--parallel', sequences],
  ['--ctx-size', contextTokens * sequences],
  ['--threads', threads],
  ['--threads-batch', threads],
  ['--cache-ram', 0],
]
  .flat()
  .map(String)
  .concat('--offline', '--log-disable', '--no-slots');

/** Models load within seconds. */
const attemptsMax = 200;

async function untilReady(pool: Pool): Promise<void> {
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const answer = await pool.request({ method: 'GET', path: '/health' }).catch(() => undefined);
    await answer?.body.dump();
    if (answer?.statusCode === 200) return;
    await sleep(100);
  }
  throw new Error('llama-server does not start');
}
