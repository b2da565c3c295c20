import { openTogether, type Lifetime } from '../kit/lifecycle.ts';
import { isProduction } from '../kit/production.ts';
import type { Host } from '../kit/service.ts';
import { gatewayContract } from '../gateway/contract.ts';
import { modelsContract } from '../models/contract.ts';
import { createCallerClients, type CallerClients } from './caller-clients.ts';
import { openDoors } from './channel/doors.ts';
import type { ChatConfig } from './config.ts';
import { chatContract } from './contract.ts';
import { MessageBatches } from './conversations/message-batches-store.ts';
import { StoredConversations } from './conversations/stored-conversations.ts';
import { Graphql } from './graphql/graphql.ts';
import { GatewayModels } from './models/gateway-models.ts';
import { openAgentParts } from './orchestrations/agent-parts.ts';
import { openSearch } from './search/search-parts.ts';
import { createSuiteParts, type SuiteParts } from './suite/suite-parts.ts';
import { RegistryTools } from './tools/registry-tools.ts';
import { GatewayDoor } from './turns/gateway.ts';
import { StoredTurns } from './turns/stored-turns.ts';
import type { Turns } from './turns/turn.ts';
import { GatewayClassifier } from './voice/classifier.ts';
import { MeshAgents } from './voice/mesh-agents.ts';
import { SpokenCommands } from './voice/spoken-commands.ts';
import { StoredVoiceSessions } from './voice/voice-sessions-store.ts';

/** The service's parts, put together; disposing them ends what they do. */
export type ChatParts = AsyncDisposable & Awaited<ReturnType<typeof open>>;

/** Opens everything; rejects when the database, the bus or a setting does not allow it. */
export function openParts(host: Host<ChatConfig>): Promise<ChatParts> {
  return openTogether(host.log, (lifetime) => open(host, lifetime));
}

async function open(host: Host<ChatConfig>, lifetime: Lifetime) {
  const suite = createSuiteParts(host, chatContract);
  const clients = createCallerClients(host);
  const tools = new RegistryTools({ clients });
  const models = new GatewayModels(clients);
  const talk = await openTalk(host, lifetime, { suite, tools });
  const found = await openKnowledge(host, lifetime, { suite, clients, ...talk });
  const voice = openVoice(host, { suite, clients, tools, models, ...talk, ...found });
  const doors = await openWays(host, lifetime, { suite, voice, ...talk, ...found });
  return { host, suite, tools, models, voice, ...talk, ...found, ...doors };
}

/** Conversations, and the turns in them. */
async function openTalk(
  host: Host<ChatConfig>,
  lifetime: Lifetime,
  { suite, tools }: { readonly suite: SuiteParts; readonly tools: RegistryTools },
) {
  const { database: sql, bus, log } = host;
  // A conversation that is deleted has its turn stopped, and turns are kept in conversations.
  const late: { turns?: Turns } = {};
  const stored = new StoredConversations({
    sql,
    bus,
    log,
    stopTurn: async (ownerId, conversationId) => {
      await late.turns?.stop(ownerId, { conversationId });
    },
  });
  lifetime.own('the conversations', stored);
  await stored.start();
  const conversations = suite.metrics.measuredConversations(stored);
  const gateway = lifetime.own('the gateway', new GatewayDoor(urlOf(host, gatewayContract.name)));
  const running = lifetime.own(
    'the turns',
    new StoredTurns({ sql, bus, log, conversations, gateway, tools }),
  );
  await running.start();
  const turns = suite.metrics.measuredTurns(running);
  late.turns = turns;
  return { conversations, turns, feeds: running };
}

type Talk = Awaited<ReturnType<typeof openTalk>>;

/** What is found in conversations, and who else of the suite works for their users. */
async function openKnowledge(
  host: Host<ChatConfig>,
  lifetime: Lifetime,
  given: Talk & { readonly suite: SuiteParts; readonly clients: CallerClients },
) {
  const { database, bus, log } = host;
  const { conversations, suite, clients } = given;
  const search = lifetime.own(
    'the search',
    openSearch({
      database,
      bus,
      conversations,
      models: host.client(modelsContract),
      model: host.config.embeddingModel,
      log,
    }),
  );
  const agents = lifetime.own('the agents', await openAgentParts(host, clients));
  return {
    search: suite.metrics.measuredSearch(search),
    orchestrations: suite.metrics.measuredOrchestrations(agents.orchestrations),
    agentHealths: agents.agentHealths,
  };
}

type Knowledge = Awaited<ReturnType<typeof openKnowledge>>;

interface Spoken extends Talk, Knowledge {
  readonly suite: SuiteParts;
  readonly clients: CallerClients;
  readonly tools: RegistryTools;
  readonly models: GatewayModels;
}

function openVoice({ database, log }: Host<ChatConfig>, { suite, clients, ...parts }: Spoken) {
  return new SpokenCommands({
    ...parts,
    agents: new MeshAgents(clients),
    classifier: new GatewayClassifier({ clients }),
    sessions: new StoredVoiceSessions(database),
    log,
    admit: ({ identity }) => suite.completionLimit.take(identity),
  });
}

interface Reached extends Talk, Knowledge {
  readonly suite: SuiteParts;
  readonly voice: SpokenCommands;
}

/** The ways in besides REST: both sockets of the channel, and GraphQL. */
async function openWays(host: Host<ChatConfig>, lifetime: Lifetime, parts: Reached) {
  const { http, log, tracer, database, config } = host;
  const { completionLimit, metrics } = parts.suite;
  const doors = lifetime.own(
    'the channel',
    await openDoors({
      ...parts,
      takeCompletion: ({ identity }) => completionLimit.take(identity),
      socketOpened: (transport) => metrics.socketOpened(transport),
      http,
      log,
      tracer,
    }),
  );
  const { guests } = http.sockets;
  const graphql = lifetime.own(
    'GraphQL',
    new Graphql({
      parts: { ...parts, messages: new MessageBatches(database), completions: completionLimit },
      introspection: config.introspection ?? introspectionOf(host),
      guests,
      server: http.app.server,
      socketOpened: () => metrics.socketOpened('graphql'),
      log,
    }),
  );
  http.sockets.reserve('/graphql', graphql.takeUpgrade);
  return { doors, graphql };
}

function introspectionOf({ config, url }: Host<ChatConfig>): 'open' | 'permission' {
  return isProduction(config.nodeEnvironment, url) ? 'permission' : 'open';
}

/** A service that is not in the suite is one that nobody reaches. */
function urlOf({ peers }: Host<ChatConfig>, name: string): string {
  return peers.find((peer) => peer.name === name)?.url ?? 'http://127.0.0.1:9';
}
