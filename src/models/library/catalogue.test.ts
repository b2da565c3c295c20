import { expect, test } from 'vitest';
import { catalogue, findInCatalogue, recommendFor } from './catalogue.ts';
import { parseModelName } from './model-name.ts';
import { parseReference } from './pull/reference.ts';

const gib = 1024 ** 3;

test.each(catalogue)('$name can be pulled by its name', (entry) => {
  expect(parseModelName(entry.name)).toBe(entry.name);
  expect(parseReference(entry.name.toUpperCase())).toMatchObject({
    kind: 'hugging-face',
    repository: entry.repository,
    selector: entry.file,
    name: entry.name,
  });
  expect(entry.memoryBytes).toBeGreaterThan(entry.bytes);
});

test('no two entries share a name', () => {
  expect(new Set(catalogue.map(({ name }) => name)).size).toBe(catalogue.length);
});

test('what is recommended fits and grows with the memory', () => {
  expect(recommendFor(gib)).toBeUndefined();
  expect(recommendFor(2 * gib)?.name).toBe('smollm2:360m');
  expect(recommendFor(3 * gib)?.name).toBe('qwen3:0.6b');
  expect(recommendFor(4 * gib)?.name).toBe('qwen3:1.7b');
  expect(recommendFor(16 * gib)?.name).toBe('qwen3:4b');
});

test('a name that is not in the catalogue is left to the registry of Ollama', () => {
  expect(findInCatalogue('qwen3')).toBeUndefined();
  expect(parseReference('qwen3')).toMatchObject({ kind: 'ollama', tag: 'latest' });
});
