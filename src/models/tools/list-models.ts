import { Type } from 'typebox';
import type { ModelInfo } from '../inference/inference.ts';
import { defineTool } from './tool.ts';

/** A model as the tools show it. */
export const ListedModel = Type.Object({
  name: Type.String(),
  size: Type.Integer({ description: 'bytes on disk' }),
  capabilities: Type.Array(Type.String(), {
    description: '`completion`, `tools`, `json`, `embedding`',
  }),
});

export const listModels = defineTool({
  name: 'list_models',
  title: 'List the models',
  description: 'Names the models that the other tools take, the default first.',
  inputSchema: Type.Object({}),
  outputSchema: Type.Object({
    output: Type.Array(ListedModel),
    model: Type.String({
      description: 'the default model; not among the others while it is missing, empty without any',
    }),
  }),
  run: async (_input, { inference }) => {
    const [models, model = ''] = await Promise.all([inference.list(), inference.defaultName()]);
    return { output: models.map(toListedModel), model };
  },
});

/** What the tools show of a model. */
export function toListedModel({ name, bytes, capabilities }: ModelInfo) {
  return { name, size: bytes, capabilities: [...capabilities] };
}
