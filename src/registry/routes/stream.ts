import type { Connection } from '../../kit/sockets/connection.ts';
import { serveSubscription } from '../../kit/sockets/subscription.ts';
import type { RegistryEvent } from '../events.ts';
import { streamSockets, type StreamSubscription } from '../schemas/stream.ts';
import type { EventFeed } from '../stream/event-feed.ts';

/** The stream of what happens to connections. */
export function streamSocketHandlers(feed: Pick<EventFeed, 'topic'>) {
  return {
    stream: (connection: Connection<typeof streamSockets.stream>): void =>
      serveSubscription(connection, {
        topic: feed.topic,
        subscribe: streamSockets.stream.subscribe,
        filter: matching,
        toMessage: ({ data }) => data,
      }),
  };
}

function matching({ events = [] }: StreamSubscription): (event: RegistryEvent) => boolean {
  if (events.length === 0) return () => true;
  const types = new Set<string>(events);
  return ({ type }) => types.has(type);
}
