import { Fault } from '../../kit/errors.ts';
import { chat } from './chat.ts';
import { classify } from './classify.ts';
import { embed } from './embed.ts';
import { generate } from './generate.ts';
import { listModels } from './list-models.ts';
import { summarize } from './summarize.ts';
import type { ModelTool } from './tool.ts';

/** Every tool, as `/invoke`, `GET /tools` and MCP offer them. */
export const modelTools: readonly ModelTool[] = [
  generate,
  chat,
  embed,
  summarize,
  classify,
  listModels,
];

/** The tool of that name; throws `not_found` (`tool_not_found`), which lists those that exist. */
export function findTool(name: string): ModelTool {
  const found = modelTools.find((tool) => tool.name === name);
  if (found) return found;
  const names = modelTools.map((tool) => tool.name);
  throw new Fault('not_found', `there is no tool ${name}; there are ${names.join(', ')}`, {
    reason: 'tool_not_found',
    detail: { param: 'tool', tools: names },
  });
}
