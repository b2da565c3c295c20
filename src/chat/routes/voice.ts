import type { Handler } from '../../kit/http/call.ts';
import type { voiceRoutes } from '../schemas/voice.ts';
import type { Voice } from '../voice/voice.ts';

type Routes = typeof voiceRoutes;

/** The edge of spoken commands. */
export function voiceHandlers({ voice }: { readonly voice: Voice }): {
  readonly [K in keyof Routes]: Handler<Routes[K]>;
} {
  return {
    voiceCommand: async ({ identity, credential, body }) => {
      const { transcription, confidence, session_id: sessionId } = body;
      const command = { transcription, confidence, ...(sessionId && { sessionId }) };
      const done = await voice.obey({ identity, credential }, command);
      return {
        speech: done.speech,
        action: done.action,
        session_id: done.sessionId,
        ...(done.conversationId && { conversation_id: done.conversationId }),
        ...(done.turnId && { turn_id: done.turnId }),
      };
    },
  };
}
