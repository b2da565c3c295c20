import type { EmbeddingsClient } from '../../../kit/vectors/embed-texts.ts';
import type { Component } from '../component.ts';
import { createEmbeddings } from './embeddings.ts';
import { createImageGen, type ImagesClient } from './image-gen.ts';
import { createLlmNode, type CompletionsClient } from './llm-node.ts';
import { createVectorSearch, type VectorSearchDependencies } from './vector-search.ts';

export interface AiDependencies extends VectorSearchDependencies {
  /** The client of the gateway's contract. */
  readonly gateway: CompletionsClient & ImagesClient;
  /** The client of the models' contract. */
  readonly models: EmbeddingsClient;
}

/** What asks models. */
export function aiComponents(dependencies: AiDependencies): readonly Component[] {
  return [
    createLlmNode(dependencies.gateway),
    createVectorSearch(dependencies),
    createEmbeddings(dependencies.models),
    createImageGen(dependencies.gateway),
  ];
}
