import { useEffect, useState } from 'react';
import { openSocket } from '../../api/events.ts';
import { readDuration } from '../parts/durations.ts';
import type { Filters } from './filters.ts';

/** How the stream of new traces stands. */
export type LiveState = 'off' | 'connecting' | 'following';

const firstRetryMs = 1_000;
const retryMsMax = 15_000;
/** New traces come in bursts; the list is asked once for all of a burst. */
const gatherMs = 1_500;

/** Tells of new traces that may belong to a search, until it is switched off; it connects again when it is cut off. */
export function useLiveTraces(filters: Filters, onTraces: () => void): LiveState {
  const { isLive } = filters;
  const [state, setState] = useState<LiveState>('off');
  const message = subscriptionOf(filters);
  useEffect(() => {
    if (!isLive) return undefined;
    const follower = new Follower({ message, onTraces, onState: setState });
    follower.connect();
    return () => follower.stop();
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
  readonly message: string;
  readonly onTraces: () => void;
  readonly onState: (state: LiveState) => void;
}

class Follower {
  readonly #options: FollowerOptions;
  #socket: WebSocket | undefined;
  #retryMs = firstRetryMs;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #gathering: ReturnType<typeof setTimeout> | undefined;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  connect(): void {
    this.#options.onState('connecting');
    const socket = openSocket('tracer', '/api/v1/traces/stream');
    this.#socket = socket;
    socket.addEventListener('open', () => socket.send(this.#options.message));
    socket.addEventListener('message', ({ data }) => this.#receive(String(data)));
    socket.addEventListener('close', () => this.#connectLater());
  }

  stop(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    clearTimeout(this.#retry);
    clearTimeout(this.#gathering);
    socket?.close();
  }

  #receive(text: string): void {
    if (this.#socket === undefined) return;
    if (typeOf(text) === 'subscribed') {
      this.#retryMs = firstRetryMs;
      this.#options.onState('following');
    }
    // What came while nobody listened is in the list too.
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      this.#options.onTraces();
    }, gatherMs);
  }

  #connectLater(): void {
    if (this.#socket === undefined) return;
    this.#options.onState('connecting');
    this.#retry = setTimeout(() => {
      // The list is up to date meanwhile, and asking for it renews a session that has run out.
      this.#options.onTraces();
      this.connect();
    }, this.#retryMs);
    this.#retryMs = Math.min(retryMsMax, this.#retryMs * 2);
  }
}

function typeOf(text: string): unknown {
  const message: unknown = JSON.parse(text);
  return typeof message === 'object' && message !== null && 'type' in message
    ? message.type
    : undefined;
}
