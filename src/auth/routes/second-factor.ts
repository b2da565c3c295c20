import type { Handlers } from '../../kit/http/call.ts';
import type { authContract } from '../contract.ts';
import type { AuthParts } from '../parts.ts';

/** The edge of second factors, and of the caller's own password. */
export function secondFactorHandlers({ secondFactor, ownPassword }: AuthParts) {
  return {
    readSecondFactor: async ({ identity }) => {
      const { enabledAt, recoveryCodesLeft } = await secondFactor.read(identity.subject);
      const totp = enabledAt
        ? { enabled: true, enabledAt: enabledAt.toISOString() }
        : { enabled: false };
      return { totp, recoveryCodesLeft };
    },
    beginSecondFactor: ({ body, identity, origin }) =>
      secondFactor.begin(body.password, { identity, origin }),
    enableSecondFactor: async ({ body, identity, origin }) => {
      const recoveryCodes = await secondFactor.enable(body.code, { identity, origin });
      return { enabled: true as const, recoveryCodes };
    },
    disableSecondFactor: async ({ body, identity, origin }) => {
      await secondFactor.disable(body, { identity, origin });
      return { enabled: false as const };
    },
    renewRecoveryCodes: async ({ body, identity, origin }) => ({
      recoveryCodes: await secondFactor.renewRecoveryCodes(body.code, { identity, origin }),
    }),
    resetSecondFactor: async ({ params, identity, origin }) => ({
      userId: params.id,
      reset: await secondFactor.reset(params.id, { identity, origin }),
    }),
    changePassword: async ({ body, identity, origin }) => {
      const { currentPassword: current, newPassword: next } = body;
      await ownPassword.change({ current, next }, { identity, origin });
      return { changed: true as const };
    },
  } satisfies Partial<Handlers<typeof authContract>>;
}
