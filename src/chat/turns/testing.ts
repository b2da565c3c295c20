import type { Bus } from '../../kit/bus/bus.ts';
import { openBus } from '../../kit/bus/open-bus.ts';
import type { Database } from '../../kit/database/database.ts';
import { openTestTables } from '../../kit/database/testing.ts';
import { Lifetime } from '../../kit/lifecycle.ts';
import { silentLog } from '../../kit/testing.ts';
import type { Caller } from '../caller.ts';
import type { ToolCall } from '../conversations/conversation.ts';
import { StoredConversations } from '../conversations/stored-conversations.ts';
import { startScriptedGateway, type ScriptedGateway } from '../gateway-testing.ts';
import type { ChatTools, OfferedTool, ToolOutcome } from '../tools/tool.ts';
import { GatewayDoor } from './gateway.ts';
import type { TurnTiming } from './running-turns.ts';
import { StoredTurns } from './stored-turns.ts';
import type { TurnEvent, TurnRequest } from './turn.ts';

const migrations = new URL('../migrations/', import.meta.url);

/** What replicas share. */
export interface TurnsGround extends AsyncDisposable {
  readonly database: Database;
  readonly bus: Bus;
  readonly gateway: ScriptedGateway;
}

/** Empty tables, a bus and a scripted gateway; whoever opens it closes it after the replicas. */
export async function openTurnsGround(): Promise<TurnsGround> {
  const lifetime = new Lifetime(silentLog);
  const database = lifetime.own('the database', await openTestTables('chat', migrations));
  const bus = lifetime.own('the bus', await openBus({ log: silentLog }));
  const gateway = lifetime.own('the gateway', await startScriptedGateway());
  return { database, bus, gateway, [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose]() };
}

export interface ReplicaOptions {
  readonly tools?: ChatTools;
  readonly timing?: Partial<TurnTiming>;
  readonly isAlone?: boolean;
}

/** The turns of one process; others may share its ground. It takes lapsed turns over at once. */
export async function openReplica(
  {
    database: sql,
    bus,
    gateway,
  }: Pick<TurnsGround, 'database' | 'bus'> & { readonly gateway: { readonly url: string } },
  { tools = noTools, timing = {}, isAlone = false }: ReplicaOptions = {},
) {
  const lifetime = new Lifetime(silentLog);
  const log = silentLog;
  const late: { turns?: StoredTurns } = {};
  const conversations = lifetime.own(
    'the conversations',
    new StoredConversations({
      sql,
      bus,
      log,
      stopTurn: async (ownerId, conversationId) => {
        await late.turns?.stop(ownerId, { conversationId });
      },
    }),
  );
  await conversations.start();
  const door = lifetime.own('the gateway', new GatewayDoor(gateway.url));
  const turns = lifetime.own(
    'the turns',
    new StoredTurns({
      sql,
      bus,
      log,
      conversations,
      gateway: door,
      tools,
      isAlone,
      timing: { patienceMs: 0, ...timing },
    }),
  );
  late.turns = turns;
  await turns.start();
  return { turns, conversations, [Symbol.asyncDispose]: () => lifetime[Symbol.asyncDispose]() };
}

/** What somebody waits for until it is opened. */
export function latch() {
  let settle: (() => void) | undefined;
  const opened = new Promise<void>((resolve) => (settle = resolve));
  return { opened, open: () => settle?.() };
}

/** The same database by a way on which its statements and their answers can be held, or lost. */
export function detour(
  database: Database,
  pass: <Answer>(text: string, run: () => Promise<Answer>) => Promise<Answer>,
): Database {
  return {
    dialect: database.dialect,
    kysely: (schema) => database.kysely(schema),
    query: <Row>(text: string, ...more: [(readonly unknown[])?]) =>
      pass(text, () => database.query<Row>(text, ...more)),
    migrate: (...given) => database.migrate(...given),
    ping: () => database.ping(),
    [Symbol.asyncDispose]: async () => {},
  };
}

/** A caller without any permission. */
export function callerOf(subject: string): Caller {
  return {
    credential: `token-of-${subject}`,
    identity: {
      subject,
      kind: 'user',
      roles: [],
      permissions: [],
      clientId: 'test',
      name: undefined,
      email: undefined,
      scope: '',
      tokenId: 'tok_test',
      sessionId: 'ses_test',
      tokenEpoch: 0,
      isNarrowed: false,
      expiresAt: 4_000_000_000,
    },
  };
}

/** A user's question in a conversation, or outside of any. */
export function ask(
  text: string,
  conversationId?: string,
  more: Partial<TurnRequest> = {},
): TurnRequest {
  return {
    caller: callerOf('usr_ada'),
    messages: [{ role: 'user', content: text }],
    ...(conversationId === undefined ? {} : { conversationId }),
    ...more,
  };
}

/** All events of a turn, or those until one that matches. */
export async function readAll(
  turns: Pick<StoredTurns, 'follow'>,
  id: string,
  {
    after = 0,
    until = () => false,
  }: { readonly after?: number; readonly until?: (event: TurnEvent) => boolean } = {},
): Promise<TurnEvent[]> {
  const events: TurnEvent[] = [];
  for await (const event of turns.follow({ id }, after, AbortSignal.timeout(15_000))) {
    events.push(event);
    if (until(event)) break;
  }
  return events;
}

/** The pieces of an answer as one text. */
export function textOf(events: readonly TurnEvent[]): string {
  return events.map((event) => (event.type === 'delta' ? event.content : '')).join('');
}

const noTools: ChatTools = {
  offers: () => Promise.resolve([]),
  call: () => Promise.reject(new Error('there are no tools')),
  check: () => Promise.resolve(),
};

export type ToolScript = (
  call: ToolCall,
  signal: AbortSignal,
) => ToolOutcome | Promise<ToolOutcome>;

/** Tools that a test scripts; those whose name begins with `write` need approval. */
export function scriptTools(scripts: Readonly<Record<string, ToolScript>>) {
  const made: ToolCall[] = [];
  const offers = Object.keys(scripts).map((name): OfferedTool => {
    const needsApproval = name.startsWith('write');
    return { name, description: name, parameters: { type: 'object' }, needsApproval };
  });
  const tools: ChatTools = {
    offers: () => Promise.resolve(offers),
    call: async (...[, , call, signal]) => {
      made.push(call);
      const script = scripts[call.name];
      return script ? script(call, signal) : { content: 'no such tool', isError: true };
    },
    check: () => Promise.resolve(),
  };
  return { tools, made };
}

/** Two replicas on one ground, whose models may read, write and hang. */
export async function openTwoReplicas() {
  const lifetime = new Lifetime(silentLog);
  const script = scriptTools({
    read: ({ arguments: text }) => ({ content: `read ${text}`, isError: false }),
    write: ({ arguments: text }) => ({ content: `wrote ${text}`, isError: false }),
    hang: (_call, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      }),
  });
  const ground = lifetime.own('the ground', await openTurnsGround());
  const options = { tools: script.tools, timing: { storeMs: 20, pollMs: 200 } };
  const here = lifetime.own('one replica', await openReplica(ground, options));
  const there = lifetime.own('the other', await openReplica(ground, options));
  const close = () => lifetime[Symbol.asyncDispose]();
  return { ground, here, there, script, [Symbol.asyncDispose]: close };
}
