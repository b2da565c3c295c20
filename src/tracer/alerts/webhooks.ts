import { join } from 'node:path';
import type { Egress } from '../../kit/egress/egress.ts';
import { Fault } from '../../kit/errors.ts';
import { openSealer, type Sealer } from '../../kit/secrets/sealing.ts';
import { maskOf, type Notification, type SealedNotification } from './alert.ts';
import { hasSealedWebhook, type AlertSql } from './alert-store.ts';

export interface WebhooksOptions {
  readonly sql: AlertSql;
  /** The suite's data folder: the key lies outside the database. */
  readonly dataFolder: string;
  readonly egress: Egress;
}

/** Keeps the addresses of webhooks secret: who has one can post. */
export class Webhooks {
  readonly #options: WebhooksOptions;
  #sealer: Sealer | undefined;

  constructor(options: WebhooksOptions) {
    this.#options = options;
  }

  /**
   * The notifications of an alert as they are stored. A webhook that is given as it was shown stands
   * for the one that was stored, of `before`. Throws `invalid` for what is no address, `forbidden`
   * for one that may not be called.
   */
  async seal(
    alertId: string,
    notifications: readonly Notification[],
    before: readonly SealedNotification[] = [],
  ): Promise<SealedNotification[]> {
    const needsKey = notifications.some(({ type }) => type === 'slack');
    const sealer = needsKey ? await this.#openSealer() : undefined;
    return notifications.map((one, place) => {
      if (one.type === 'email') return { type: 'email', recipients: one.recipients };
      const channel = one.channel === undefined ? {} : { channel: one.channel };
      const kept = findKept(one.webhook, { place, before });
      if (kept) return { type: 'slack', origin: kept.origin, webhook: kept.webhook, ...channel };
      const url = this.#check(one.webhook, place);
      const webhook = sealer?.seal(Buffer.from(url.href), contextOf(alertId)) ?? '';
      return { type: 'slack', origin: url.origin, webhook, ...channel };
    });
  }

  /** The address itself; throws `conflict` when the key that it was sealed with is not there. */
  async reveal(alertId: string, sealed: string): Promise<string> {
    const sealer = await this.#openSealer();
    return sealer.unseal(sealed, contextOf(alertId)).toString();
  }

  #check(webhook: string, place: number): URL {
    const path = `notifications.${place}.webhook`;
    if (webhook.endsWith('/***')) {
      throw badWebhook(path, 'must be given whole: no stored address is to be kept for it');
    }
    try {
      return this.#options.egress.checkUrl(webhook);
    } catch (error) {
      const { code, message } = Fault.from(error);
      if (code === 'invalid') throw badWebhook(path, `is refused: ${message}`);
      throw error;
    }
  }

  async #openSealer(): Promise<Sealer> {
    const { sql, dataFolder } = this.#options;
    this.#sealer ??= await openSealer({
      folder: join(dataFolder, 'secrets'),
      mayCreate: !(await hasSealedWebhook(sql)),
    });
    return this.#sealer;
  }
}

type SealedSlack = Extract<SealedNotification, { readonly type: 'slack' }>;

/** The stored one that was shown like this: of the same place, else the only one. */
function findKept(
  webhook: string,
  { place, before }: { readonly place: number; readonly before: readonly SealedNotification[] },
): SealedSlack | undefined {
  const isMeant = (one: SealedNotification | undefined): one is SealedSlack =>
    one?.type === 'slack' && maskOf(one.origin) === webhook;
  const own = before[place];
  if (isMeant(own)) return own;
  const all = before.filter(isMeant);
  return all.length === 1 ? all[0] : undefined;
}

function badWebhook(path: string, message: string): Fault {
  const flaw = { path: `body.${path}`, message };
  return new Fault('invalid', `${flaw.path} ${message}`, {
    reason: 'validation_error',
    detail: { errors: [flaw], param: path },
  });
}

function contextOf(alertId: string): string {
  return `tracer alert ${alertId}`;
}
