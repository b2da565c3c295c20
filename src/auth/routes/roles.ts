import type { Handlers } from '../../kit/http/call.ts';
import type { authContract } from '../contract.ts';
import type { AuthParts } from '../parts.ts';
import type { GroupMapping } from '../roles/mapping-difference.ts';

/** The edge of the group mappings. */
export function roleHandlers({ groupMappings }: AuthParts) {
  return {
    listGroupMappings: async () => ({ mappings: (await groupMappings.list()).map(toAnswer) }),
    replaceGroupMappings: async ({ query, body, identity, origin }) => {
      const by = { identity, origin };
      if (!query.dryRun) {
        return { mappings: (await groupMappings.replace(body.mappings, by)).map(toAnswer) };
      }
      const preview = await groupMappings.preview(body.mappings, by);
      return {
        dryRun: true as const,
        added: preview.added.map(toAnswer),
        removed: preview.removed.map(toAnswer),
        changed: preview.changed.map(({ idpGroup, before, after }) => ({
          idpGroup,
          before: toAnswer(before),
          after: toAnswer(after),
        })),
        affectedUsers: preview.affectedUsers.map(({ before, after, ...user }) => ({
          ...user,
          before: [...before],
          after: [...after],
        })),
        affectedTotal: preview.affectedTotal,
      };
    },
  } satisfies Partial<Handlers<typeof authContract>>;
}

function toAnswer(mapping: GroupMapping) {
  return { ...mapping, permissions: [...mapping.permissions] };
}
