import { Type } from 'typebox';
import { secretSetting, settingOr, type ConfigOf, type Settings } from '../../kit/config.ts';

/** The environment of the alerts. */
export const alertSettings = {
  smtpUrl: secretSetting(
    'SMTP_URL',
    'the mail server that sends alerts, `smtp://user:password@host:587` or `smtps://…:465`; without it messages by email fail, which the history of the alert says',
  ),
  smtpFrom: settingOr(
    'SMTP_FROM',
    {
      schema: Type.String({
        maxLength: 320,
        pattern: '^[^\\u0000-\\u001f\\u007f]*@[^\\u0000-\\u001f\\u007f]*$',
        description: 'an address such as `Ennead <alerts@example.com>`',
      }),
      or: 'Ennead alerts <alerts@localhost>',
    },
    'the sender of alerts by email',
  ),
} satisfies Settings;

export type AlertConfig = ConfigOf<typeof alertSettings>;
