import { Metrics, type Count, type Family, type Observation } from '../../kit/metrics.ts';
import type { Conversations, Usage, Message } from '../conversations/conversation.ts';
import type { Orchestrations } from '../orchestrations/orchestration.ts';
import type { Search } from '../search/search.ts';
import type { TurnEvent, Turns } from '../turns/turn.ts';
import { measureTurns } from './measured-turns.ts';

const answerBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300];
const searchBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/**
 * What chat counts. Each `measured…` answers the same interface, to be given to whoever serves users;
 * what happens is counted on the replica that was asked, once.
 */
export class ChatMetrics {
  readonly #metrics = new Metrics();
  readonly #families = openFamilies(this.#metrics);
  readonly #sockets = new Map<string, number>();

  constructor() {
    const sockets = {
      name: 'chat_sockets',
      help: 'Sockets that are open now, by transport.',
      labels: ['transport'],
    };
    this.#metrics.gauge(sockets, (set) => {
      for (const [transport, count] of this.#sockets) set(count, transport);
    });
  }

  /** Counts a socket until the function that it answers is called, once. */
  socketOpened(transport: string): () => void {
    this.#changeSockets(transport, 1);
    let isOpen = true;
    return () => {
      if (isOpen) this.#changeSockets(transport, -1);
      isOpen = false;
    };
  }

  measuredTurns(turns: Turns): Turns {
    const { turns: ended, firstToken, duration } = this.#families;
    return measureTurns(turns, {
      refused: () => ended.of('refused').inc(),
      firstToken: (seconds) => firstToken.of().observe(seconds),
      ended: (event, seconds) => {
        ended.of(outcomeOf(event)).inc();
        duration.of().observe(seconds);
        if (event.type === 'ended' && event.usage) this.#countUsage(event.usage);
      },
    });
  }

  measuredConversations(conversations: Conversations): Conversations {
    const { conversations: changes, messages } = this.#families;
    const countedEach = async (adding: Promise<readonly Message[]>) => {
      const added = await adding;
      for (const { role } of added) messages.of(role).inc();
      return added;
    };
    return {
      create: (...given) => counted(conversations.create(...given), changes.of('created')),
      ensure: async (...given) => {
        const isNew = await conversations.ensure(...given);
        if (isNew) changes.of('created').inc();
        return isNew;
      },
      find: (...given) => conversations.find(...given),
      list: (...given) => conversations.list(...given),
      change: (...given) => conversations.change(...given),
      remove: (...given) => counted(conversations.remove(...given), changes.of('deleted')),
      branch: (...given) => counted(conversations.branch(...given), changes.of('branched')),
      messages: (...given) => conversations.messages(...given),
      append: (...given) => countedEach(conversations.append(...given)),
      appendWithin: (...given) => countedEach(conversations.appendWithin(...given)),
      complete: (...given) => conversations.complete(...given),
      listen: (...given) => conversations.listen(...given),
    };
  }

  measuredSearch(search: Search): Search {
    const { searches } = this.#families;
    return {
      find: (...given) => timed(() => search.find(...given), searches.of('messages')),
      findConversations: (...given) =>
        timed(() => search.findConversations(...given), searches.of('conversations')),
    };
  }

  measuredOrchestrations(orchestrations: Orchestrations): Orchestrations {
    const { orchestrations: changes } = this.#families;
    return {
      start: (...given) => counted(orchestrations.start(...given), changes.of('started')),
      find: (...given) => orchestrations.find(...given),
      list: (...given) => orchestrations.list(...given),
      cancel: (...given) => counted(orchestrations.cancel(...given), changes.of('cancelled')),
      listen: (listener) => orchestrations.listen(listener),
    };
  }

  /** The answer to `GET /metrics`. */
  answer(): Promise<Response> {
    return this.#metrics.answer();
  }

  #changeSockets(transport: string, by: number): void {
    this.#sockets.set(transport, (this.#sockets.get(transport) ?? 0) + by);
  }

  #countUsage({ promptTokens, completionTokens, cost = 0 }: Usage): void {
    const { tokens, dollars } = this.#families;
    tokens.of('prompt').inc(Math.max(0, promptTokens));
    tokens.of('completion').inc(Math.max(0, completionTokens));
    dollars.of().inc(Math.max(0, cost));
  }
}

function outcomeOf(event: Extract<TurnEvent, { type: 'ended' | 'failed' }>): string {
  return event.type === 'ended' ? event.status : 'failed';
}

async function counted<T>(change: Promise<T>, count: Count): Promise<T> {
  const changed = await change;
  count.inc();
  return changed;
}

async function timed<T>(work: () => Promise<T>, times: Observation): Promise<T> {
  const startedAt = performance.now();
  try {
    return await work();
  } finally {
    times.observe((performance.now() - startedAt) / 1000);
  }
}

function openFamilies(metrics: Metrics) {
  return {
    turns: metrics.counter({
      name: 'chat_turns_total',
      help: 'Turns that ended, by how: completed, stopped, failed, or refused before they began.',
      labels: ['status'],
    }),
    firstToken: metrics.histogram({
      name: 'chat_first_token_seconds',
      help: 'From the arrival of a question to the first piece of its answer.',
      buckets: answerBuckets,
    }),
    duration: metrics.histogram({
      name: 'chat_turn_seconds',
      help: 'From the arrival of a question to the end of its turn.',
      buckets: answerBuckets,
    }),
    tokens: metrics.counter({
      name: 'chat_tokens_total',
      help: 'Tokens of prompts and of answers (completion), as the gateway counted them.',
      labels: ['direction'],
    }),
    dollars: metrics.counter({
      name: 'chat_cost_dollars_total',
      help: 'US dollars that turns cost.',
    }),
    conversations: metrics.counter({
      name: 'chat_conversations_total',
      help: 'Conversations that were created, branched or deleted.',
      labels: ['change'],
    }),
    messages: metrics.counter({
      name: 'chat_messages_total',
      help: 'Messages that were stored, by role.',
      labels: ['role'],
    }),
    searches: metrics.histogram({
      name: 'chat_search_seconds',
      help: 'What searches took, by what was looked for.',
      labels: ['kind'],
      buckets: searchBuckets,
    }),
    orchestrations: metrics.counter({
      name: 'chat_orchestrations_total',
      help: 'Orchestrations that were started or cancelled.',
      labels: ['change'],
    }),
  } satisfies Readonly<Record<string, Family<Count> | Family<Observation>>>;
}
