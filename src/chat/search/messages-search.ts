import type { Topic, Subscription } from '../../kit/bus/bus.ts';
import type { Log } from '../../kit/log.ts';
import type { Conversations } from '../conversations/conversation.ts';
import { checkMatches, checkTexts, type Checked } from './checks.ts';
import type { CurrentEmbedder, Embedding } from './embedding.ts';
import type { SearchSql } from './embedders-store.ts';
import { findMatches, readMatches } from './matches-store.ts';
import { spanOf, type Near, type OwnerIndex, type Span } from './owner-index.ts';
import { OwnerIndexes } from './owner-indexes.ts';
import { hasConditions, parseQuery, type Query } from './query.ts';
import { collectTerms, roundScore, TermWeights, type Candidate } from './ranking.ts';
import type { ConversationHit, Search, SearchHit, SearchRequest } from './search.ts';
import { findBySigns } from './signs.ts';
import { show } from './snippet.ts';
import { readBeginnings, type FoundMessage } from './texts-store.ts';
import { Texts } from './texts.ts';

/** What all replicas are told when messages have got vectors. */
export interface Embeddeds {
  readonly embedderId: number;
  readonly ownerId: string;
  readonly messageIds: readonly string[];
}

export interface MessagesSearchOptions {
  readonly sql: SearchSql;
  readonly embedding: Embedding;
  readonly conversations: Pick<Conversations, 'listen'>;
  readonly topic: Topic<Embeddeds>;
  /** For the vectors of the owners who searched last; 256 MiB unless told. */
  readonly bytesMax?: number | undefined;
  readonly log: Log;
}

const bytesDefault = 256 * 1024 * 1024;
const limitDefault = 10;
const limitMax = 100;
/** Below it nothing was found, where a request does not say otherwise. */
const minScoreDefault = 0.02;
/** Messages that are compared in the end, those of both ways together. */
const candidatesMax = 300;
const nearestMax = 200;
const hitsOfConversation = 5;

/** Searches by words in the database and by meaning in memory; either alone while the other fails. */
export class MessagesSearch implements Search, AsyncDisposable {
  readonly #options: MessagesSearchOptions;
  readonly #stopListening: () => void;
  readonly #subscribing: Promise<Subscription>;
  #indexes: { readonly embedderId: number; readonly owners: OwnerIndexes } | undefined;

  constructor(options: MessagesSearchOptions) {
    this.#options = options;
    const { conversations, topic, log } = options;
    this.#stopListening = conversations.listen(({ type, ownerId, conversationId }) => {
      if (type === 'deleted') this.#indexes?.owners.remove(ownerId, conversationId);
    });
    this.#subscribing = topic.subscribe(({ data }) => this.#takeIn(data), {
      onGap: () => this.#indexes?.owners.clear(),
    });
    this.#subscribing.catch((error: unknown) => log.error({ err: error }, 'search hears no news'));
  }

  async find(ownerId: string, request: SearchRequest) {
    const startedAtMs = performance.now();
    const texts = new Texts({ sql: this.#options.sql, ownerId, signal: request.signal });
    const { ranked, isAll } = await this.#rank(ownerId, request, texts);
    const minScore = request.minScore ?? minScoreDefault;
    const good = ranked.filter(({ score }) => roundScore(score) >= minScore);
    const limit = Math.min(limitMax, request.limit ?? limitDefault);
    const hits = await this.#show(ownerId, good.slice(0, limit), { request, texts });
    const queryTimeMs = performance.now() - startedAtMs;
    return { hits, total: good.length, isTotalExact: isAll, queryTimeMs };
  }

  async findConversations(
    ownerId: string,
    request: SearchRequest,
  ): Promise<readonly ConversationHit[]> {
    const { hits } = await this.find(ownerId, { ...request, limit: limitMax });
    const found = new Map<string, ConversationHit & { readonly hits: SearchHit[] }>();
    for (const hit of hits) {
      const { conversationId, title, score } = hit;
      const known = found.get(conversationId);
      if (!known) found.set(conversationId, { conversationId, title, score, hits: [hit] });
      else if (known.hits.length < hitsOfConversation) known.hits.push(hit);
    }
    return [...found.values()].slice(0, request.limit ?? limitDefault);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopListening();
    const subscription = await this.#subscribing.catch(() => undefined);
    await subscription?.close();
  }

  async #rank(ownerId: string, request: SearchRequest, texts: Texts): Promise<Ranking> {
    const query = parseQuery(request.query);
    const span = spanOf(request);
    if (span.fromMs > span.toMs) return { ranked: [], isAll: true };
    request.signal?.throwIfAborted();
    if (query.terms.length === 0) {
      const found = await findBySigns(this.#options.sql, query, { ownerId, span, texts });
      return { ranked: this.#scored(found.kept, undefined), isAll: found.isAll };
    }
    const [nearness, possible] = await Promise.all([
      this.#near(ownerId, query, span),
      findMatches(this.#options.sql, { ownerId, terms: query.terms, span }),
    ]);
    const { kept: matches, isAll: isChecked } = await checkMatches(texts, query.terms, possible);
    const weights = new TermWeights(matches, query.terms.length);
    const terms = collectTerms(matches, query.terms.length);
    const candidates = choose(terms, nearness, weights);
    request.signal?.throwIfAborted();
    const { kept, isAll } = await this.#complete(query, { candidates, weights, terms, texts });
    return {
      ranked: this.#scored(kept, nearness),
      isAll:
        isChecked &&
        isAll &&
        isEverything(nearness, weights, request) &&
        candidates.length < candidatesMax,
    };
  }

  /** The best first. */
  #scored(candidates: readonly Candidate[], nearness: Nearness | undefined): Ranked[] {
    const scores = nearness?.embedder.scores ?? this.#options.embedding.textScores;
    return candidates
      .map((candidate) => ({
        ...candidate,
        embedder: candidate.near && nearness ? nearness.embedder.name : 'text',
        score: scores.scoreOf({ cosine: candidate.near?.score, words: candidate.words }),
      }))
      .toSorted((one, other) => other.score - one.score || other.createdAtMs - one.createdAtMs);
  }

  /** Undefined while there is no embedder. */
  async #near(ownerId: string, { meaning }: Query, span: Span): Promise<Nearness | undefined> {
    const embedder = await this.#options.embedding.current();
    if (!embedder) return undefined;
    const [vector, { index, isWhole }] = await Promise.all([
      this.#options.embedding.embedQuery(meaning),
      this.#ownersOf(embedder).open(ownerId),
    ]);
    if (!vector || vector.length !== embedder.dimensions) return undefined;
    const nearest = await index.search(vector, nearestMax, span);
    return { embedder, vector, index, nearest, isWhole };
  }

  #ownersOf({ id, dimensions }: CurrentEmbedder): OwnerIndexes {
    if (this.#indexes?.embedderId !== id) {
      const { sql, bytesMax = bytesDefault, log } = this.#options;
      const owners = new OwnerIndexes({ sql, embedder: { id, dimensions }, bytesMax, log });
      this.#indexes = { embedderId: id, owners };
    }
    return this.#indexes.owners;
  }

  /** Finds out which of the common terms the candidates have, and drops those the query excludes. */
  async #complete(
    query: Query,
    { candidates, weights, terms, texts }: Completing,
  ): Promise<Checked<readonly Candidate[]>> {
    const { common } = weights;
    const isKnown = common.length === 0 && !hasConditions(query);
    if (isKnown || candidates.length === 0) return { kept: candidates, isAll: true };
    const ids = candidates
      .toSorted((one, other) => other.words - one.words)
      .map(({ messageId }) => messageId);
    const asked = { ...query, terms: common.flatMap((at) => query.terms[at] ?? []) };
    const has = await readMatches(this.#options.sql, ids, asked);
    const { kept, isAll } = await checkTexts(texts, has, asked);
    const completed = candidates.flatMap((candidate) => {
      const flags = kept.get(candidate.messageId);
      if (!flags) return [];
      const own = new Set(terms.get(candidate.messageId)?.terms);
      for (const [at, term] of common.entries()) if (flags[at]) own.add(term);
      return [{ ...candidate, words: weights.shareOf(own) }];
    });
    return { kept: completed, isAll };
  }

  /** Where the texts of the hits before are too much to be read, hits are shown by their beginnings. */
  async #show(
    ownerId: string,
    ranked: readonly Ranked[],
    { request, texts }: { readonly request: SearchRequest; readonly texts: Texts },
  ): Promise<SearchHit[]> {
    if (ranked.length === 0) return [];
    const { terms } = parseQuery(request.query);
    const hits = new Map(ranked.map((hit) => [hit.messageId, hit]));
    const shown = new Map<string, SearchHit>();
    const showMessage = (message: FoundMessage) => {
      const hit = hits.get(message.id);
      if (!hit) return;
      const part = show(message.content, terms, hit.near?.passage);
      shown.set(message.id, toHit(hit, message, part));
    };
    const left = await texts.visit([...hits.keys()], showMessage);
    if (left.length > 0) {
      const messages = await readBeginnings(this.#options.sql, ownerId, left);
      for (const message of messages) showMessage(message);
    }
    return ranked.flatMap(({ messageId }) => shown.get(messageId) ?? []);
  }

  #takeIn({ embedderId, ownerId, messageIds }: Embeddeds): void {
    if (this.#indexes?.embedderId !== embedderId) return;
    const { owners } = this.#indexes;
    owners.add(ownerId, messageIds).catch((error: unknown) => {
      this.#options.log.warn({ err: error }, 'new vectors could not be read');
      owners.clear();
    });
  }
}

interface Ranked extends Candidate {
  readonly score: number;
  readonly embedder: string;
}

interface Ranking {
  /** The best first. */
  readonly ranked: readonly Ranked[];
  /** Whether there can be no further hits. */
  readonly isAll: boolean;
}

interface Nearness {
  readonly embedder: CurrentEmbedder;
  readonly vector: Int8Array;
  readonly index: OwnerIndex;
  readonly nearest: readonly Near[];
  readonly isWhole: boolean;
}

interface Completing {
  readonly candidates: readonly Candidate[];
  readonly weights: TermWeights;
  readonly terms: ReturnType<typeof collectTerms>;
  readonly texts: Texts;
}

/** The nearest ones and those that have most of the words. */
function choose(
  terms: ReturnType<typeof collectTerms>,
  nearness: Nearness | undefined,
  weights: TermWeights,
): Candidate[] {
  const nearest = (nearness?.nearest ?? []).map((near): Candidate => ({
    messageId: near.messageId,
    createdAtMs: near.createdAtMs,
    near,
    words: weights.shareOf(terms.get(near.messageId)?.terms ?? []),
  }));
  const known = new Set(nearest.map(({ messageId }) => messageId));
  const worded = [...terms]
    .filter(([messageId]) => !known.has(messageId))
    .map(([messageId, { createdAtMs, terms: own }]): Candidate => {
      const near = nearness?.index.near(messageId, nearness.vector);
      return { messageId, createdAtMs, near, words: weights.shareOf(own) };
    })
    .toSorted((one, other) => other.words - one.words || other.createdAtMs - one.createdAtMs);
  return [...nearest, ...worded.slice(0, candidatesMax - nearest.length)];
}

/** No term was common, and the farthest of the nearest is no hit any more. */
function isEverything(
  nearness: Nearness | undefined,
  { common }: TermWeights,
  { minScore = minScoreDefault }: SearchRequest,
): boolean {
  if (common.length > 0) return false;
  if (!nearness) return true;
  const { nearest, isWhole, embedder } = nearness;
  if (nearest.length < nearestMax) return isWhole;
  const farthest = nearest.at(-1)?.score ?? 0;
  return isWhole && roundScore(embedder.scores.scoreOf({ cosine: farthest, words: 0 })) < minScore;
}

function toHit(
  { score, embedder }: Ranked,
  message: FoundMessage,
  { content, snippet }: ReturnType<typeof show>,
): SearchHit {
  const { id: messageId, conversationId, title, role, model, createdAtMs } = message;
  return {
    messageId,
    conversationId,
    title,
    role,
    content,
    score: roundScore(score),
    createdAtMs,
    snippet,
    embedder,
    ...(model !== undefined && { model }),
  };
}
