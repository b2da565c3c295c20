import { silentLog } from '../../../src/kit/testing.ts';
import { ChildRuntime } from '../../../src/models/runtime/child-runtime.ts';
import { contextTokens, sequences, threads, type Way } from './way.ts';

/** The runtime of models: a child process of its own, a queue, text that comes in pieces. */
export async function openRuntime(modelPath: string): Promise<Way> {
  const runtime = new ChildRuntime({
    log: silentLog,
    parallel: sequences,
    threads,
    contextTokensMax: contextTokens,
  });
  await runtime.load({ modelPath, keepAliveMs: Infinity });
  return {
    modelPid: () => runtime.pid ?? 0,
    complete: async ({ text, answerTokens }, onFirst) => {
      // With a seed no prompt is remembered, as none is in the bare loop.
      const request = { prompt: { text }, temperature: 0, seed: 1, maxTokens: answerTokens };
      let isFirst = true;
      for await (const event of runtime.generate({ ...request, modelPath })) {
        if (event.type === 'end') {
          const { promptTokens, completionTokens } = event.usage;
          return { promptTokens, answerTokens: completionTokens };
        }
        if (isFirst) onFirst();
        isFirst = false;
      }
      throw new Error('the runtime ended without its end event');
    },
  };
}
