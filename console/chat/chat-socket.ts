import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { openSocket } from '../api/events.ts';
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

const delaysMs = [500, 2_000, 5_000, 15_000];

/** Keeps what is shown in step with the service, and with the user's other tabs. */
export function useChatSocket(): void {
  const client = useQueryClient();
  useEffect(() => {
    const line = new ChatLine(client);
    return () => line[Symbol.dispose]();
  }, [client]);
}

/** A socket that comes back when it is lost. */
class ChatLine implements Disposable {
  readonly #client: QueryClient;
  #socket: WebSocket;
  #losses = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(client: QueryClient) {
    this.#client = client;
    this.#socket = this.#connect();
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#socket.close();
  }

  #connect(): WebSocket {
    const socket = openSocket('chat', '/ws');
    socket.addEventListener('open', () => this.#onOpen());
    socket.addEventListener('message', ({ data }) => this.#take(JSON.parse(String(data)) as Frame));
    socket.addEventListener('close', () => this.#onLoss());
    return socket;
  }

  #onOpen(): void {
    // What happened while nobody listened is asked for.
    if (this.#losses > 0) void this.#client.invalidateQueries({ queryKey: ['chat'] });
    this.#losses = 0;
  }

  #onLoss(): void {
    if (this.#isClosed) return;
    const delayMs = delaysMs[Math.min(this.#losses, delaysMs.length - 1)];
    this.#losses += 1;
    this.#timer = setTimeout(() => void this.#comeBack(), delayMs);
  }

  /** Asking renews a session whose token has run out, which ends sockets too. */
  async #comeBack(): Promise<void> {
    await askListAnew(this.#client);
    if (!this.#isClosed) this.#socket = this.#connect();
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
