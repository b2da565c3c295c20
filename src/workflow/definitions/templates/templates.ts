import { knowledgeTemplates } from './knowledge-templates.ts';
import { teamTemplates } from './team-templates.ts';
import type { Template } from './template.ts';
import { textTemplates } from './text-templates.ts';

/** The built-in workflows, in the order in which they are shown. */
export const templates: readonly Template[] = [
  ...textTemplates,
  ...knowledgeTemplates,
  ...teamTemplates,
];

const byId: ReadonlyMap<string, Template> = new Map(templates.map((one) => [one.id, one]));

/** The built-in workflow of an id. */
export function findTemplate(id: string): Template | undefined {
  return byId.get(id);
}
