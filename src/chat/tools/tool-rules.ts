import type { ToolRules } from '../conversations/conversation.ts';
import type { ListedTool } from './listed-tool.ts';
import type { OfferedTool } from './tool.ts';

/** Of tools in one question: some providers take no more. */
export const offeredMax = 128;
/** Of all their schemas together, which each question carries. */
const parametersBytesMax = 512 * 1024;

const anyTool = '__*';

/** What rules come to with the tools that there are. */
export interface ToolPlan {
  readonly offered: readonly ListedTool[];
  /** Allowed too, but more than a model is told of. */
  readonly leftOut: readonly ListedTool[];
  /** What is allowed and no tool has now. */
  readonly missing: readonly string[];
}

/** The tools that rules allow, in the registry's order, as far as a model can be told of them. */
export function planTools({ allow }: ToolRules, tools: readonly ListedTool[]): ToolPlan {
  const allowed = tools.filter((tool) => allow.some((rule) => covers(rule, tool)));
  const offered: ListedTool[] = [];
  const leftOut: ListedTool[] = [];
  let bytes = 0;
  for (const tool of allowed) {
    bytes += JSON.stringify(tool.parameters).length;
    const isRoom = offered.length < offeredMax && bytes <= parametersBytesMax;
    (isRoom ? offered : leftOut).push(tool);
  }
  const missing = allow.filter((rule) => !allowed.some((tool) => covers(rule, tool)));
  return { offered, leftOut, missing };
}

/** Whether a rule, `connection__tool` or `connection__*`, is about a tool. */
export function covers(rule: string, { id, connection }: ListedTool): boolean {
  return rule === id || (rule.endsWith(anyTool) && rule.slice(0, -anyTool.length) === connection);
}

/** The connection of a rule; undefined for what is no rule. */
export function connectionOf(rule: string): string | undefined {
  const end = rule.indexOf('__');
  return end > 0 && end + 2 < rule.length ? rule.slice(0, end) : undefined;
}

/** Whether a call of it must be approved first. */
export function needsApproval(
  { approval }: Pick<ToolRules, 'approval'>,
  { isReadOnly }: Pick<ListedTool, 'isReadOnly'>,
): boolean {
  if (approval === 'writes') return !isReadOnly;
  return approval === 'always';
}

/** As a model is told of it. */
export function toOffer(rules: ToolRules, tool: ListedTool): OfferedTool {
  const { name, description, parameters } = tool;
  return { name, description, parameters, needsApproval: needsApproval(rules, tool) };
}
