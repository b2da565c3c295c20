import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';

const command = Type.Object(
  {
    transcription: Type.String({ minLength: 1, maxLength: 10_000 }),
    confidence: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'of whoever transcribed it; below 0.5 nothing is done but to ask back',
    }),
    session_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        description:
          'of the answer before: a command goes on where the last one ended, and may be its yes',
      }),
    ),
  },
  { $id: 'VoiceCommand' },
);

const feedback = Type.Object(
  {
    speech: Type.String({ description: 'what is to be said' }),
    action: Type.String({
      description: 'what was done, such as `new_conversation`; `clarify`: nothing, it asks back',
    }),
    session_id: Type.String(),
    conversation_id: Type.Optional(Type.String({ description: 'that the session is in' })),
    turn_id: Type.Optional(Type.String({ description: 'of an answer of a model' })),
  },
  { $id: 'VoiceFeedback' },
);

/** Commands in words. */
export const voiceRoutes = {
  voiceCommand: {
    method: 'POST',
    url: '/api/voice/command',
    summary: 'Do what a spoken command says',
    description:
      'Takes text: nothing here turns speech into text, nor text into speech. A small English grammar understands commands (`help` lists them), a model the rest; what is no command is a question whose answer is spoken. Before something is deleted, or a tool called, it asks for a yes in the same session.',
    schema: { body: command, response: { 200: feedback } },
  },
} as const satisfies Readonly<Record<string, Route>>;
