import { anthropicDialect } from './anthropic.ts';
import type { Dialect, DialectName } from './dialect.ts';
import { geminiDialect } from './gemini.ts';
import { ollamaDialect } from './ollama.ts';
import { openAiDialect } from './openai.ts';

/** Every dialect that an upstream can speak. */
export const dialects: Readonly<Record<DialectName, Dialect>> = {
  openai: openAiDialect,
  anthropic: anthropicDialect,
  gemini: geminiDialect,
  ollama: ollamaDialect,
};
