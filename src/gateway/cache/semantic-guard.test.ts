import { expect, test } from 'vitest';
import { decisiveWords } from './semantic-guard.ts';

test.each([
  ['Is 5 prime?', 'Is 7 prime?'],
  ['What is -5 squared?', 'What is 5 squared?'],
  ['What is 3 + 4?', 'What is 3 - 4?'],
  ['Add two apples', 'Add three apples'],
  ['Is it safe?', 'Is it not safe?'],
  ['Why does it work?', "Why doesn't it work?"],
  ['Ist das erlaubt?', 'Ist das nicht erlaubt?'],
  ['Who wrote "Emma"?', 'Who wrote "Persuasion"?'],
  ['Who wrote “emma”?', 'Who wrote “persuasion”?'],
  ["What does 'ls' do?", "What does 'rm' do?"],
  ['What does `ls` do?', 'What does `rm` do?'],
  ['Flights from Paris to London', 'Flights from London to Paris'],
  ['Paris is large?', 'London is large?'],
  ['How do I call readFile?', 'How do I call writeFile?'],
  ['What is node.js?', 'What is next.js?'],
  ['Sort ascending', 'Sort descending'],
  ['What came before the war?', 'What came after the war?'],
  ['In 1914, what happened?', 'In 1941, what happened?'],
])('%j and %j are different questions', (one, other) => {
  expect(decisiveWords(one)).not.toEqual(decisiveWords(other));
});

test.each([
  ['What is the capital of France?', 'Please tell me the capital of France.'],
  ['How is bread baked?', 'how do you bake bread'],
  ['Who wrote "Emma"?', 'Tell me who the author of "Emma" is.'],
])('%j and %j may be the same question', (one, other) => {
  expect(decisiveWords(one)).toEqual(decisiveWords(other));
});
