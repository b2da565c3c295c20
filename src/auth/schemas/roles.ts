import { Type } from 'typebox';
import type { Route } from '../../kit/contract.ts';
import { permissionPattern } from '../../kit/permissions.ts';

const permissions = Type.Array(
  Type.String({
    pattern: permissionPattern,
    maxLength: 128,
    description: 'a permission such as agent:read',
  }),
  { maxItems: 100 },
);

// Without a name, for the serializer takes no name twice in one answer.
const mapping = Type.Object({
  idpGroup: Type.String({ minLength: 1, maxLength: 512, description: 'the full path' }),
  platformRole: Type.String({ minLength: 1, maxLength: 64 }),
  permissions,
});

const mappings = Type.Object({ mappings: Type.Array(mapping) });

const preview = Type.Object({
  dryRun: Type.Literal(true),
  added: Type.Array(mapping),
  removed: Type.Array(mapping),
  changed: Type.Array(Type.Object({ idpGroup: Type.String(), before: mapping, after: mapping })),
  affectedUsers: Type.Array(
    Type.Object({
      userId: Type.String(),
      username: Type.String(),
      before: Type.Array(Type.String({ description: 'a permission' })),
      after: Type.Array(Type.String({ description: 'a permission' })),
    }),
    { description: 'at most 100' },
  ),
  affectedTotal: Type.Integer(),
});

const url = '/api/v1/auth/group-mappings';
const permission = 'auth:admin';

/** What the groups of identity providers give. */
export const roleRoutes = {
  listGroupMappings: {
    method: 'GET',
    url,
    summary: 'List what role and permissions each group gives',
    permission,
    schema: { response: { 200: mappings } },
  },
  replaceGroupMappings: {
    method: 'PUT',
    url,
    summary: 'Replace all group mappings, or with `dryRun` say what that would do',
    description:
      'Users of a provider hold the permissions of the mappings of their own groups; a role that an administrator gave stands for what all mappings of that role have in common. Mappings and roles that give what you do not hold stay as they are. In force for the next tokens.',
    permission,
    schema: {
      query: Type.Object({
        dryRun: Type.Boolean({ default: false, description: 'only say what would change' }),
      }),
      body: Type.Object({ mappings: Type.Array(mapping, { maxItems: 1000 }) }),
      response: { 200: Type.Union([preview, mappings]) },
    },
  },
} as const satisfies Record<string, Route>;
