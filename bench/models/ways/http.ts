import { Pool } from 'undici';
import { findOnlyChild } from '../proc.ts';
import { modelName, startModelsService } from './models-service.ts';
import { postStreamed } from './streamed.ts';
import { sequences, type Way } from './way.ts';

interface LastEvent {
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

/** The service of models behind HTTP, with a token, asked for streams in OpenAI's dialect. */
export async function openHttp(modelPath: string): Promise<Way> {
  const { url, authorization } = await startModelsService(modelPath);
  const pool = new Pool(url, { connections: sequences });
  const complete: Way['complete'] = async ({ text, answerTokens }, onFirst) => {
    const body = {
      model: modelName,
      prompt: text,
      max_tokens: answerTokens,
      temperature: 0,
      seed: 1,
      stream: true,
      stream_options: { include_usage: true },
    };
    const request = { path: '/v1/completions', headers: { authorization }, body };
    const events = await postStreamed(pool, request, onFirst);
    // The dialect is our own contract's.
    const { usage } = events.at(-1) as LastEvent;
    return { promptTokens: usage.prompt_tokens, answerTokens: usage.completion_tokens };
  };
  // The first request starts the process with the model.
  await complete({ text: 'water', answerTokens: 1 }, () => {});
  const modelPid = await findOnlyChild();
  return { complete, modelPid: () => modelPid };
}
