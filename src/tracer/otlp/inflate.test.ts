import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { inflateBody, inflateBodySync } from './inflate.ts';

const text = Buffer.from('spans '.repeat(1_000));
const bomb = gzipSync(Buffer.alloc(50_000_000));

const ways: [way: string, inflate: typeof inflateBody][] = [
  ['off the thread', inflateBody],
  ['on the thread', async (...given) => inflateBodySync(...given)],
];

describe.each(ways)('a body inflated %s', (_, inflate) => {
  const refused: [what: string, body: Buffer, coding: string | undefined, fault: object][] = [
    ['a bomb', bomb, 'gzip', { code: 'too_large' }],
    ['a byte too much', text, undefined, { code: 'too_large' }],
    ['one cut off', gzipSync(text).subarray(0, 30), 'gzip', { reason: 'malformed_encoding' }],
    ['nothing', Buffer.alloc(0), 'gzip', { reason: 'malformed_encoding' }],
    ['one that is not coded', text, 'gzip', { reason: 'malformed_encoding' }],
    ['another coding', deflateSync(text), 'gzip', { reason: 'malformed_encoding' }],
    ['an unknown coding', text, 'br', { reason: 'unsupported_encoding', status: 415 }],
    ['a list of codings', gzipSync(text), 'gzip, gzip', { status: 415 }],
  ];
  it.each(refused)('is refused: %s', async (_what, body, coding, fault) => {
    await expect(inflate(body, coding, 5_999)).rejects.toMatchObject({ name: 'Fault', ...fault });
  });

  const taken: [coding: string | undefined, body: Buffer][] = [
    [undefined, text],
    ['identity', text],
    ['gzip', gzipSync(text)],
    [' GZIP ', gzipSync(text)],
    ['gzip', Buffer.concat([gzipSync(text.subarray(0, 100)), gzipSync(text.subarray(100))])],
    ['deflate', deflateSync(text)],
    ['deflate', deflateRawSync(text)],
  ];
  it.each(taken)('is itself again: %s', async (coding, body) => {
    expect(Buffer.from(await inflate(body, coding, 6_000))).toEqual(text);
  });
});
