import { Fault } from '../../kit/errors.ts';
import type { Contract } from '../../kit/contract.ts';
import { newId } from '../../kit/ids.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { createTestServer, listenAnywhere, silentLog } from '../../kit/testing.ts';
import type { Message } from '../conversations/conversation.ts';
import { MessageBatches, type MessagesSql } from '../conversations/message-batches-store.ts';
import { StoredConversations } from '../conversations/stored-conversations.ts';
import { chatEnvelope } from '../envelope.ts';
import type {
  AgentHealths,
  AgentProgress,
  Orchestration,
  Orchestrations,
} from '../orchestrations/orchestration.ts';
import { graphqlHandlers } from '../routes/graphql.ts';
import { graphqlRoutes } from '../schemas/graphql.ts';
import type { ConversationHit, Search } from '../search/search.ts';
import type { ChatGround } from '../testing.ts';
import { Graphql } from './graphql.ts';
import { ScriptedTurns } from './testing-turns.ts';

const contract = {
  name: 'chat',
  title: 'Chat',
  version: '0.1.0',
  description: 'GraphQL alone.',
  error: chatEnvelope.schema,
  acceptsSessionCookie: true,
  routes: graphqlRoutes,
} as const satisfies Contract;

/** Finds every message that holds the query, and has an agent called `agt_a`. */
export class ScriptedWorld {
  readonly progressListeners = new Set<(progress: AgentProgress) => void>();
  readonly orchestrations: Orchestrations;
  readonly #found: Message[] = [];

  constructor() {
    const stored = new Map<string, Orchestration>();
    const find = (ownerId: string, id: string): Orchestration => {
      const found = stored.get(id);
      if (found?.ownerId === ownerId) return found;
      throw new Fault('not_found', 'there is no such orchestration', {
        reason: 'orchestration_not_found',
      });
    };
    this.orchestrations = {
      start: async ({ identity }, { task, agents }) => {
        const orchestration: Orchestration = {
          id: newId('orc'),
          ownerId: identity.subject,
          task,
          status: 'running',
          progress: 0,
          steps: agents.map((agentId) => ({ agentId, name: agentId, status: 'pending' })),
          createdAtMs: Date.now(),
        };
        stored.set(orchestration.id, orchestration);
        return orchestration;
      },
      find: async (ownerId, id) => find(ownerId, id),
      list: async () => ({ orchestrations: [], total: 0 }),
      cancel: async (ownerId, id) => find(ownerId, id),
      listen: (listener) => {
        this.progressListeners.add(listener);
        return () => this.progressListeners.delete(listener);
      },
    };
  }

  /** What searches find from now on. */
  remember(...messages: readonly Message[]): void {
    this.#found.push(...messages);
  }

  readonly agentHealths: AgentHealths = {
    find: async (_caller, agentId) => {
      if (agentId !== 'agt_a') {
        throw new Fault('not_found', 'there is no such agent', { reason: 'agent_not_found' });
      }
      const metrics = { latency: 20, throughput: 2, tokenUsage: 0 };
      return { status: 'active', uptime: 12.5, requestCount: 3, errorRate: 0.5, metrics };
    },
  };

  readonly search: Pick<Search, 'findConversations'> = {
    findConversations: async (_ownerId, { query }) => this.#hitsOf(query),
  };

  #hitsOf(query: string): ConversationHit[] {
    const matching = this.#found.filter(({ content }) => content.includes(query));
    const ids = new Set(matching.map(({ conversationId }) => conversationId));
    return [...ids].map((conversationId) => ({
      conversationId,
      title: 'Found',
      score: 0.75,
      hits: matching
        .filter((message) => message.conversationId === conversationId)
        .map(({ id, role, content, createdAtMs }) => ({
          messageId: id,
          conversationId,
          title: 'Found',
          role,
          content,
          score: 0.75,
          createdAtMs,
          snippet: content,
          embedder: 'text',
        })),
    }));
  }
}

/** What replicas of one test share beside their ground. */
export interface World {
  readonly turns: ScriptedTurns;
  readonly others: ScriptedWorld;
}

export interface StartOptions {
  readonly introspection?: 'open' | 'permission';
  readonly world?: World;
}

/** GraphQL on a port of its own, over real conversations and scripted turns. */
export async function startGraphql(
  ground: ChatGround,
  { introspection = 'open', world }: StartOptions = {},
) {
  const lifetime = new Lifetime(silentLog);
  const conversations = await openConversations(ground, lifetime);
  const { turns, others } = world ?? {
    turns: new ScriptedTurns(conversations),
    others: new ScriptedWorld(),
  };
  const { issuer, database } = ground;
  const { http } = await createTestServer(contract, { issuer, envelope: chatEnvelope });
  const { guests } = http.sockets;
  const counts = { statements: 0, completions: 0 };
  const query: MessagesSql['query'] = (text, parameters) => {
    counts.statements += 1;
    return database.query(text, parameters);
  };
  const parts = {
    conversations,
    messages: new MessageBatches({ query }),
    turns,
    search: others.search,
    orchestrations: others.orchestrations,
    agentHealths: others.agentHealths,
    completions: { take: () => void (counts.completions += 1) },
  };
  const { server } = http.app;
  const graphql = new Graphql({ parts, introspection, guests, server, log: silentLog });
  lifetime.own('graphql', graphql);
  http.serve(contract, graphqlHandlers({ graphql, guests }));
  http.sockets.reserve('/graphql', graphql.takeUpgrade);
  const url = await listenAnywhere(http);
  lifetime.defer('http', () => http.close(0));
  return {
    url: `${url}/graphql`,
    conversations,
    turns,
    others,
    world: { turns, others },
    /** Statements that read messages in batches. */
    countStatements: () => counts.statements,
    countCompletions: () => counts.completions,
    tokenOf: (subject: string, permissions: readonly string[] = []) =>
      issuer.sign({ sub: subject, permissions: [...permissions], jti: newId('tok') }),
    [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose](),
  };
}

const nothing = () => Promise.resolve();

async function openConversations({ database: sql, bus }: ChatGround, lifetime: Lifetime) {
  const conversations = new StoredConversations({ sql, bus, log: silentLog, stopTurn: nothing });
  lifetime.own('conversations', conversations);
  await conversations.start();
  return conversations;
}

export type RunningGraphql = Awaited<ReturnType<typeof startGraphql>>;
