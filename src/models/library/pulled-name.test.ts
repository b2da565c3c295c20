import { expect, test } from 'vitest';
import { findPulled } from './pulled-name.ts';

const digest = 'ab'.repeat(32);
const hub = 'https://huggingface.co/p/quant/resolve';
const models = [
  { name: 'foo', source: 'https://registry.ollama.ai/v2/library/foo/blobs/sha256:1', digest },
  { name: 'hf.co/p/quant:Q8_0', source: `${hub}/main/m-Q8_0.gguf`, digest },
  { name: 'hf.co/p/quant:Q4_K_M', source: `${hub}/main/sub/m%20b-Q4_K_M.gguf`, digest },
  { name: 'cli', source: 'http://127.0.0.1:1/plain/cli.gguf', digest },
  { name: 'mine', source: '/home/me/mine.gguf', digest },
];

test.each([
  ['registry.ollama.ai/library/foo', 'foo'],
  ['hf.co/p/quant', 'hf.co/p/quant:Q4_K_M'],
  ['hf.co/P/quant:latest', 'hf.co/p/quant:Q4_K_M'],
  ['hf.co/p/quant:q8_0', 'hf.co/p/quant:Q8_0'],
  ['hf.co/p/quant:m-Q8_0.gguf', 'hf.co/p/quant:Q8_0'],
  [`${hub}/main/m-Q8_0.gguf?download=true`, 'hf.co/p/quant:Q8_0'],
  ['https://hf.co/p/quant/blob/main/sub/m%20b-Q4_K_M.gguf', 'hf.co/p/quant:Q4_K_M'],
  ['http://127.0.0.1:1/plain/cli.gguf?token=1', 'cli'],
  [`http://127.0.0.1:1/plain/cli.gguf#sha256=${digest}`, 'cli'],
])('%s finds what it was pulled as', (text, name) => {
  expect(findPulled(models, text)?.name).toBe(name);
});

test.each([
  '',
  'a b',
  'bar',
  'hf.co/p/quant:Q2_K',
  'hf.co/p/other',
  `${hub}/other/m-Q8_0.gguf`,
  'http://127.0.0.1:2/plain/cli.gguf',
  `http://127.0.0.1:1/plain/cli.gguf#sha256=${'00'.repeat(32)}`,
  '/home/me/mine.gguf',
])('%s finds nothing', (text) => {
  expect(findPulled(models, text)).toBeUndefined();
});
