import { expect, test } from 'vitest';
import { readFailure as readAnthropic } from './anthropic/failure.ts';
import { readFailure as readGemini } from './gemini/failure.ts';
import { readFailure as readOllama } from './ollama/failure.ts';
import { readFailure as readOpenAi } from './openai/failure.ts';

const readers = {
  anthropic: readAnthropic,
  gemini: readGemini,
  ollama: readOllama,
  openai: readOpenAi,
};

test.each(Object.entries(readers))(
  'of %s, a status that tells of the provider and not of the request lets another be asked',
  (_name, read) => {
    const kindOf = (status: number) => read({ status, headers: {}, body: '' }).kind;
    expect([405, 410].map(kindOf)).toEqual(['missing', 'missing']);
    expect([409, 425, 429].map(kindOf)).toEqual(['limited', 'limited', 'limited']);
    expect([400, 415, 422].map(kindOf)).toEqual(['rejected', 'rejected', 'rejected']);
  },
);
