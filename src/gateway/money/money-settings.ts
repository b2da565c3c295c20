import { Type } from 'typebox';
import { settingOr, type ConfigOf, type Settings } from '../../kit/config.ts';

/** The environment of what the gateway knows of money. */
export const moneySettings = {
  journalMb: settingOr(
    'GATEWAY_SPEND_JOURNAL_MB',
    { schema: Type.Integer({ minimum: 1, maximum: 65_536 }), or: 256 },
    'megabytes of spends that each replica of the gateway keeps in its journal file while the database is away; what is spent beyond is answered but not written down',
  ),
} satisfies Settings;

export type MoneyConfig = ConfigOf<typeof moneySettings>;
