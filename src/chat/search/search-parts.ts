import type { Bus } from '../../kit/bus/bus.ts';
import { Outlet } from '../../kit/bus/outlet.ts';
import type { Database } from '../../kit/database/database.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import type { Log } from '../../kit/log.ts';
import type { EmbeddingsClient } from '../../kit/vectors/embed-texts.ts';
import type { Conversations } from '../conversations/conversation.ts';
import { Embedding } from './embedding.ts';
import { Indexer } from './indexer.ts';
import { MessagesSearch, type Embeddeds } from './messages-search.ts';
import type { Search } from './search.ts';
import { WordsRenewal } from './words-renewal.ts';

export interface SearchOptions {
  readonly database: Pick<Database, 'query' | 'dialect'>;
  readonly bus: Bus;
  readonly conversations: Pick<Conversations, 'listen'>;
  /** The models service, asked as chat itself. */
  readonly models: EmbeddingsClient;
  /** What embeds; the embedder that comes with the product when absent. */
  readonly model?: string | undefined;
  readonly log: Log;
  /** For vectors in memory; 256 MiB unless told. */
  readonly bytesMax?: number | undefined;
}

/** The search and what indexes for it. Disposing it ends both, before the conversations end. */
export function openSearch(options: SearchOptions): Search & AsyncDisposable {
  const { database: sql, bus, conversations, models, model, log, bytesMax } = options;
  const lifetime = new Lifetime(log);
  const topic = bus.topic<Embeddeds>('chat.search');
  const outlet = lifetime.own(
    'the news of the search',
    new Outlet({ topic, what: 'vectors', log }),
  );
  const embedding = new Embedding({ sql, models, model, log });
  const search = lifetime.own(
    'the search',
    new MessagesSearch({ sql, embedding, conversations, topic, bytesMax, log }),
  );
  const tell = (news: Embeddeds) => outlet.tell(news);
  lifetime.own('the indexer', new Indexer({ ...options, embedding, tell }));
  lifetime.own('the renewal of words', new WordsRenewal(sql, log));
  return {
    find: (ownerId, request) => search.find(ownerId, request),
    findConversations: (ownerId, request) => search.findConversations(ownerId, request),
    [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose](),
  };
}
