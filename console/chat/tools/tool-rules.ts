/** What a conversation is allowed: tools by `connection__tool`, and `connection__*` for all of one. */
export type AllowedTools = ReadonlySet<string>;

export interface ToolName {
  readonly name: string;
  readonly connection: string;
}

/** The name that stands for all tools of a connection, also those that it has later. */
export function allOf(connection: string): string {
  return `${connection}__*`;
}

export function isAllowed(allowed: AllowedTools, { name, connection }: ToolName): boolean {
  return allowed.has(name) || allowed.has(allOf(connection));
}

/** Allows one tool, or no longer; where all of its connection were, the others stay. */
export function toggleTool(
  allowed: AllowedTools,
  tool: ToolName,
  siblings: readonly ToolName[],
): AllowedTools {
  const all = allOf(tool.connection);
  const next = new Set(allowed);
  if (!isAllowed(allowed, tool)) return next.add(tool.name);
  if (next.delete(all)) for (const { name } of siblings) next.add(name);
  next.delete(tool.name);
  return next;
}

/** Allows all of a connection, or none. */
export function toggleConnection(
  allowed: AllowedTools,
  connection: string,
  siblings: readonly ToolName[],
): AllowedTools {
  const all = allOf(connection);
  const next = new Set(allowed);
  for (const { name } of siblings) next.delete(name);
  if (!next.delete(all)) next.add(all);
  return next;
}

/** Tools below their connections, both in the order in which they come. */
export function byConnection<T extends ToolName>(tools: readonly T[]): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const tool of tools) {
    groups.set(tool.connection, [...(groups.get(tool.connection) ?? []), tool]);
  }
  return groups;
}
