import { getLlama, LlamaLogLevel, type Token } from 'node-llama-cpp';
import { expect, test } from 'vitest';
import { openTestModel, testModelPath } from './testing.ts';

const { model } = await openTestModel();
const ours = model.vocabulary;
const llama = await getLlama({ gpu: false, build: 'never', logLevel: LlamaLogLevel.error });
const theirs = await llama.loadModel({ modelPath: testModelPath, vocabOnly: true });

const texts = [
  'Hello world',
  '  two spaces',
  '\nnewline',
  'naïve 🎉👩‍👩‍👧 漢字',
  '<|user|>What?<|end|>',
  '',
  ' ',
  '123 456.789e10',
  'x'.repeat(300),
  '\u0000\u2028\t',
  'a\uD800b',
];

test.each(texts)('reads and writes %j as node-llama-cpp does', (text) => {
  for (const withMarks of [false, true]) {
    for (const options of [undefined, 'trimLeadingSpace'] as const) {
      const tokens = theirs.tokenizer(text, withMarks, options);
      expect(ours.tokenizer(text, withMarks, options)).toEqual(tokens);
      expect(ours.detokenize(tokens, withMarks)).toBe(theirs.detokenize(tokens, withMarks));
      const last = tokens.slice(-1);
      const before = tokens.slice(0, -1);
      expect(ours.detokenize(last, withMarks, before)).toBe(
        theirs.detokenize(last, withMarks, before),
      );
    }
  }
});

test('knows the same tokens as marks', () => {
  const tokens = Array.from({ length: ours.size }, (_, i) => i as Token);
  expect(tokens.filter(ours.isSpecial)).toEqual(tokens.filter(theirs.isSpecialToken));
  expect(tokens.filter(ours.endsAnswer)).toEqual(tokens.filter(theirs.isEogToken));
  for (const name of ['BOS', 'EOS', 'NL', 'EOT', 'SEP'] as const)
    expect(ours.tokenizer(name, 'builtin')).toEqual(theirs.tokenizer(name, 'builtin'));
});
