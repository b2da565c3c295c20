import type { Dialect } from './dialect.ts';
import { readAnswer, readUsage } from './openai/answer.ts';
import { chatPath, findUnsupported, writeChat } from './openai/chat-body.ts';
import { openAiEmbeddings } from './openai/embeddings.ts';
import { readFailure } from './openai/failure.ts';
import { openAiImages } from './openai/images.ts';
import { OpenAiReader } from './openai/reader.ts';
import { OpenAiWatch } from './openai/watch.ts';

/** OpenAI's chat completions, as OpenAI and all who are compatible with it speak them. */
export const openAiDialect: Dialect = {
  name: 'openai',
  framing: 'events',
  lastWord: {
    text: '[DONE]',
    event: 'data: [DONE]\n\n',
    line: /^data: ?\[DONE\]/m,
  },
  credential: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  unsupported: findUnsupported,
  writeChat: (request, model) => ({ path: chatPath, body: writeChat(request, model) }),
  chatPath: () => chatPath,
  readAnswer,
  readUsage,
  openReader: () => new OpenAiReader(),
  openWatch: () => new OpenAiWatch(),
  readFailure,
  // Some servers would, each by a flag of its own; the others answer anew.
  continuesAnswers: false,
  embeddings: openAiEmbeddings,
  images: openAiImages,
};
