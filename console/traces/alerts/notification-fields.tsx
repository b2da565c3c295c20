import type { ReactNode } from 'react';
import { Field } from '../../ui/field.tsx';
import type { NotificationDraft } from './draft.ts';

export interface NotificationFieldsProps {
  readonly notifications: readonly NotificationDraft[];
  readonly onSet: (notifications: readonly NotificationDraft[]) => void;
}

const notificationsMax = 10;

/** Who is told. */
export function NotificationFields({ notifications, onSet }: NotificationFieldsProps): ReactNode {
  const add = (type: NotificationDraft['type']) => {
    const key = Math.max(-1, ...notifications.map((one) => one.key)) + 1;
    onSet([...notifications, { key, type, webhook: '', channel: '', recipients: '' }]);
  };
  const isFull = notifications.length >= notificationsMax;
  return (
    <fieldset className="stack">
      <legend>Who is told</legend>
      {notifications.map((one) => (
        <NotificationRow
          key={one.key}
          notification={one}
          onSet={(part) =>
            onSet(
              notifications.map((other) => (other.key === one.key ? { ...other, ...part } : other)),
            )
          }
          onRemove={() => onSet(notifications.filter(({ key }) => key !== one.key))}
        />
      ))}
      <div className="row">
        <button type="button" disabled={isFull} onClick={() => add('slack')}>
          Add Slack
        </button>
        <button type="button" disabled={isFull} onClick={() => add('email')}>
          Add email
        </button>
      </div>
    </fieldset>
  );
}

interface NotificationRowProps {
  readonly notification: NotificationDraft;
  readonly onSet: (part: Partial<NotificationDraft>) => void;
  readonly onRemove: () => void;
}

function NotificationRow({ notification, onSet, onRemove }: NotificationRowProps): ReactNode {
  const { type, webhook, channel, recipients } = notification;
  return (
    <div className="alert-fields">
      {type === 'email' ? (
        <Field label="Email addresses" hint="separated by commas; needs SMTP_URL">
          <input
            required
            value={recipients}
            onChange={({ target }) => onSet({ recipients: target.value })}
          />
        </Field>
      ) : (
        <>
          <Field
            label="Slack webhook"
            hint="its address is kept secret; *** keeps the one there is"
          >
            <input
              required
              value={webhook}
              placeholder="https://hooks.slack.com/services/…"
              onChange={({ target }) => onSet({ webhook: target.value })}
            />
          </Field>
          <Field label="Channel" hint="the webhook’s own when empty">
            <input
              value={channel}
              placeholder="#alerts"
              onChange={({ target }) => onSet({ channel: target.value })}
            />
          </Field>
        </>
      )}
      <button type="button" className="danger" onClick={onRemove}>
        Remove
      </button>
    </div>
  );
}
