import { chatWrappers, specializedChatWrapperTypeNames } from 'node-llama-cpp';
import { expect, test } from 'vitest';
import { knownMarks } from './chat-format.ts';

test.each(specializedChatWrapperTypeNames)(
  'a template that says the same as the format %s is searched for it',
  (name) => {
    const format = new chatWrappers[name]();
    const { contextText } = format.generateContextState({
      chatHistory: [
        { type: 'user', text: 'A question' },
        { type: 'model', response: ['An answer'] },
      ],
    });
    const text = contextText.toString();
    expect(knownMarks.filter((mark) => text.includes(mark))).not.toEqual([]);
  },
);
