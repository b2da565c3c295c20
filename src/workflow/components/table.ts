import { aiComponents, type AiDependencies } from './ai/ai-components.ts';
import { cmsComponents } from './cms/cms-components.ts';
import type { CmsOptions } from './cms/drupal.ts';
import type { Component, ComponentTable } from './component.ts';
import { dataComponents, type DataDependencies } from './data/data-components.ts';
import { logicComponents, type LogicDependencies } from './logic/logic-components.ts';
import { toolComponents, type ToolDependencies } from './tools/tool-components.ts';

/** What the components of each group need. */
export interface ComponentDependencies {
  readonly ai: AiDependencies;
  readonly cms: CmsOptions;
  readonly tools: ToolDependencies;
  readonly logic: LogicDependencies;
  readonly data: DataDependencies;
}

/** All components that flows may name. */
export function openComponents(dependencies: ComponentDependencies): ComponentTable {
  return createTable([
    ...aiComponents(dependencies.ai),
    ...cmsComponents(dependencies.cms),
    ...toolComponents(dependencies.tools),
    ...logicComponents(dependencies.logic),
    ...dataComponents(dependencies.data),
  ]);
}

/** Components by their names; an Error when two have the same. */
export function createTable(components: readonly Component[]): ComponentTable {
  const table = new Map(components.map((component) => [component.name, component]));
  if (table.size < components.length) throw new Error('two components have the same name');
  return table;
}
