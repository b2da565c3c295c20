import { writeAnswer } from './anthropic/answer.ts';
import { writeFailure } from './anthropic/envelope.ts';
import { readRequest } from './anthropic/request.ts';
import { MessageStream } from './anthropic/stream.ts';
import type { Face } from './face.ts';

/** Anthropic's Messages API, as its clients speak it. */
export const anthropicFace: Face = {
  name: 'anthropic',
  dialect: 'anthropic',
  read: readRequest,
  writeAnswer,
  openStream: (request) => new MessageStream(request.model),
  writeFailure,
};
