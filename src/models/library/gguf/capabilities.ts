import type { Capability } from '../../inference/inference.ts';
import type { GgufHeader } from './gguf-header.ts';

/** What a model of this header can do; nothing for a vision projector or a ranking model. */
export function capabilitiesOf(header: GgufHeader): readonly Capability[] {
  const { architecture, pooling } = header;
  if (pooling === 'rank' || architecture === 'clip') return [];
  if (encoders.has(architecture) || (pooling !== undefined && pooling !== 'none')) {
    return ['embedding'];
  }
  // A model whose template knows no tools is told of them in words.
  return ['completion', 'json', 'tools'];
}

/** Architectures that read text and write none. */
const encoders = new Set([
  'bert',
  'eurobert',
  'gemma-embedding',
  'jina-bert-v2',
  'jina-bert-v3',
  'modern-bert',
  'neo-bert',
  'nomic-bert',
  'nomic-bert-moe',
  't5encoder',
]);
