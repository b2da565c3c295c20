import { Type } from 'typebox';
import { settingOr, type ConfigOf, type Settings } from '../../kit/config.ts';

/** The environment of what the gateway knows of money. */
export const moneySettings = {
  journalMb: settingOr(
    'GATEWAY_SPEND_JOURNAL_MB',
    { schema: Type.Integer({ minimum: 1, maximum: 65_536 }), or: 256 },
    'megabytes of spends that each replica of the gateway keeps in its journal file while the database is away; what is spent beyond is answered but not written down',
  ),
  recentSpendsMax: settingOr(
    'GATEWAY_RECENT_SPENDS_MAX',
    { schema: Type.Integer({ minimum: 0, maximum: 100_000_000 }), or: 200_000 },
    'spends of the last 7 days that the gateway keeps one by one; the sums of days stay for ever',
  ),
} satisfies Settings;

export type MoneyConfig = ConfigOf<typeof moneySettings>;
