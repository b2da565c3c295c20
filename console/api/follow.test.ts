import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Follower, type FollowOptions } from './follow.ts';

/** Stands for the browser's sockets: what was sent over each, and ways to answer. */
class FakeSocket extends EventTarget {
  static readonly all: FakeSocket[] = [];
  readonly sent: Record<string, unknown>[] = [];
  readonly url: string;

  constructor(url: string) {
    super();
    this.url = url;
    FakeSocket.all.push(this);
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text));
  }

  close(): void {
    this.dispatchEvent(new Event('close'));
  }

  open(): void {
    this.dispatchEvent(new Event('open'));
  }

  tell(message: object): void {
    this.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(message) }));
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  FakeSocket.all.length = 0;
  vi.stubGlobal('window', { location: { protocol: 'http:', host: 'console' } });
  vi.stubGlobal('WebSocket', FakeSocket);
  vi.stubGlobal('Request', vi.fn());
  vi.stubGlobal('fetch', () => Promise.resolve(new Response('{}')));
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function follow(options: Partial<FollowOptions> = {}) {
  const told = { events: [] as unknown[], gaps: [] as unknown[], states: [] as string[] };
  const follower = new Follower('mesh', '/stream', {
    onEvent: (_event, seq) => told.events.push(seq),
    onGap: (gap) => told.gaps.push(gap),
    onState: (state) => told.states.push(state),
    ...options,
  });
  return { follower, told };
}

const last = () => FakeSocket.all.at(-1)!;

test('a follower begins with what is new', () => {
  const { told } = follow({ subscription: { filters: {} } });
  last().open();
  expect(last().sent).toEqual([{ action: 'subscribe', ack: true, filters: {} }]);
  last().tell({ type: 'subscribed', seq: 40 });
  last().tell({ type: 'x', seq: 41 });
  expect(told).toEqual({ events: [41], gaps: [], states: ['connecting', 'live'] });
});

test('it asks for some of what was before, and what is kept no more is no gap', () => {
  const { told } = follow({ historyCount: 10 });
  last().open();
  last().tell({ type: 'subscribed', seq: 40 });
  expect(last().sent.at(-1)).toMatchObject({ after: 30 });
  last().tell({ type: 'subscribed', seq: 30 });
  last().tell({ type: 'gap', from: 31, to: 36 });
  last().tell({ type: 'x', seq: 37 });
  last().tell({ type: 'gap', from: 41, to: 44 });
  expect(told.events).toEqual([37]);
  expect(told.gaps).toEqual([{ type: 'gap', from: 41, to: 44 }]);
});

test('after a broken socket it asks for what came since the last event', async () => {
  const { told } = follow();
  last().open();
  last().tell({ type: 'subscribed', seq: 40 });
  last().tell({ type: 'x', seq: 41 });
  last().close();
  expect(told.states.at(-1)).toBe('waiting');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(FakeSocket.all).toHaveLength(2);
  last().open();
  expect(last().sent).toEqual([{ action: 'subscribe', ack: true, after: 41 }]);
});

test('a service that counts anew is read from its start, and that is told', async () => {
  const { told } = follow();
  last().open();
  last().tell({ type: 'subscribed', seq: 40 });
  last().close();
  await vi.advanceTimersByTimeAsync(1_000);
  last().open();
  last().tell({ type: 'subscribed', seq: 3 });
  expect(told.gaps).toEqual([{ from: 3, to: 40, isRestart: true }]);
  expect(last().sent.at(-1)).toMatchObject({ after: 0 });
});

test('a refusal is told, and a follower that was stopped comes no more', async () => {
  const onRefusal = vi.fn();
  const { follower } = follow({ onRefusal });
  last().open();
  last().tell({ type: 'error', error: { message: 'no such filter' } });
  expect(onRefusal).toHaveBeenCalledWith('no such filter');
  follower.stop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(FakeSocket.all).toHaveLength(1);
});

test('a follower that is refused at once asks less and less often, and at first again after a sound while', async () => {
  const { follower } = follow();
  const refuse = async (afterMs: number) => {
    last().open();
    last().close();
    await vi.advanceTimersByTimeAsync(afterMs);
    return FakeSocket.all.length;
  };
  expect(await refuse(1_000)).toBe(2);
  expect(await refuse(1_000)).toBe(2);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await refuse(3_999)).toBe(3);
  await vi.advanceTimersByTimeAsync(1);
  last().open();
  await vi.advanceTimersByTimeAsync(5_000);
  last().close();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(FakeSocket.all.length).toBe(5);
  follower.stop();
});
