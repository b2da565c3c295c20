import { Pool } from 'undici';
import { findOnlyChild } from '../proc.ts';
import { modelName, startModelsService } from './models-service.ts';
import { sequences, type Way } from './way.ts';

interface Answer {
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

/** The service of models behind HTTP, with a token, asked whole answers in OpenAI's dialect. */
export async function openHttp(modelPath: string): Promise<Way> {
  const { url, authorization } = await startModelsService(modelPath);
  const pool = new Pool(url, { connections: sequences });
  const complete: Way['complete'] = async ({ text, answerTokens }, onFirst) => {
    const prompt = { model: modelName, prompt: text, max_tokens: answerTokens };
    const answer = await pool.request({
      method: 'POST',
      path: '/v1/completions',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ ...prompt, temperature: 0, seed: 1 }),
    });
    const body = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(body);
    onFirst();
    // The dialect is our own contract's.
    const { usage } = JSON.parse(body) as Answer;
    return { promptTokens: usage.prompt_tokens, answerTokens: usage.completion_tokens };
  };
  // The first request starts the process with the model.
  await complete({ text: 'water', answerTokens: 1 }, () => {});
  const modelPid = await findOnlyChild();
  return { complete, modelPid: () => modelPid };
}
