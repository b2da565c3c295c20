import type { Dialect } from './dialect.ts';
import { readAnswer, readBodyUsage } from './ollama/answer.ts';
import { ollamaEmbeddings } from './ollama/embeddings.ts';
import { readFailure } from './ollama/failure.ts';
import { LineReader } from './ollama/reader.ts';
import { writeChat } from './ollama/request.ts';
import { findUnsupported } from './ollama/unsupported.ts';
import { ReadingWatch } from './reading-watch.ts';

const path = '/api/chat';

/** Ollama's own API. */
export const ollamaDialect: Dialect = {
  name: 'ollama',
  framing: 'lines',
  continuesAnswers: true,
  credential: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  unsupported: findUnsupported,
  writeChat: (request, model) => ({ path, body: writeChat(request, model) }),
  chatPath: () => path,
  readAnswer,
  readUsage: readBodyUsage,
  openReader: () => new LineReader(),
  openWatch: () => new ReadingWatch(new LineReader(), 'lines'),
  readFailure,
  embeddings: ollamaEmbeddings,
};
