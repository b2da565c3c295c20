import type { Capability, Connection } from './connection.ts';

/** What a connection can do, by name: what it declares and then the tools that it offers, each once. */
export function capabilityNames(
  connection: Pick<Connection, 'declared' | 'offer'>,
): readonly string[] {
  const { declared, offer } = connection;
  const names = new Set<string>();
  for (const { name } of declared) names.add(name);
  for (const { name } of offer?.tools ?? []) names.add(name);
  return [...names];
}

/** The same with descriptions and schemas: what was learned of a tool counts more than its declaration. */
export function listCapabilities(
  connection: Pick<Connection, 'declared' | 'offer'>,
): readonly Capability[] {
  const found = new Map<string, Capability>();
  for (const one of connection.declared) found.set(one.name, one);
  for (const { name, description, inputSchema } of connection.offer?.tools ?? []) {
    const declared = found.get(name)?.description;
    const told = description ?? declared;
    found.set(name, {
      name,
      ...(told === undefined ? {} : { description: told }),
      schema: inputSchema,
    });
  }
  return [...found.values()];
}
