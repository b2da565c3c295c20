import { Type } from 'typebox';
import { secretSetting, settingOr, type ConfigOf, type Settings } from '../kit/config.ts';

const Count = Type.Integer({ minimum: 1, maximum: 1_000_000_000 });

/** The environment of the authentication service. */
export const authSettings = {
  adminUsername: settingOr(
    'ENNEAD_ADMIN_USERNAME',
    { schema: Type.String({ minLength: 1, maxLength: 128 }), or: 'admin' },
    'name of the first administrator, created when nobody has the role admin',
  ),
  adminPassword: secretSetting(
    'ENNEAD_ADMIN_PASSWORD',
    'password of the first administrator; when absent one is made and kept in `admin.json` in the data folder',
  ),
  passwordLogin: settingOr(
    'AUTH_PASSWORD_LOGIN',
    { schema: Type.Union([Type.Literal('on'), Type.Literal('off')]), or: 'on' },
    'on or off: whether anybody may log in with a password',
  ),
  loginAttempts: settingOr(
    'AUTH_LOGIN_ATTEMPTS',
    { schema: Count, or: 10 },
    'password logins in 15 minutes per username and per address',
  ),
  refreshesPerHour: settingOr(
    'AUTH_REFRESHES_PER_HOUR',
    { schema: Count, or: 100 },
    'refreshes in an hour per session',
  ),
  validationsPerMinute: settingOr(
    'AUTH_VALIDATIONS_PER_MINUTE',
    { schema: Count, or: 1000 },
    'validations in a minute per address',
  ),
} satisfies Settings;

export type AuthConfig = ConfigOf<typeof authSettings>;
