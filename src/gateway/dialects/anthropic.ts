import { readAnswer, readBodyUsage } from './anthropic/answer.ts';
import { readFailure } from './anthropic/failure.ts';
import { MessageReader } from './anthropic/reader.ts';
import { writeChat } from './anthropic/request.ts';
import { findUnsupported } from './anthropic/unsupported.ts';
import { MessageWatch } from './anthropic/watch.ts';
import type { Dialect } from './dialect.ts';

const path = '/messages';

/** Anthropic's Messages API, version 2023-06-01. */
export const anthropicDialect: Dialect = {
  name: 'anthropic',
  framing: 'events',
  lastWord: {
    text: 'message_stop',
    event: 'event: message_stop\ndata: {"type":"message_stop"}\n\n',
    line: /^(?:event: ?message_stop|data: ?\{\s*"type"\s*:\s*"message_stop")/m,
  },
  continuesAnswers: true,
  credential: (apiKey) => ({ 'x-api-key': apiKey, 'anthropic-version': '2023-06-01' }),
  unsupported: findUnsupported,
  writeChat: (request, model) => ({ path, body: writeChat(request, model) }),
  chatPath: () => path,
  readAnswer,
  readUsage: readBodyUsage,
  openReader: () => new MessageReader(),
  openWatch: () => new MessageWatch(),
  readFailure,
};
