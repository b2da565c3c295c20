import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Embedder } from './embedder.ts';
import { Embedders } from './embedders.ts';
import { inBoxEmbedderFile, loadStaticEmbedder } from './static-embedder.ts';
import { parseWordVectors } from './word-vectors.ts';
import { stemsOf, wordsOf } from './words.ts';

let folder: string;
let content: Buffer;
let embedder: Embedder;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'embedding-'));
  content = await readFile(inBoxEmbedderFile);
  embedder = await new Embedders().find();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a damaged file', () => {
  const refusal = { code: 'unavailable', reason: 'embedder_damaged' };

  it('is refused when one bit of the weights was changed', () => {
    const altered = Buffer.from(content);
    altered[altered.length - 1000]! ^= 1;
    expect(() => parseWordVectors(altered)).toThrow(expect.objectContaining(refusal));
  });

  it('is refused when a size in its header was changed', () => {
    const altered = Buffer.from(content);
    altered.writeUInt32LE(altered.readUInt32LE(12) * 2, 12);
    expect(() => parseWordVectors(altered)).toThrow(expect.objectContaining(refusal));
  });

  it('is refused when the number of words and of buckets were exchanged', () => {
    const altered = Buffer.from(content);
    altered.writeUInt32LE(content.readUInt32LE(20), 16);
    altered.writeUInt32LE(content.readUInt32LE(16), 20);
    expect(() => parseWordVectors(altered)).toThrow(/checksum/);
  });

  it.each([0, 63, 64, 100_000])('is refused when only %i bytes of it are left', (length) => {
    expect(() => parseWordVectors(content.subarray(0, length))).toThrow(
      expect.objectContaining(refusal),
    );
  });

  it('is refused when it has bytes too many', () => {
    expect(() => parseWordVectors(Buffer.concat([content, Buffer.alloc(4)]))).toThrow(/length/);
  });

  it('is refused when it is of another kind or of a later format', () => {
    const other = Buffer.from(content);
    other.write('GGUF', 0, 'latin1');
    expect(() => parseWordVectors(other)).toThrow(/no such file/);
    const later = Buffer.from(content);
    later.writeUInt32LE(2, 8);
    expect(() => parseWordVectors(later)).toThrow(/format 2/);
  });

  it('is named by a loader without its path, and is tried again once it is repaired', async () => {
    const file = join(folder, 'late.bin');
    const embedders = new Embedders({ late: () => loadStaticEmbedder('late', file) });
    await expect(embedders.find('late')).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.not.stringContaining(folder),
    });
    await writeFile(file, content);
    await expect(embedders.find('late')).resolves.toMatchObject({ name: 'late' });
  });
});

describe('the choice of an embedder', () => {
  it('refuses an unknown name and says which there are', async () => {
    await expect(new Embedders().find('other')).rejects.toMatchObject({
      code: 'not_found',
      detail: { installed: ['ennead-embed'] },
    });
  });

  it('loads an embedder once, also for two who ask at the same time', async () => {
    let loads = 0;
    const load = () => {
      loads += 1;
      return loadStaticEmbedder('counted');
    };
    const embedders = new Embedders({ counted: load });
    const [one, two] = await Promise.all([embedders.find('counted'), embedders.find('counted')]);
    expect(one).toBe(two);
    expect(loads).toBe(1);
  });

  it('names the in-box embedder, its revision and its dimensions', () => {
    expect(embedder).toMatchObject({ name: 'ennead-embed', dimensions: 128, isNormalised: true });
    expect(embedder.revision).toMatch(/^[0-9a-f]{12}$/);
  });

  it('carries the notices of what the vectors were made of in the file', () => {
    expect(parseWordVectors(content).notice).toMatch(/WordNet 3\.0 Copyright 2006 by Princeton/);
  });
});

describe('a vector', () => {
  it('is the zero vector with 0 tokens for a blank text', async () => {
    const { vectors, tokens } = await embedder.embed(['', ' \n\t']);
    expect(tokens).toEqual([0, 0]);
    for (const vector of vectors) expect(vector.every((value) => value === 0)).toBe(true);
  });

  it('has length 1, whatever script or nonsense the text is in', async () => {
    const texts = [
      'deploy the service',
      'xqzzv-4711 ENOENT',
      'Ошибка при входе',
      '東京タワー',
      'ไม่สามารถเข้าสู่ระบบ',
      'مرحبا بالعالم',
      '👍',
      '!!!',
      '?',
      '—',
      '\u0000',
      '+'.repeat(20_000),
      '\ud800 lone surrogate',
      'a'.repeat(50_000),
    ];
    const { vectors } = await embedder.embed(texts);
    for (const vector of vectors) {
      expect(vector).toHaveLength(128);
      expect(cosine(vector, vector)).toBeCloseTo(1, 5);
    }
  });

  it('tells texts of signs alone apart, and does not heed the blanks between', async () => {
    expect(await similarity('!!!', '???')).toBeLessThan(0.9);
    expect(await similarity('=> ()', '=>()')).toBeCloseTo(1, 5);
  });

  it('is the same each time, alone or in a batch, and from a second load of the file', async () => {
    const texts = ['reset my password', 'zzyzx', '東京'];
    const second = await loadStaticEmbedder();
    const batch = (await embedder.embed(texts)).vectors;
    expect((await second.embed(texts)).vectors).toEqual(batch);
    for (const [at, text] of texts.entries()) {
      expect((await embedder.embed([text])).vectors[0]).toEqual(batch[at]);
    }
  });

  it('does not change with case, accents, width or the joining of names', async () => {
    const same = async (a: string, b: string) => expect(await similarity(a, b)).toBeCloseTo(1, 5);
    await same('CAFÉ Paris', 'cafe paris');
    await same('ｌｏｇｉｎ', 'login');
    await same('cafe\u0301', 'caf\u00e9');
    await same('reset_user_password', 'reset user password');
    await same('resetUserPassword', 'reset user password');
  });

  it('differs for two unknown names that have nothing in common', async () => {
    expect(await similarity('qwjzkt', 'brvlmph')).toBeLessThan(0.6);
    expect(await similarity('INC-20931', 'INC-48276')).toBeLessThan(0.95);
  });
});

describe('meaning', () => {
  // Sentences no training text holds, and pairs of words of synsets kept out of the training.
  it.each([
    ['I lost my passphrase', 'recover your login credentials', 'water the plants'],
    ['the program died unexpectedly', 'an exception caused a crash', 'a concert in the park'],
    ['she feels ill', 'the patient called a physician', 'the mechanic closed the garage'],
    ['how much do I owe', 'the unpaid bill', 'the fastest runner'],
    ['our Postgres is down', 'outage of the database server', 'a bowl of soup'],
    ['put it live tonight', 'deploy the release to production', 'feed the horses'],
    ['intoxicated', 'drunk', 'crimson'],
    ['alliance', 'coalition', 'garage'],
    ['worsen', 'aggravate', 'tape'],
    ['awareness', 'consciousness', 'edge'],
  ])('puts "%s" nearer to "%s" than to "%s"', async (text, near, far) => {
    expect(await similarity(text, near)).toBeGreaterThan((await similarity(text, far)) + 0.1);
  });

  it('finds an unseen name by its spelling, also when it is misspelt', async () => {
    const near = await similarity('Quibbleworth', 'the Quibbleworth report');
    const misspelt = await similarity('Quibblewort', 'Quibbleworth');
    const far = await similarity('Quibbleworth', 'the annual report');
    expect(near).toBeGreaterThan(far + 0.3);
    expect(misspelt).toBeGreaterThan(0.6);
  });

  it('finds a place in Japanese text by a part of its name', async () => {
    const near = await similarity('東京', '東京タワーに行きました');
    expect(near).toBeGreaterThan((await similarity('東京', '大阪の天気')) + 0.2);
  });

  it('reads an inflected or British form as its stem when it has no vector of its own', async () => {
    expect(await similarity('passphrases', 'passphrase')).toBeGreaterThan(0.8);
    expect(stemsOf('stopped')).toContain('stop');
    expect(stemsOf('queries')).toContain('query');
  });
});

describe('a batch', () => {
  it('gives a vector and a token count for each text, in order', async () => {
    const { vectors, tokens } = await embedder.embed(['one', 'one two three', '']);
    expect(vectors).toHaveLength(3);
    expect(tokens).toEqual([1, 3, 0]);
    await expect(embedder.embed([])).resolves.toEqual({ vectors: [], tokens: [] });
  });

  it('is not begun when the signal was aborted before', async () => {
    const signal = AbortSignal.abort(new Error('gone'));
    await expect(embedder.embed(['text'], { signal })).rejects.toThrow('gone');
  });

  it('lets other work run and stops in the midst of one endless text when it is aborted', async () => {
    const controller = new AbortController();
    const text = 'the quick brown fox jumps over the lazy dog '.repeat(200_000);
    const embedding = embedder.embed([text], { signal: controller.signal });
    setImmediate(() => controller.abort(new Error('enough')));
    await expect(embedding).rejects.toThrow('enough');
  });

  it('reads a long text to its end, part by part, as if it were one', async () => {
    const filler = 'and the of '.repeat(5_000);
    const { tokens, vectors } = await embedder.embed([`${filler}kubernetes`, filler]);
    expect(tokens).toEqual([15_001, 15_000]);
    expect(vectors[0]).not.toEqual(vectors[1]);
  });
});

describe('the words of a text', () => {
  const known = new Set(['javascript', 'oauth2']);
  const words = (text: string) => wordsOf(text, (word) => known.has(word));

  it('are names taken apart unless the whole is known', () => {
    expect(words('getUserById parseHTTPHeader user_id')).toEqual(
      'get user by id parse http header user id'.split(' '),
    );
    expect(words('JavaScript OAuth2 sha256')).toEqual(['javascript', 'oauth2', 'sha', '256']);
  });

  it('are English words without possessive ends, and a negation stays a word', () => {
    expect(words("the user's don’t we're")).toEqual(['the', 'user', 'do', 'not', 'we']);
  });

  it('are characters and pairs where a script has no spaces', () => {
    expect(words('東京都 api')).toEqual(['東', '京', '東京', '都', '京都', 'api']);
  });
});

async function similarity(a: string, b: string): Promise<number> {
  const [left, right] = (await embedder.embed([a, b])).vectors;
  return cosine(left!, right!);
}

function cosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((total, value, at) => total + value * b[at]!, 0);
}
