import type { Dialect } from './dialect.ts';
import { readAnswer, readBodyUsage } from './gemini/answer.ts';
import { geminiEmbeddings } from './gemini/embeddings.ts';
import { readFailure } from './gemini/failure.ts';
import { geminiImages } from './gemini/images.ts';
import { ContentReader } from './gemini/reader.ts';
import { writeChat } from './gemini/request.ts';
import { findUnsupported } from './gemini/unsupported.ts';
import { ReadingWatch } from './reading-watch.ts';

/** Google's Gemini API, v1beta. */
export const geminiDialect: Dialect = {
  name: 'gemini',
  framing: 'events',
  continuesAnswers: true,
  credential: (apiKey) => ({ 'x-goog-api-key': apiKey }),
  unsupported: findUnsupported,
  writeChat: (request, model) => ({
    path: chatPath(model, request.isStream),
    body: writeChat(request, model),
  }),
  chatPath,
  readAnswer,
  readUsage: readBodyUsage,
  openReader: () => new ContentReader(),
  openWatch: () => new ReadingWatch(new ContentReader(), 'events'),
  readFailure,
  embeddings: geminiEmbeddings,
  images: geminiImages,
};

function chatPath(model: string, isStream: boolean): string {
  const name = encodeURIComponent(model);
  return isStream
    ? `/models/${name}:streamGenerateContent?alt=sse`
    : `/models/${name}:generateContent`;
}
