import { describeFault } from '../envelope.ts';
import type { Face } from './face.ts';
import { readChat } from './openai/read-chat.ts';
import { ChatStream } from './openai/stream.ts';
import { writeAnswer } from './openai/write-answer.ts';

/** OpenAI's chat completions, which are the interface's endpoint too. */
export const openAiFace: Face = {
  name: 'openai',
  dialect: 'openai',
  read: readChat,
  writeAnswer: (answer) => writeAnswer(answer),
  openStream: ({ wantsUsage = false }) => new ChatStream(wantsUsage),
  // No `[DONE]` follows: to clients that would be the end of a whole answer.
  writeFailure: (fault) => `data: ${JSON.stringify({ error: describeFault(fault) })}\n\n`,
};
