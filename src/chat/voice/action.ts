import { Fault } from '../../kit/errors.ts';

/** What a command asks for. */
export type VoiceAction =
  | { readonly action: 'new_conversation'; readonly title?: string }
  | { readonly action: 'open_conversation'; readonly name: string }
  /** Without a name: the one that the session is in. */
  | { readonly action: 'rename_conversation'; readonly name?: string; readonly title: string }
  | { readonly action: 'delete_conversation'; readonly name?: string }
  | { readonly action: 'list_conversations' }
  | {
      readonly action: 'search_conversations';
      readonly query: string;
      readonly isGuess?: boolean;
    }
  | { readonly action: 'list_agents' }
  | { readonly action: 'list_models' }
  | { readonly action: 'list_tools' }
  | { readonly action: 'agent_status'; readonly name: string; readonly isGuess?: boolean }
  | { readonly action: 'ask_agent'; readonly name: string; readonly task: string }
  /** Of what an agent was asked last. */
  | { readonly action: 'task_status' }
  | { readonly action: 'stop' }
  | { readonly action: 'read_answer' }
  | { readonly action: 'send_message'; readonly text: string }
  | { readonly action: 'help' };

/** What was done, and what is to be said of it. */
export interface Deed {
  readonly action: string;
  readonly speech: string;
  readonly turnId?: string;
}

/** Asks back; nothing was done. */
export function clarify(speech: string): Deed {
  return { action: 'clarify', speech };
}

/** A refusal, as it is said; what is no refusal but a bug of ours is thrown again. */
export function sayFault(error: unknown): Deed {
  const fault = Fault.from(error);
  if (fault.code === 'not_found')
    return { action: 'not_found', speech: 'That is not there any more.' };
  if (fault.code === 'forbidden') {
    return { action: 'refused', speech: `You may not do that: ${fault.message}.` };
  }
  if (fault.code === 'exhausted') {
    return {
      action: 'refused',
      speech: 'That was too much at once. Wait a little, and say it again.',
    };
  }
  if (fault.code === 'internal') throw error;
  return { action: 'failed', speech: `That did not work: ${fault.message}.` };
}
