import { assistant } from './assistant.ts';
import { coder } from './coder.ts';
import { reviewer } from './reviewer.ts';
import type { Template } from './template.ts';
import { tester } from './tester.ts';

/** All kinds of agents that there are. */
export const templates: readonly Template[] = [assistant, coder, reviewer, tester];

/** The template of a `type` of spawn: `assistant` for a word that names none. */
export function templateFor(type: string): Template {
  return templates.find(({ name }) => name === type) ?? assistant;
}
