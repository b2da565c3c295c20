import { Type } from 'typebox';
import { secretSetting, setting, settingOr, type ConfigOf, type Settings } from '../kit/config.ts';
import { nodeEnvironment } from '../kit/production.ts';

const Count = Type.Integer({ minimum: 1, maximum: 1_000_000_000 });

const WebAddresses = Type.String({
  pattern: '^[\\s,]*(https?://[^\\s,#]+\\s*(,[\\s,]*|$))*$',
  maxLength: 8192,
  description: 'http(s) addresses without a fragment, separated by commas',
});

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
    'password logins in 15 minutes of one account from one address',
  ),
  loginAttemptsPerAccount: settingOr(
    'AUTH_LOGIN_ATTEMPTS_PER_ACCOUNT',
    { schema: Count, or: 50 },
    'password logins in 15 minutes of one account from all addresses that are new to it',
  ),
  loginAttemptsPerAddress: settingOr(
    'AUTH_LOGIN_ATTEMPTS_PER_ADDRESS',
    { schema: Count, or: 100 },
    'password logins in 15 minutes of one address over all accounts',
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
  nodeEnvironment,
  redirectUris: settingOr(
    'AUTH_REDIRECT_URIS',
    { schema: WebAddresses, or: '' },
    "addresses, separated by commas, to which a login may return besides the provider's own callback; loopback counts only outside production",
  ),
  idpUrl: setting(
    'AUTH_IDP_URL',
    Type.String({ pattern: '^https?://', maxLength: 2048 }),
    'base address of the GitLab that is the identity provider `idp`',
  ),
  idpClientId: setting(
    'AUTH_IDP_CLIENT_ID',
    Type.String({ maxLength: 512 }),
    'id of this suite at the identity provider',
  ),
  idpClientSecret: secretSetting(
    'AUTH_IDP_CLIENT_SECRET',
    'secret of this suite at the identity provider',
  ),
  idpCallbackUrl: setting(
    'AUTH_IDP_CALLBACK_URL',
    Type.String({ pattern: '^https?://', maxLength: 2048 }),
    'where the identity provider sends browsers back to',
  ),
  idpScopes: settingOr(
    'AUTH_IDP_SCOPES',
    { schema: Type.String({ maxLength: 1024 }), or: 'openid profile email read_user' },
    'what is asked of the identity provider, separated by spaces',
  ),
  keyRotationDays: settingOr(
    'AUTH_KEY_ROTATION_DAYS',
    { schema: Type.Integer({ minimum: 0, maximum: 3650 }), or: 90 },
    'days after which the next signing key takes over; 0 for never',
  ),
  keyRereadSeconds: settingOr(
    'AUTH_KEY_REREAD_SECONDS',
    { schema: Type.Number({ minimum: 0, maximum: 3600 }), or: 5 },
    'how often replicas compare the signing keys with the database, for a notice may be lost; 0 for never',
  ),
} satisfies Settings;

export type AuthConfig = ConfigOf<typeof authSettings>;
