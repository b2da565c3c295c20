import { useState, type ReactNode } from 'react';
import { useAnswer, useChange } from '../../api/answers.ts';
import { Answered } from '../../ui/answered.tsx';
import { Badge } from '../../ui/badge.tsx';
import { ChangeForm } from '../../ui/change-form.tsx';
import { Field } from '../../ui/field.tsx';
import { textOf } from '../../ui/form-values.ts';
import { Modal } from '../../ui/modal.tsx';
import { ModalButton } from '../../ui/modal-button.tsx';
import { formatAge } from '../../ui/text.ts';
import { RecoveryCodes } from './recovery-codes.tsx';
import { SecondFactorSetup } from './second-factor-setup.tsx';

/** Whether a code of an app is wanted at one's login, and the way to either. */
export function SecondFactorCard(): ReactNode {
  const [isSettingUp, setIsSettingUp] = useState(false);
  const factor = useAnswer('auth', 'GET /api/v1/auth/mfa');
  const close = () => setIsSettingUp(false);
  return (
    <section className="card stack" aria-label="Second factor">
      <h2>Second factor</h2>
      <Answered query={factor}>
        {({ totp: { enabled, enabledAt }, recoveryCodesLeft }) =>
          enabled ? (
            <>
              <Badge state={`in force since ${formatAge(enabledAt ?? '')}`} tone="good" />
              <p className="faint">{recoveryCodesLeft} recovery codes are left.</p>
              <div className="row wrapping">
                <ModalButton label="New recovery codes">
                  {(done) => <NewCodes onClose={done} />}
                </ModalButton>
                <ModalButton label="Disable" title="Disable your second factor" look="danger">
                  {(done) => <Disabling onClose={done} />}
                </ModalButton>
              </div>
            </>
          ) : (
            <>
              <Badge state="not in force" tone="warning" />
              <p className="faint">
                With it, a login takes a code of an authenticator app besides the password.
              </p>
              <div>
                <button
                  type="button"
                  className="primary"
                  aria-haspopup="dialog"
                  onClick={() => setIsSettingUp(true)}
                >
                  Set it up
                </button>
              </div>
            </>
          )
        }
      </Answered>
      {/* The recovery codes are still to be shown when the factor is in force. */}
      {isSettingUp ? (
        <Modal title="Set up a second factor" onClose={close}>
          <SecondFactorSetup onClose={close} />
        </Modal>
      ) : null}
    </section>
  );
}

function NewCodes({ onClose }: { readonly onClose: () => void }) {
  const renewal = useChange('auth', 'POST /api/v1/auth/mfa/recovery-codes');
  if (renewal.data) return <RecoveryCodes codes={renewal.data.recoveryCodes} onClose={onClose} />;
  return (
    <ChangeForm
      change={renewal}
      action="Replace the codes"
      onSubmit={(form) => renewal.mutate({ body: { code: textOf(form, 'code').trim() } })}
      onCancel={onClose}
    >
      <p>Those that you have end.</p>
      <CodeField />
    </ChangeForm>
  );
}

function Disabling({ onClose }: { readonly onClose: () => void }) {
  const ending = useChange('auth', 'DELETE /api/v1/auth/mfa/totp');
  const disable = (form: FormData) =>
    ending.mutate(
      { body: { password: textOf(form, 'password'), code: textOf(form, 'code').trim() } },
      { onSuccess: onClose },
    );
  return (
    <ChangeForm
      change={ending}
      action="Disable it"
      isDestructive
      onSubmit={disable}
      onCancel={onClose}
    >
      <Field label="Your password">
        <input name="password" type="password" required autoComplete="current-password" />
      </Field>
      <CodeField />
    </ChangeForm>
  );
}

/** A code of the app, or a recovery code. */
function CodeField() {
  return (
    <Field label="Code of the app" hint="Six digits; a recovery code does too.">
      <input name="code" required minLength={6} autoComplete="one-time-code" />
    </Field>
  );
}
