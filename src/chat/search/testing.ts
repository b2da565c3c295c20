import type { EmbeddingsClient } from '../../kit/vectors/embed-texts.ts';
import { Fault } from '../../kit/errors.ts';
import { silentLog } from '../../kit/testing.ts';
import type { ChatGround } from '../testing.ts';
import { StoredConversations } from '../conversations/stored-conversations.ts';
import { openSearch } from './search-parts.ts';

/** Conversations and the search in them, as a replica of chat has both. */
export async function startSearch(
  { database, bus }: Pick<ChatGround, 'database' | 'bus'>,
  { models, model }: { readonly models: EmbeddingsClient; readonly model?: string },
) {
  const conversations = new StoredConversations({
    sql: database,
    bus,
    log: silentLog,
    stopTurn: async () => {},
  });
  await conversations.start();
  const search = openSearch({ database, bus, conversations, models, model, log: silentLog });
  return {
    conversations,
    search,
    /** A conversation with these messages of its user; answers its id. */
    say: async (ownerId: string, texts: readonly string[], title = 'A talk') => {
      const { id } = await conversations.create(ownerId, { title });
      const messages = texts.map((content) => ({ role: 'user' as const, content }));
      await conversations.append(ownerId, id, messages);
      return id;
    },
    [Symbol.asyncDispose]: async () => {
      await search[Symbol.asyncDispose]();
      await conversations[Symbol.asyncDispose]();
    },
  };
}

/** An embedder that hashes words and their beginnings into so many places. */
export function createHashModels(dimensions = 256) {
  const state = { calls: 0, isAway: false, name: 'hashed', seen: [] as string[] };
  const client: EmbeddingsClient = {
    createEmbeddings: async ({ body: { input } }) => {
      state.calls += 1;
      if (state.isAway) throw new Fault('unavailable', 'nobody is there');
      if (input.some((text) => text.includes('UNREADABLE'))) throw new Fault('invalid', 'too odd');
      state.seen.push(...input);
      return {
        data: input.map((text) => ({ embedding: hashWords(text, dimensions) })),
        model: state.name,
        dimensions,
        usage: { prompt_tokens: 1 },
      };
    },
  };
  return { client, state };
}

function hashWords(text: string, dimensions: number): number[] {
  const vector = Array.from({ length: dimensions }, () => 0);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    for (const piece of [word, word.slice(0, 4)]) {
      const place = hash(piece) % dimensions;
      vector[place] = (vector[place] ?? 0) + 1;
    }
  }
  return vector;
}

function hash(text: string): number {
  let value = 7;
  for (const character of text) value = (value * 31 + (character.codePointAt(0) ?? 0)) % 1_000_003;
  return value;
}
