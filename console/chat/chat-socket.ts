import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { LastingSocket } from '../api/lasting-socket.ts';
import { askListAnew } from './conversations/conversation-list-query.ts';
import type { Conversation, Message } from './thread/messages.ts';
import { askThreadAnew, tellConversation, tellMessage } from './thread/thread-query.ts';

/** What is told here of all that happens in the user's conversations, in whichever tab. */
type Frame =
  | { readonly event: 'message'; readonly data: { conversation_id: string; message: Message } }
  | { readonly event: 'conversation'; readonly data: ConversationNews }
  | { readonly event: 'tool_call' | 'approval' | 'tool_result' }
  | { readonly event: 'gap'; readonly data: { readonly id?: string } };

interface ConversationNews {
  readonly type: 'created' | 'changed' | 'deleted';
  readonly conversation_id: string;
  readonly conversation?: Conversation;
}

/** Keeps what is shown in step with the service, and with the user's other tabs. */
export function useChatSocket(): void {
  const client = useQueryClient();
  useEffect(() => {
    const line = new ChatLine(client);
    return () => line[Symbol.dispose]();
  }, [client]);
}

class ChatLine implements Disposable {
  readonly #client: QueryClient;
  readonly #socket: LastingSocket;
  #wasLost = false;

  constructor(client: QueryClient) {
    this.#client = client;
    this.#socket = new LastingSocket('chat', {
      path: () => '/ws',
      onOpen: () => this.#onOpen(),
      // The service writes frames by its contract.
      onMessage: (text) => this.#take(JSON.parse(text) as Frame),
      onLoss: () => (this.#wasLost = true),
      // Asking renews a session whose token has run out, which ends sockets too.
      beforeReturn: () => askListAnew(client),
    });
  }

  [Symbol.dispose](): void {
    this.#socket[Symbol.dispose]();
  }

  #onOpen(): void {
    // What happened while nobody listened is asked for.
    if (this.#wasLost) void this.#client.invalidateQueries({ queryKey: ['chat'] });
    this.#wasLost = false;
  }

  #take(frame: Frame): void {
    const client = this.#client;
    switch (frame.event) {
      case 'message':
        return tellMessage(client, frame.data.conversation_id, frame.data.message);
      case 'conversation':
        return this.#takeConversation(frame.data);
      case 'tool_call':
      case 'approval':
      case 'tool_result':
        return void client.invalidateQueries({
          queryKey: ['chat', 'GET /api/conversations/:id/approvals'],
        });
      case 'gap':
        return void client.invalidateQueries({ queryKey: ['chat'] });
    }
  }

  #takeConversation({ type, conversation_id: id, conversation }: ConversationNews): void {
    void askListAnew(this.#client);
    if (type === 'deleted') void askThreadAnew(this.#client, id);
    if (conversation) tellConversation(this.#client, conversation);
  }
}
