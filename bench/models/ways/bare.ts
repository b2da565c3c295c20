import { getLlama, LlamaLogLevel } from 'node-llama-cpp';
import { contextTokens, sequences, threads, type Way } from './way.ts';

/** node-llama-cpp in this very process: tokens are made and not even turned into text. */
export async function openBare(modelPath: string): Promise<Way> {
  const llama = await getLlama({
    gpu: false,
    build: 'never',
    maxThreads: threads,
    logLevel: LlamaLogLevel.error,
  });
  const model = await llama.loadModel({ modelPath });
  const context = await model.createContext({
    sequences,
    contextSize: contextTokens,
    threads,
    flashAttention: 'auto',
  });
  // As llama.cpp's own programs and the runtime begin a prompt.
  const { bos, shouldPrependBosToken } = model.tokens;
  const begin = bos !== null && shouldPrependBosToken ? [bos] : [];
  const idle = Array.from({ length: sequences }, () => context.getSequence());
  return {
    modelPid: () => process.pid,
    complete: async ({ text, answerTokens }, onFirst) => {
      const sequence = idle.pop();
      if (!sequence) throw new Error('more requests than sequences');
      await sequence.clearHistory();
      const tokens = [...begin, ...model.tokenize(text)];
      let count = 0;
      for await (const token of sequence.evaluate(tokens, { temperature: 0 })) {
        if (count === 0) onFirst();
        count += token >= 0 ? 1 : 0;
        if (count === answerTokens) break;
      }
      idle.push(sequence);
      return { promptTokens: tokens.length, answerTokens: count };
    },
  };
}
