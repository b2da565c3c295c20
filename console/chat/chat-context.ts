import { createContext, useContext, useSyncExternalStore } from 'react';
import type { LiveTurn } from './turns/live-turn.ts';
import { TurnStore } from './turns/turn-store.ts';

/** What outlasts the conversation that is shown. */
export interface ChatState {
  readonly turns: TurnStore;
  /** What was written and not sent yet, by conversation; of a new one by an empty id. */
  readonly drafts: Map<string, string>;
}

export function makeChatState(): ChatState {
  return { turns: new TurnStore(), drafts: new Map() };
}

export const ChatContext = createContext<ChatState>(makeChatState());

export function useChat(): ChatState {
  return useContext(ChatContext);
}

/** The turn of a conversation that this page reads. */
export function useTurn(conversationId: string): LiveTurn | undefined {
  const { turns } = useChat();
  return useSyncExternalStore(turns.subscribe, () => turns.turnOf(conversationId));
}
