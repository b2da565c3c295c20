import { Type } from 'typebox';
import { secretSetting, setting, settingOr, type ConfigOf, type Settings } from '../kit/config.ts';

function count(standard: number) {
  return Type.Integer({ minimum: 1, maximum: 1_000_000_000, default: standard });
}

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
  loginAttempts: setting(
    'AUTH_LOGIN_ATTEMPTS',
    count(10),
    'password logins in 15 minutes per username and per address',
  ),
  refreshesPerHour: setting(
    'AUTH_REFRESHES_PER_HOUR',
    count(100),
    'refreshes in an hour per session',
  ),
  validationsPerMinute: setting(
    'AUTH_VALIDATIONS_PER_MINUTE',
    count(1000),
    'validations in a minute per address',
  ),
} satisfies Settings;

export type AuthConfig = ConfigOf<typeof authSettings>;
