import type { ServerContext } from '@modelcontextprotocol/server';
import type { McpCaller } from './tools.ts';

type SenderOptions = Pick<Sender, 'session' | 'leave'>;

/** Travels through the SDK from the HTTP request to the tool. */
export class Sender {
  readonly caller: McpCaller;
  readonly session: string | undefined;
  /** Ends the HTTP request without an answer; absent where that would take other answers along. */
  readonly leave: (() => void) | undefined;

  constructor({ identity, requestId, span }: McpCaller, { session, leave }: SenderOptions) {
    this.caller = { identity, requestId, span };
    this.session = session;
    this.leave = leave;
  }

  /** The sender of the message that is being handled. */
  static of(context: ServerContext): Sender {
    const sender = context.http?.authInfo?.extra?.['sender'];
    if (sender instanceof Sender) return sender;
    throw new Error('the message came without its sender');
  }
}
