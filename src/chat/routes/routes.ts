import type { Handlers } from '../../kit/http/call.ts';
import type { SocketHandlers } from '../../kit/sockets/socket-handlers.ts';
import type { chatContract } from '../contract.ts';
import type { ChatParts } from '../parts.ts';
import { channelSocketHandlers } from './channel.ts';
import { conversationHandlers } from './conversations.ts';
import { graphqlHandlers } from './graphql.ts';
import { modelHandlers } from './models.ts';
import { orchestrationHandlers } from './orchestrations.ts';
import { searchHandlers } from './search.ts';
import { sessionHandlers } from './session.ts';
import { suiteHandlers } from './suite.ts';
import { toolHandlers } from './tools.ts';
import { turnHandlers } from './turns.ts';
import { voiceHandlers } from './voice.ts';

/** The HTTP edge of chat. */
export function chatHandlers(parts: ChatParts): Handlers<typeof chatContract> {
  const { host, suite, graphql } = parts;
  return {
    ...suiteHandlers(suite),
    ...sessionHandlers(host),
    ...turnHandlers({ ...parts, completionLimit: suite.completionLimit }),
    ...conversationHandlers(parts),
    ...toolHandlers(parts),
    ...modelHandlers(parts),
    ...searchHandlers(parts),
    ...orchestrationHandlers(parts),
    ...voiceHandlers(parts),
    ...graphqlHandlers({ graphql, guests: host.http.sockets.guests }),
  };
}

/** The WebSocket edge of chat, besides the paths that Socket.IO and GraphQL took. */
export function chatSocketHandlers({ doors }: ChatParts): SocketHandlers<typeof chatContract> {
  return channelSocketHandlers(doors);
}
