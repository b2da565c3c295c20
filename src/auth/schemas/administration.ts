import { Type } from 'typebox';
import { permissionPattern } from '../../kit/permissions.ts';
import { pageQuery } from '../../kit/paging.ts';

const timestamp = Type.String({ format: 'date-time' });
const role = Type.String({ minLength: 1, maxLength: 64 });
const roles = Type.Array(role, { maxItems: 16 });
const password = Type.String({ minLength: 8, description: 'at most 1,024 bytes' });
const email = Type.String({
  maxLength: 254,
  pattern: '^[^\\s@\\u0000-\\u001f\\u007f]+@[^\\s@\\u0000-\\u001f\\u007f]+$',
  description: 'an email address',
});
/** Half a character would be stored as another one than is answered. */
const wholeCharacters = {
  pattern: '^(?:[^\\ud800-\\udfff]|[\\ud800-\\udbff][\\udc00-\\udfff])*$',
  description: 'a name of whole characters',
};
const displayName = Type.String({ maxLength: 200, ...wholeCharacters });
const permission = Type.String({
  pattern: permissionPattern,
  maxLength: 128,
  description: 'a permission such as agent:read',
});
const permissions = Type.Array(permission, { maxItems: 100 });

export const idParams = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 128, description: 'as its listing answers it' }),
});

/** Query of the listing of users. */
export const userPage = Type.Object({
  ...pageQuery(),
  username: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'only the user of this name, whatever its case or Unicode form',
    }),
  ),
});

export const userFields = Type.Object(
  {
    id: Type.String(),
    username: Type.String(),
    email: Type.String(),
    name: Type.String(),
    roles: Type.Array(Type.String()),
    disabled: Type.Boolean(),
    createdAt: timestamp,
    updatedAt: timestamp,
    lastLoginAt: Type.Optional(timestamp),
  },
  { $id: 'User' },
);

export const newUser = Type.Object(
  {
    username: Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'letters, digits and . _ @ + -; unique whatever its case or Unicode form',
    }),
    password,
    email,
    name: displayName,
    roles,
  },
  { $id: 'NewUser' },
);

export const userChanges = Type.Object(
  {
    password: Type.Optional(password),
    email: Type.Optional(email),
    name: Type.Optional(displayName),
    roles: Type.Optional(
      Type.Array(role, { maxItems: 16, description: 'refused for users of identity providers' }),
    ),
    disabled: Type.Optional(Type.Boolean()),
  },
  { $id: 'UserChanges' },
);

const apiKeyProperties = {
  id: Type.String(),
  name: Type.String(),
  service: Type.String(),
  kind: Type.Union([Type.Literal('user'), Type.Literal('service')]),
  ownerId: Type.String({ description: 'whom a user key acts for; who made a service key' }),
  permissions: Type.Array(Type.String()),
  prefix: Type.String({ description: 'how the key begins; shows nothing of the secret' }),
  createdAt: timestamp,
  expiresAt: Type.Optional(timestamp),
  lastUsedAt: Type.Optional(timestamp),
  revokedAt: Type.Optional(timestamp),
  previousExpiresAt: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'until when a secret from before a rotation is good, at the longest',
    }),
  ),
};

export const apiKeyFields = Type.Object(apiKeyProperties, { $id: 'ApiKey' });

/** The one answer that holds the key itself. */
export const apiKeyAnswer = Type.Object(
  { ...apiKeyProperties, api_key: Type.String({ description: 'shown this once' }) },
  { $id: 'NewApiKeyAnswer' },
);

export const newApiKey = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 200, ...wholeCharacters }),
    service: Type.String({
      pattern: '^[a-z][a-z0-9-]{0,62}$',
      description: 'up to 63 lower-case letters, digits and hyphens, a letter first',
    }),
    permissions,
    expiresInDays: Type.Optional(Type.Integer({ minimum: 1, maximum: 3650 })),
    userId: Type.Optional(
      Type.String({
        maxLength: 128,
        description:
          'makes it the key of a user: it acts for the user and never beyond what the user may',
      }),
    ),
  },
  { $id: 'NewApiKey' },
);

export const auditEvent = Type.Object(
  {
    eventType: Type.String(),
    userId: Type.String({ description: 'empty when nobody is known to be meant' }),
    timestamp,
    ip: Type.String(),
    userAgent: Type.String(),
    clientId: Type.String(),
    metadata: Type.Object(
      { mfa: Type.Boolean(), provider: Type.String() },
      { additionalProperties: true },
    ),
  },
  { $id: 'AuditEvent' },
);

export const revocation = Type.Object(
  {
    kind: Type.Union([
      Type.Literal('token'),
      Type.Literal('session'),
      Type.Literal('subject'),
      Type.Literal('key'),
    ]),
    id: Type.String(),
    revokedAt: Type.Integer({ description: 'Unix seconds' }),
    expiresAt: Type.Integer({ description: 'Unix seconds' }),
    tokenEpoch: Type.Optional(
      Type.Integer({
        description:
          'of a `subject`: its tokens with a smaller `token_epoch` are refused; all when absent',
      }),
    ),
    planned: Type.Optional(
      Type.Boolean({ description: 'true when it begins at `revokedAt`, which may be to come' }),
    ),
  },
  { $id: 'Revocation' },
);
