import { availableMemoryBytes } from '../../kit/memory.ts';
import type { GgufHeader } from '../library/gguf/gguf-header.ts';
import type { ModelKind } from './protocol.ts';

export interface ContextShape {
  readonly parallel: number;
  readonly contextTokensMax: number;
}

/** The share of the memory that models get when nothing is set. */
export function defaultBudgetBytes(): number {
  return Math.floor(availableMemoryBytes() * 0.6);
}

/**
 * What a model will take: its file, the keys and values of all sequences, and the buffers of one
 * batch. An estimate from the header, made before anything is loaded.
 */
export function estimateMemoryBytes(
  header: GgufHeader,
  kind: ModelKind,
  { parallel, contextTokensMax }: ContextShape,
): number {
  const contextTokens = contextTokensOf(header, { parallel, contextTokensMax });
  const tokens = kind === 'embedding' ? contextTokens : contextTokens * parallel;
  const perToken = header.contextBytesPerToken ?? 0;
  const logits = kind === 'embedding' ? 0 : (header.vocabularySize ?? 0) * logitBytes;
  const batch = Math.min(batchTokens, tokens) * logits;
  return header.fileBytesMin + tokens * perToken + batch + baseBytes;
}

/** What one request of a model may use. */
export function contextTokensOf(header: GgufHeader, { contextTokensMax }: ContextShape): number {
  return Math.min(contextTokensMax, header.contextTokens ?? contextTokensMax);
}

const batchTokens = 512;
const logitBytes = 4;
const baseBytes = 16 * 2 ** 20;
