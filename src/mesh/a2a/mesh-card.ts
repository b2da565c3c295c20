/** What the card of the mesh needs to know. */
export interface MeshCardFacts {
  /** Where the mesh is reached, without a slash at the end. */
  readonly url: string;
  readonly version: string;
  /** What registered agents can do now. */
  readonly capabilities: readonly string[];
}

const skillsMax = 100;
const textModes = ['text/plain', 'application/json'];

/** The mesh's own agent card, in the form of 1.0 with what clients of 0.3 read beside it. */
export function meshCard({ url, version, capabilities }: MeshCardFacts): Record<string, unknown> {
  const address = `${url}/a2a`;
  return {
    name: 'Ennead Mesh',
    description:
      'Takes messages for all agents that are registered: `metadata.mesh.agentId` or `metadata.mesh.capability` picks one.',
    version,
    supportedInterfaces: ['1.0', '0.3'].map((protocolVersion) => ({
      url: address,
      protocolBinding: 'JSONRPC',
      protocolVersion,
    })),
    // The names of 0.3.
    url: address,
    preferredTransport: 'JSONRPC',
    protocolVersion: '0.3.0',
    capabilities: { streaming: false, pushNotifications: false },
    defaultInputModes: textModes,
    defaultOutputModes: textModes,
    securitySchemes: {
      bearer: { httpAuthSecurityScheme: { scheme: 'bearer', bearerFormat: 'JWT' } },
    },
    securityRequirements: [{ schemes: { bearer: { list: [] } } }],
    skills: skillsOf(capabilities),
  };
}

function skillsOf(capabilities: readonly string[]) {
  const known = capabilities.length > 0 ? capabilities.slice(0, skillsMax) : ['chat'];
  return known.map((capability) => ({
    id: capability,
    name: capability,
    description: `Any agent that registered the capability ${capability}.`,
    tags: [capability],
  }));
}
