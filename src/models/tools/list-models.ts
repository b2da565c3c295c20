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
    model: Type.String({ description: 'the default model' }),
  }),
  run: async (_input, { inference }) => {
    const { name } = await inference.find(undefined);
    return { output: (await inference.list()).map(toListedModel), model: name };
  },
});

/** What the tools show of a model. */
export function toListedModel({ name, bytes, capabilities }: ModelInfo) {
  return { name, size: bytes, capabilities: [...capabilities] };
}
