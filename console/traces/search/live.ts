import { useEffect, useState } from 'react';
import { Batch } from '../../api/batch.ts';
import { LastingSocket } from '../../api/lasting-socket.ts';
import { readDuration } from '../parts/durations.ts';
import type { Filters } from './filters.ts';

/** How the stream of new traces stands. */
export type LiveState = 'off' | 'connecting' | 'following';

/** New traces come in bursts; the list is asked once for all of a burst. */
const gatherMs = 1_500;

/** Tells of new traces that may belong to a search, until it is switched off; it connects again when it is cut off. */
export function useLiveTraces(filters: Filters, onTraces: () => void): LiveState {
  const { isLive } = filters;
  const [state, setState] = useState<LiveState>('off');
  const message = subscriptionOf(filters);
  useEffect(() => {
    if (!isLive) return undefined;
    const follower = new Follower({ message: JSON.parse(message), onTraces, onState: setState });
    return () => follower[Symbol.dispose]();
  }, [isLive, message, onTraces]);
  return isLive ? state : 'off';
}

function subscriptionOf({ agentId, min, status }: Filters): string {
  const minDuration = readDuration(min);
  return JSON.stringify({
    action: 'subscribe',
    ack: true,
    filters: {
      ...(agentId ? { agents: [agentId] } : {}),
      ...(minDuration === undefined ? {} : { minDuration }),
      ...(status ? { status: [status] } : {}),
    },
  });
}

interface FollowerOptions {
  readonly message: object;
  readonly onTraces: () => void;
  readonly onState: (state: LiveState) => void;
}

class Follower implements Disposable {
  readonly #onState: (state: LiveState) => void;
  readonly #news: Batch<string>;
  readonly #socket: LastingSocket;

  constructor({ message, onState, onTraces }: FollowerOptions) {
    this.#onState = onState;
    this.#news = new Batch(gatherMs, onTraces);
    onState('connecting');
    this.#socket = new LastingSocket('tracer', {
      path: () => '/api/v1/traces/stream',
      onOpen: () => this.#socket.send(message),
      onMessage: (text) => this.#receive(text),
      onLoss: () => onState('connecting'),
      // The list is up to date meanwhile, and asking for it renews a session that has run out.
      beforeReturn: async () => onTraces(),
    });
  }

  [Symbol.dispose](): void {
    this.#news[Symbol.dispose]();
    this.#socket[Symbol.dispose]();
  }

  #receive(text: string): void {
    if (typeOf(text) === 'subscribed') this.#onState('following');
    // What came while nobody listened is in the list too.
    this.#news.add(text);
  }
}

function typeOf(text: string): unknown {
  const message: unknown = JSON.parse(text);
  return typeof message === 'object' && message !== null && 'type' in message
    ? message.type
    : undefined;
}
