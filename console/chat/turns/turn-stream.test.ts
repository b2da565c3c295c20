import { describe, expect, test } from 'vitest';
import { Refusal } from '../../api/refusal.ts';
import type { Chunk } from './live-turn.ts';
import { readTurn, type StreamOpener, type TurnStart } from './turn-stream.ts';

type Step = readonly [id: string, data: string] | Error;

const ask: TurnStart = { ask: { conversationId: 'cnv_1', text: 'Hello' } };
const word = (text: string) => JSON.stringify({ choices: [{ delta: { content: text } }] });
const failure = (code: string) => JSON.stringify({ error: { code, message: 'so it went' } });
const done = ['', '[DONE]'] as const;

/** Streams that end as they are written; where each was opened. */
function streams(...parts: readonly (readonly Step[])[]) {
  const places: (string | undefined)[] = [];
  const open: StreamOpener = async function* open(_start, place) {
    const steps = parts[places.length] ?? [];
    places.push(place);
    for (const step of steps) {
      if (step instanceof Error) throw step;
      yield { id: step[0] || undefined, data: step[1] };
    }
  };
  return { open, places };
}

async function read(open: StreamOpener, start = ask): Promise<string> {
  let text = '';
  const { signal } = new AbortController();
  for await (const chunk of readTurn(start, { signal, open, delayMs: () => 0 })) {
    text += (chunk as Pick<Chunk, 'choices'>).choices[0]?.delta.content;
  }
  return text;
}

describe('a turn', () => {
  test('is read to its end', async () => {
    const { open, places } = streams([['t:1', word('Hel')], ['t:2', word('lo')], done]);
    expect(await read(open)).toBe('Hello');
    expect(places).toEqual([undefined]);
  });

  test('goes on behind the last event when its stream is lost', async () => {
    const { open, places } = streams(
      [['t:1', word('a')], new TypeError('network error')],
      [new Refusal(0, 'the console cannot be reached')],
      [['t:2', word('b')]],
      [['t:3', word('c')], done],
    );
    expect(await read(open)).toBe('abc');
    expect(places).toEqual([undefined, 't:1', 't:1', 't:2']);
  });

  test('goes on when the stream is given up and not the turn', async () => {
    const { open } = streams(
      [
        ['t:1', word('a')],
        ['t:1', failure('SLOW_READER')],
      ],
      [['t:2', word('b')], done],
    );
    expect(await read(open)).toBe('ab');
  });

  test('fails in the words of the service', async () => {
    const { open } = streams([
      ['t:1', word('a')],
      ['t:2', failure('PROVIDER_ERROR')],
    ]);
    await expect(read(open)).rejects.toThrow('so it went');
  });

  test('is not asked a second time when nobody knows whether it began', async () => {
    for (const lost of [[new Refusal(0, 'cannot be reached')], []]) {
      const { open, places } = streams(lost);
      await expect(read(open)).rejects.toThrow(Refusal);
      expect(places).toEqual([undefined]);
    }
  });

  test('is given up when its stream is lost again and again', async () => {
    const { open, places } = streams([['t:1', word('a')]]);
    await expect(read(open)).rejects.toThrow('the connection to the answer is lost');
    expect(places.length).toBe(9);
  });

  test('that is followed begins at its first event', async () => {
    const { open, places } = streams([['t:1', word('a')], done]);
    expect(await read(open, { follow: 't' })).toBe('a');
    expect(places).toEqual(['t:0']);
  });
});
